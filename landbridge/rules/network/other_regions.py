"""Rules about other regions, in which pools may launch nodes when their own region has insufficient capacity."""

from collections.abc import Iterator

from landbridge.catalog import regions
from landbridge.environment import EfsHome, Environment, OpenZfsHome
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.rules.environment_paths import REGION, suggestion
from landbridge.rules.registry import rule

_OTHERS: DataPath = ("aws", "other_regions")
_CLASSES: DataPath = ("data_classes",)


@rule
def other_region_unknown(environment: Environment) -> Iterator[Finding]:
    """A region of other_regions exists, differs from the environment's, and is in the same partition.

    Transit gateways, roles and accounts belong to one partition: GovCloud and China are separate.
    Source: AWS Regions, as in landbridge/catalog/regions.yaml; Transit Gateways guide, "Transit gateway peering
    attachments".
    """
    home = regions().get(environment.region)
    for name in environment.aws.other_regions:
        path, region = (*_OTHERS, name), regions().get(name)
        if name == environment.region:
            fix = "write its capacity in the pool"
            yield error(path, f"{name} is the environment's own region", fix=fix, related=(REGION,))
        elif region is None:
            yield error(path, f'there is no region "{name}"', fix=suggestion(name, regions()))
        elif home is not None and region.partition != home.partition:
            message = f"{name} is in the partition {region.partition}, and {environment.region} in {home.partition}"
            fix = "write a separate environment for it"
            yield error(path, message, fix=fix, related=(REGION,))


@rule
def other_region_link(environment: Environment) -> Iterator[Finding]:
    """other_regions needs an on-prem site and a link: other regions are reached through its transit gateway.

    Source: Landbridge, docs/decisions/0035-another-region.md.
    """
    if environment.aws.other_regions and (environment.onprem is None or environment.link is None):
        message = "other_regions needs the link's transit gateway, and there is no link"
        fix = "remove other_regions, or write onprem and link (docs/how-to/add-metal-later.md)"
        yield error(_OTHERS, message, fix=fix, related=(("onprem",), ("link",)))


@rule
def other_region_pool(environment: Environment) -> Iterator[Finding]:
    """A pool of another region is one of aws.pools.

    Source: Landbridge; for an unknown name nothing would be launched, without an error.
    """
    pool_names = [pool.name for pool in environment.aws.pools]
    for name, other_region in environment.aws.other_regions.items():
        for pool in other_region.pools:
            if pool not in pool_names:
                path: DataPath = (*_OTHERS, name, "pools", pool)
                message = f'there is no pool "{pool}" in aws.pools'
                yield error(path, message, fix=suggestion(pool, pool_names), related=(("aws", "pools"),))


@rule
def other_region_image(environment: Environment) -> Iterator[Finding]:
    """A pool with an AMI id has one in each of its regions: ids are regional.

    An image that Landbridge builds is copied to the regions of its pools.

    Source: EC2 User Guide, "Copy an Amazon EC2 AMI"; EC2 API Reference, LaunchTemplate (ImageId: resolve:ssm).
    """
    for index, pool in enumerate(environment.aws.pools):
        for name, other_region in environment.aws.other_regions.items():
            pool_settings = other_region.pools.get(pool.name)
            if pool_settings is None or pool_settings.image is not None:
                continue
            path: DataPath = (*_OTHERS, name, "pools", pool.name)
            related: tuple[DataPath, ...] = (("aws", "pools", index, "image"),)
            if pool.image is not None and pool.image.startswith("ami-"):
                message = f"the image {pool.image} is only in {environment.region}"
                fix = f"copy it (`aws ec2 copy-image --region {name} …`) and write image: ami-… here"
                yield error(path, message, fix=fix, related=related)


@rule
def other_region_storage(environment: Environment) -> Iterator[Finding]:
    """Nodes in other regions do not need file systems in AWS: these are in one region, and only its nodes mount them.

    Source: Amazon EFS User Guide and FSx User Guides: mount targets and servers are in one VPC; reading across regions
    is billed.
    """
    if not environment.aws.other_regions:
        return
    home = environment.storage.home
    if isinstance(home, EfsHome | OpenZfsHome) and home.on_cloud_nodes:
        message = f"home directories are in {environment.region}, so nodes in other regions have none"
        fix = "keep homes on-prem, or remove other_regions"
        yield error(("storage", "home"), message, fix=fix, related=(_OTHERS,))
    region_names = ", ".join(environment.aws.other_regions)
    for path in (*environment.storage.in_aws(), *environment.storage.existing()):
        if path != ("home",):
            message = f"nodes in {region_names} do not mount {path[-1]}, which is in {environment.region}"
            fix = "write that region only in classes whose jobs do not need it"
            share_path: DataPath = ("storage", *path)
            yield info(share_path, message, fix=fix, related=(_OTHERS,))


@rule(suppressible=False)
def other_region_class(environment: Environment) -> Iterator[Finding]:
    """Regions of a data class are in other_regions, and each region of other_regions is in a data class.

    Data stays in the environment's own region unless its class has other regions: default deny.
    Source: Landbridge, docs/decisions/0035-another-region.md.
    """
    other_regions = environment.aws.other_regions
    for name, data_class in environment.data_classes.items():
        for index, region in enumerate(data_class.regions):
            path: DataPath = (*_CLASSES, name, "regions", index)
            if region not in other_regions and region != environment.region:
                message = f"{region} is not one of aws.other_regions"
                yield error(path, message, fix=suggestion(region, other_regions), related=(_OTHERS,))
        if data_class.regions and "aws" not in data_class.sites:
            related: tuple[DataPath, ...] = ((*_CLASSES, name, "sites"),)
            message = f"the class {name} may not be in AWS, so it has no regions"
            regions_path: DataPath = (*_CLASSES, name, "regions")
            yield error(regions_path, message, fix="remove it", related=related)
    for name in other_regions:
        if not any(name in data_class.regions for data_class in environment.data_classes.values()):
            message = f"no data class has the region {name}, so no job may start there"
            fix = f"write regions: [{name}] in the classes whose data may be there"
            yield warning((*_OTHERS, name), message, fix=fix, related=(_CLASSES,))
