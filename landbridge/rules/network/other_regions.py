"""Rules about other regions, in which pools may start nodes when their own has none."""

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
    """Another region is one of AWS's, another than the environment's own, and of the same partition.

    Transit gateways, roles and accounts end where a partition does: GovCloud and China have their own.
    Source: AWS Regions, as in landbridge/catalog/regions.yaml; Transit Gateways guide, "Transit gateway peering attachments".
    """
    home = regions().get(environment.region)
    for name in environment.aws.other_regions:
        path, there = (*_OTHERS, name), regions().get(name)
        if name == environment.region:
            fix = "put its capacity into the pool itself"
            yield error(path, f"{name} is the environment's own region", fix=fix, related=(REGION,))
        elif there is None:
            yield error(path, f'there is no region "{name}"', fix=suggestion(name, regions()))
        elif home is not None and there.partition != home.partition:
            message = f"{name} is in the partition {there.partition}, and {environment.region} in {home.partition}"
            fix = "make an environment of its own there"
            yield error(path, message, fix=fix, related=(REGION,))


@rule
def other_region_link(environment: Environment) -> Iterator[Finding]:
    """Another region is reached through the transit gateway of the link: there has to be a site, and a link to it.

    Source: Landbridge, docs/decisions/0035-another-region.md.
    """
    if environment.aws.other_regions and (environment.onprem is None or environment.link is None):
        message = "other regions are reached through the link's transit gateway, and this environment has no link"
        fix = "remove other_regions, or write onprem and link (docs/how-to/add-metal-later.md)"
        yield error(_OTHERS, message, fix=fix, related=(("onprem",), ("link",)))


@rule
def other_region_pool(environment: Environment) -> Iterator[Finding]:
    """What has capacity in another region is one of aws.pools: its nodes are that pool's.

    Source: Landbridge; a name that is nobody's would start nothing, and say nothing.
    """
    known = [pool.name for pool in environment.aws.pools]
    for name, there in environment.aws.other_regions.items():
        for pool in there.pools:
            if pool not in known:
                path: DataPath = (*_OTHERS, name, "pools", pool)
                message = f'there is no pool "{pool}" in aws.pools'
                yield error(path, message, fix=suggestion(pool, known), related=(("aws", "pools"),))


@rule
def other_region_image(environment: Environment) -> Iterator[Finding]:
    """A pool boots in another region from an image that is there: an id is of one region, and what is built here stays here.

    Source: EC2 User Guide, "Copy an Amazon EC2 AMI"; EC2 API Reference, LaunchTemplate (ImageId: resolve:ssm).
    """
    for index, pool in enumerate(environment.aws.pools):
        source = environment.aws.images.get(pool.image or "")
        bound = pool.image is not None and (pool.image.startswith("ami-") or (source is not None and source.build))
        for name, there in environment.aws.other_regions.items():
            own = there.pools.get(pool.name)
            if own is None or own.image is not None:
                continue
            path: DataPath = (*_OTHERS, name, "pools", pool.name)
            related: tuple[DataPath, ...] = (("aws", "pools", index, "image"),)
            if bound:
                message = f"{pool.image} is in {environment.region} alone"
                fix = f"copy it (`aws ec2 copy-image --region {name} …`) and write image: ami-… here"
                yield error(path, message, fix=fix, related=related)
            elif pool.image is None:
                parameter = f"/landbridge/{environment.name}/node-image"
                message = f"{pool.name} boots in {name} what the parameter {parameter} names there"
                fix = "copy the image and write the parameter there (docs/how-to/another-region.md)"
                yield info(path, message, fix=fix, related=related)


@rule
def other_region_storage(environment: Environment) -> Iterator[Finding]:
    """Nodes in another region have homes: a file system in AWS is in one region, and those of another one do not mount it.

    Source: Amazon EFS User Guide and FSx User Guides: mount targets and servers are in one VPC; reading across regions is billed.
    """
    if not environment.aws.other_regions:
        return
    home = environment.storage.home
    if isinstance(home, EfsHome | OpenZfsHome) and home.on_cloud_nodes:
        message = "homes are in AWS, in the environment's own region: nodes in other regions have none"
        fix = "keep homes on-prem, or remove other_regions"
        yield error(("storage", "home"), message, fix=fix, related=(_OTHERS,))
    elsewhere = ", ".join(environment.aws.other_regions)
    for path in environment.storage.in_aws():
        if path != ("home",):
            message = f"nodes in {elsewhere} do not have {path[-1]}: it is in {environment.region}"
            fix = "let only classes whose jobs do without it list that region"
            where: DataPath = ("storage", *path)
            yield info(where, message, fix=fix, related=(_OTHERS,))


@rule(suppressible=False)
def other_region_class(environment: Environment) -> Iterator[Finding]:
    """A class lists regions that there are, and is in AWS at all; a region that no class lists starts nothing.

    Data is in the environment's own region unless its class says more: default deny.
    Source: Landbridge, docs/decisions/0035-another-region.md.
    """
    known = environment.aws.other_regions
    for name, data_class in environment.data_classes.items():
        for index, region in enumerate(data_class.regions):
            path: DataPath = (*_CLASSES, name, "regions", index)
            if region not in known and region != environment.region:
                message = f"{region} is not one of aws.other_regions"
                yield error(path, message, fix=suggestion(region, known), related=(_OTHERS,))
        if data_class.regions and "aws" not in data_class.sites:
            related: tuple[DataPath, ...] = ((*_CLASSES, name, "sites"),)
            message = f"{name} may not be in AWS, so in no region of it"
            where: DataPath = (*_CLASSES, name, "regions")
            yield error(where, message, fix="remove it", related=related)
    for name in known:
        if not any(name in data_class.regions for data_class in environment.data_classes.values()):
            message = f"no data class lists {name}, so that no job may start there"
            fix = f"write regions: [{name}] in the classes whose data may be there"
            yield warning((*_OTHERS, name), message, fix=fix, related=(_CLASSES,))
