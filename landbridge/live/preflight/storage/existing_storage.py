"""Checks of existing file systems: they match the file, and their security groups permit the nodes."""

from collections.abc import Iterator
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.environment import ExistingEfs, ExistingLustre, ExistingShare
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning

#: FileSystemType of DescribeFileSystems by kind.
TYPES = {"existing_lustre": "LUSTRE", "existing_openzfs": "OPENZFS", "existing_ontap": "ONTAP"}
#: Lifecycles in which clients can mount. Source: FSx API Reference, FileSystem (Lifecycle).
_MOUNTABLE = ("AVAILABLE", "UPDATING", "MISCONFIGURED")
_RULE = "live-existing-file-system"


def existing_shares(scene: Scene) -> Iterator[tuple[DataPath, ExistingShare]]:
    """Yield the existing file systems of the file with their paths."""
    for path, share in scene.environment.storage.existing().items():
        yield ("storage", *path), share


def fsx_description(scene: Scene, share: ExistingShare) -> Any:
    """Return FSx's description of a file system; None if there is none with this id. Raises AwsRefusal."""
    return _first(scene, "fsx", "FileSystems", FileSystemIds=[share.id])


def efs_description(scene: Scene, share: ExistingShare) -> Any:
    """Return EFS's description of a file system; None if there is none with this id. Raises AwsRefusal."""
    return _first(scene, "efs", "FileSystems", FileSystemId=share.id)


def mount_targets(scene: Scene, share: ExistingShare) -> Any:
    """Return the mount targets of an EFS file system that exists. Raises AwsRefusal."""
    return scene.aws.ask("efs", "describe_mount_targets", FileSystemId=share.id)["MountTargets"]


def subnet_descriptions(scene: Scene, subnet_ids: list[str]) -> Any:
    """Return the descriptions of subnets that exist. Raises AwsRefusal."""
    return scene.aws.ask("ec2", "describe_subnets", SubnetIds=sorted(subnet_ids))["Subnets"]


@check(
    "existing file systems",
    "fsx:DescribeFileSystems",
    "elasticfilesystem:DescribeFileSystems",
    "elasticfilesystem:DescribeMountTargets",
    "ec2:DescribeSubnets",
)
def existing_file_system(scene: Scene) -> Iterator[Finding]:
    """An existing file system exists in the region, is available, and is of the kind, in the VPC and in the zone of the file.

    A node that cannot mount a file system does not register: it is billed and terminated after resume_timeout.
    Source: FSx API Reference, DescribeFileSystems; EFS API Reference, DescribeFileSystems and DescribeMountTargets.
    """
    for path, share in existing_shares(scene):
        if isinstance(share, ExistingEfs):
            yield from _efs(scene, path, share)
        else:
            yield from _fsx(scene, path, share)


def _fsx(scene: Scene, path: DataPath, share: ExistingShare) -> Iterator[Finding]:
    actual = fsx_description(scene, share)
    if actual is None:
        yield _absent(scene, path, share, "FSx")
        return
    if actual["FileSystemType"] != TYPES[share.kind]:
        kind = next((kind for kind, name in TYPES.items() if name == actual["FileSystemType"]), None)
        fix = f"write kind: {kind}" if kind is not None else "write another file system"
        message = f"{share.id} is an FSx file system of type {actual['FileSystemType']}"
        yield error(_RULE, message, (*path, "kind"), fix)
        return
    if actual["Lifecycle"] not in _MOUNTABLE:
        yield error(_RULE, f"{share.id} is {actual['Lifecycle']}: it cannot be mounted", (*path, "id"))
    mount_name = (actual.get("LustreConfiguration") or {}).get("MountName")
    if isinstance(share, ExistingLustre) and mount_name != share.mount_name:
        message = f"the mount name of {share.id} is {mount_name}, not {share.mount_name}"
        yield error(_RULE, message, (*path, "mount_name"), f"write mount_name: {mount_name}")
    yield from _vpc(scene, path, share, actual["VpcId"])
    configuration = actual.get("OpenZFSConfiguration") or actual.get("OntapConfiguration") or {}
    subnet_id = configuration.get("PreferredSubnetId") or actual["SubnetIds"][0]
    (subnet,) = subnet_descriptions(scene, [subnet_id])
    zone = getattr(share, "zone", None)
    if subnet["AvailabilityZoneId"] != zone:
        message = f"{share.id} is in {subnet['AvailabilityZoneId']}, not in {zone}"
        yield error(_RULE, message, (*path, "zone"), f"write zone: {subnet['AvailabilityZoneId']}")


def _efs(scene: Scene, path: DataPath, share: ExistingEfs) -> Iterator[Finding]:
    actual = efs_description(scene, share)
    if actual is None:
        yield _absent(scene, path, share, "EFS")
        return
    if actual["LifeCycleState"] not in ("available", "updating"):
        yield error(_RULE, f"{share.id} is {actual['LifeCycleState']}: it cannot be mounted", (*path, "id"))
    if not actual.get("Encrypted"):
        message = f"{share.id} is not encrypted, and EFS cannot encrypt it later"
        yield warning(_RULE, message, (*path, "id"), "copy its files to an encrypted file system")
    targets = [target for target in mount_targets(scene, share) if target["LifeCycleState"] == "available"]
    for vpc in sorted({target["VpcId"] for target in targets}):
        yield from _vpc(scene, path, share, vpc)
    zones = {target["AvailabilityZoneId"] for target in targets}
    needed = share.zones or tuple(sorted({zone for bought in scene.bought() for zone in bought.terms.zones}))
    missing = [zone for zone in needed if zone not in zones]
    if missing:
        message = f"{share.id} has no mount target in {', '.join(missing)}"
        fix = f"aws efs create-mount-target --file-system-id {share.id} --subnet-id a subnet of that zone"
        yield error(_RULE, message, (*path, "zones" if share.zones else "id"), fix)


def _absent(scene: Scene, path: DataPath, share: ExistingShare, service: str) -> Finding:
    message = f"{service} has no file system {share.id} in {scene.environment.region} in this account"
    fix = "nodes mount file systems of their own region: check the id, its region and AWS_PROFILE"
    return error(_RULE, message, (*path, "id"), fix)


def _vpc(scene: Scene, path: DataPath, share: ExistingShare, vpc_id: str) -> Iterator[Finding]:
    existing = scene.environment.aws.vpc
    if existing is not None:
        vpc_ids = [existing.id]
    else:
        vpcs = scene.aws.ask("ec2", "describe_vpcs", Filters=scene.mine())["Vpcs"]
        vpc_ids = [str(vpc["VpcId"]) for vpc in vpcs]
    if vpc_id not in vpc_ids:
        nodes = ", ".join(vpc_ids) or "a VPC that Landbridge creates"
        message = f"{share.id} is in {vpc_id}, and the nodes are in {nodes}"
        yield error(_RULE, message, (*path, "id"), f"write {vpc_id} in aws.vpc, or use a file system of the nodes' VPC")


def _first(scene: Scene, service: str, key: str, **parameters: Any) -> Any:
    try:
        descriptions = scene.aws.ask(service, "describe_file_systems", **parameters)[key]
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        return None
    return next(iter(descriptions), None)
