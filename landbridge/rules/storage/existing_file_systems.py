"""Rules about existing file systems in AWS, which Landbridge mounts and does not manage."""

from collections.abc import Iterator

from landbridge.environment import Efs, Environment, ExistingEfs, ExistingShare
from landbridge.findings import DataPath, Finding, error, info, warning
from landbridge.plan.aws.storage.existing_file_systems import server_ports
from landbridge.plan.storage import pools_apart
from landbridge.rules.environment_paths import (
    POOLS,
    REGION,
    cloud_file_systems,
    existing_file_systems,
    pools,
    suggestion,
)
from landbridge.rules.registry import rule

_CLASSES: DataPath = ("data_classes",)
_VPC: DataPath = ("aws", "vpc")


@rule(suppressible=False)
def existing_share_class(environment: Environment) -> Iterator[Finding]:
    """The data of an existing file system in AWS is of a class that may be in AWS.

    Every node mounts it, and Landbridge cannot read the class of its files.
    Source: Landbridge (docs/explanation/storage.md).
    """
    for path, share in existing_file_systems(environment):
        class_path: DataPath = (*path, "data_class")
        data_class = environment.data_classes.get(share.data_class)
        if data_class is None:
            message = f"there is no data class {share.data_class}"
            fix = suggestion(share.data_class, environment.data_classes)
            yield error(class_path, message, fix=fix, related=(_CLASSES,))
        elif "aws" not in data_class.sites:
            message = f"data of class {share.data_class} may be at {', '.join(data_class.sites)} only, and {share.id} is in AWS"
            related: tuple[DataPath, ...] = ((*_CLASSES, share.data_class, "sites"),)
            yield error(class_path, message, fix="write the class of its data, or remove the share", related=related)


@rule
def existing_share_zone(environment: Environment) -> Iterator[Finding]:
    """Pools use existing file systems of their own zone.

    Traffic between zones is billed and slower; the DNS name of EFS resolves only in zones with a mount target, so that a
    node in another zone does not register.
    Source: EC2 pricing, data transfer between zones; EFS User Guide, "Mounting with a DNS name".
    """
    for path, share in existing_file_systems(environment):
        zones_by_pool = pools_apart(environment, share)
        if not zones_by_pool:
            continue
        names = ", ".join(f"{name} ({', '.join(zones)})" for name, zones in list(zones_by_pool.items())[:4])
        if isinstance(share, ExistingEfs):
            message = f"{share.id} has no mount target in zones of pools: {names}"
            fix = "create mount targets there and write their zones, or write other zones in the pools' capacity"
            yield error((*path, "zones"), message, fix=fix, related=(POOLS, REGION))
        else:
            message = f"{share.id} is in {share.zone}; nodes may be in other zones: {names}"
            fix = f"write zones: [{share.zone}] in their capacity"
            yield warning((*path, "zone"), message, fix=fix, related=(POOLS, REGION))


@rule
def existing_share_vpc(environment: Environment) -> Iterator[Finding]:
    """An existing file system is in the VPC of its clients, which is written in aws.vpc.

    In a VPC that Landbridge creates it can only exist if it was created there later. Nodes of another VPC need a peering
    connection, routes and names, which Landbridge does not plan.
    Source: EFS User Guide, "Mounting EFS file systems from another AWS account or VPC"; FSx for Lustre User Guide, "Mounting from
    on-premises or a peered VPC".
    """
    if environment.aws.vpc is not None:
        return
    for path, share in existing_file_systems(environment):
        message = f"the nodes are in a VPC that Landbridge creates, and {share.id} exists already"
        fix = "write its VPC in aws.vpc; or ignore this finding if it was created in Landbridge's VPC"
        yield warning((*path, "id"), message, fix=fix, related=(_VPC,))


@rule
def existing_share_ports(environment: Environment) -> Iterator[Finding]:
    """The owner of an existing file system opens its ports to the nodes: Landbridge does not change its security groups.

    `landbridge preflight` reads its groups, and reports the ports that are closed.
    Source: FSx User Guides, "File system access control with Amazon VPC"; EFS User Guide, "Using VPC security groups".
    """
    groups = ", ".join(f"{environment.name}-{owner.pool.name}" for owner in pools(environment))
    for path, share in existing_file_systems(environment) if groups else ():
        message = f"the security group of {share.id} must allow {port_text(share)} from the security groups {groups}"
        if share.kind == "existing_lustre":
            message += ", and to them"
        fix = "add these rules to it after `up`; before, preflight cannot see the groups"
        yield info(path, message, fix=fix, related=(POOLS,))


@rule
def existing_share_twice(environment: Environment) -> Iterator[Finding]:
    """A file system id belongs to one kind, and its data to one data class.

    Source: FSx API Reference, DescribeFileSystems (FileSystemType); Landbridge (docs/explanation/storage.md).
    """
    first: dict[str, tuple[DataPath, ExistingShare]] = {}
    for path, share in existing_file_systems(environment):
        other_path, other = first.setdefault(share.id, (path, share))
        for key in ("kind", "data_class"):
            if getattr(share, key) != getattr(other, key):
                message = f"{share.id} is {getattr(share, key)} here, and {getattr(other, key)} as {other_path[-1]}"
                related: tuple[DataPath, ...] = ((*other_path, key), (*other_path, "id"))
                yield error((*path, key), message, fix="write the same in both, or another id", related=related)


@rule
def efs_access_point(environment: Environment) -> Iterator[Finding]:
    """An EFS access point is mounted over TLS, without a path: it sets the root folder itself.

    The EFS mount helper names the access point inside the TLS connection.
    Source: EFS User Guide, "Mounting with EFS access points"; https://github.com/aws/efs-utils (README); read 2026-11-25.
    """
    for path, share in existing_file_systems(environment):
        if not isinstance(share, ExistingEfs) or share.access_point is None:
            continue
        at = (*path, "access_point")
        if share.path != "/":
            message = f"{share.access_point} sets the folder that is mounted, and path has no effect"
            yield error((*path, "path"), message, fix="remove path", related=(at,))
        if not share.tls:
            message = f"{share.access_point} cannot be mounted in clear text"
            yield error(at, message, fix="remove tls: false, or the access point", related=((*path, "tls"),))


@rule
def efs_clear_text(environment: Environment) -> Iterator[Finding]:
    """EFS is mounted over TLS: in clear text a route to the mount target is enough to read and change every file as root.

    Source: EFS User Guide, "Using IAM to control access to file systems" (default file system policy), and "Encrypting data in
    transit"; read 2026-11-26.
    """
    for path, share in (*cloud_file_systems(environment), *existing_file_systems(environment)):
        if isinstance(share, Efs | ExistingEfs) and not share.tls:
            message = "EFS is mounted in clear text, without the role of the client"
            yield warning((*path, "tls"), message, fix="remove tls: false, and build node images again")


def port_text(share: ExistingShare) -> str:
    """Return the ports of a file system's servers in words."""
    spans = [(row.protocol, row.first, row.last) for row in server_ports(share)]
    return " and ".join(
        f"{protocol} {first}" if first == last else f"{protocol} {first}-{last}" for protocol, first, last in spans
    )
