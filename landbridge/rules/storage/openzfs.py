"""Rules about FSx for OpenZFS file systems."""

from collections.abc import Iterator

from landbridge.catalog.aws.storage import storage as facts
from landbridge.environment import Environment, FsxOpenZfs
from landbridge.findings import Finding, error, warning
from landbridge.plan.zones import environment_zones
from landbridge.rules.environment_paths import POOLS, REGION, cloud_file_systems
from landbridge.rules.registry import rule


@rule
def openzfs_two_zones(environment: Environment) -> Iterator[Finding]:
    """A multi-AZ deployment has two zones with subnets.

    Source: FSx API Reference, CreateFileSystemOpenZFSConfiguration, PreferredSubnetId (MULTI_AZ_1 takes two subnets).
    """
    for path, share in cloud_file_systems(environment):
        if not isinstance(share, FsxOpenZfs):
            continue
        row = facts().fsx_openzfs.deployments.get(share.deployment)
        known_zones = environment_zones(environment)
        if row is not None and known_zones and row.zones > len(known_zones):
            message = f"{share.deployment} needs {row.zones} zones, and the pools are only in {', '.join(known_zones)}"
            fix = "use single_az_ha_2, or add a second zone to a pool"
            yield error((*path, "deployment"), message, fix=fix, related=(POOLS, REGION))


@rule
def openzfs_root_hosts(environment: Environment) -> Iterator[Finding]:
    """A file system in FSx for OpenZFS has a host whose root user may create folders in it; root of nodes is squashed.

    Its top folder belongs to root. Without such a host nobody can create a folder for a project.
    Source: exports(5), "User ID mapping"; FSx API Reference, OpenZFSClientConfiguration.
    """
    ranges = (environment.aws.cidr, *environment.aws.secondary_cidrs)
    for path, share in cloud_file_systems(environment):
        if not isinstance(share, FsxOpenZfs):
            continue
        services = environment.aws.services
        if not share.root_hosts and services is None:
            message = "no host may create folders in the file system: root of every client is squashed"
            yield warning(path, message, fix="write root_hosts: the address of an administration host in the VPC")
        for index, network in enumerate(share.root_hosts):
            if not any(network.subnet_of(cidr) for cidr in ranges):
                message = f"{network} is outside the VPC, and only clients in the VPC can mount the file system"
                yield error(
                    (*path, "root_hosts", index), message, related=(("aws", "cidr"), ("aws", "secondary_cidrs"))
                )
