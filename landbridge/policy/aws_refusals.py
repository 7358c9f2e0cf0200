"""Policies of properties that AWS refuses: they fail in the preview, not in the middle of an update.

The limits are in landbridge/plan, which the rules of `landbridge check` use too; this module converts resources for
them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from landbridge.environment import Efs, FsxLustre, FsxOpenZfs
from landbridge.plan.aws_limits import (
    metadata_tag_violations,
    port_range_violations,
    tag_violations,
    volume_violations,
)
from landbridge.plan.storage import storage_violations
from landbridge.policy.compute import INSTANCE, TEMPLATE
from landbridge.policy.network import ACL, INGRESS
from landbridge.policy.registry import policy
from landbridge.policy.resource import Resource, as_map, maps
from landbridge.policy.settings import PolicySettings

VOLUME, EGRESS = "aws:ebs/volume:Volume", "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
LUSTRE, ZFS = "aws:fsx/lustreFileSystem:LustreFileSystem", "aws:fsx/openZfsFileSystem:OpenZfsFileSystem"
EFS = "aws:efs/fileSystem:FileSystem"
#: Properties of the Pulumi resource, by the environment's key of a file system.
_LUSTRE = {
    "deployment": "deploymentType",
    "storage_type": "storageType",
    "capacity_gib": "storageCapacity",
    "throughput": "perUnitStorageThroughput",
    "efa": "efaEnabled",
    "import_path": "importPath",
    "export_path": "exportPath",
    "backup_days": "automaticBackupRetentionDays",
}
_ZFS = {
    "deployment": "deploymentType",
    "capacity_gib": "storageCapacity",
    "throughput": "throughputCapacity",
    "backup_days": "automaticBackupRetentionDays",
}
_EFS = {
    "performance": "performanceMode",
    "throughput": "throughputMode",
    "provisioned_mibps": "provisionedThroughputInMibps",
}
_WORDS = {"generalPurpose": "general_purpose", "maxIO": "max_io"}
PropertyProblems = Iterator[tuple[tuple[str | int, ...], str]]


@policy(TEMPLATE, INSTANCE, VOLUME)
def possible_disks(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """Size, IOPS and throughput of a disk are within the limits of its volume type, and so are their ratios.

    Source: EBS User Guide, "Amazon EBS volume types" (landbridge/catalog/limits.yaml).
    """
    for path, message in disk_problems(resource.type, resource.props):
        yield f"{'.'.join(map(str, path))}: {message}"


@policy(INGRESS, EGRESS, ACL)
def possible_ports(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A rule for tcp or udp has a range of ports, the lower port first.

    Source: EC2 API Reference, IpPermission and CreateNetworkAclEntry.
    """
    for key, message in port_problems(resource.props):
        yield f"{key}: {message}"


@policy()
def possible_tags(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """The number, length and characters of a resource's tags, with the tags of its provider, are within AWS's limits.

    Source: AWS Tagging, "Tag naming limits and requirements"; EC2 User Guide, "View tags for your EC2 instances using
    instance metadata".
    """
    for fault in tag_violations(texts(resource.tags)):
        yield f"tags: {fault.message}"
    for fault in metadata_tag_violations(_metadata_tags(resource)):
        yield f"tags: {fault.message}"


@policy(LUSTRE, ZFS, EFS)
def possible_file_systems(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A file system has a size and a throughput that its deployment type supports, and no other property.

    Source: User Guides of FSx for Lustre, FSx for OpenZFS and EFS (landbridge/catalog/storage.yaml).
    """
    for key, message in file_system_problems(resource.type, resource.props):
        yield f"{key}: {message}"


def disk_problems(kind: str, props: Mapping[str, Any]) -> PropertyProblems:
    """Yield the violations of the disks of a launch template, an instance or a volume, with their paths in `props`."""
    for path, disk, size, type_ in _disks(kind, props):
        if not isinstance(disk.get(type_), str):
            continue
        violations = volume_violations(
            disk[type_], gib=_int(disk.get(size)), iops=_int(disk.get("iops")), throughput=_int(disk.get("throughput"))
        )
        for fault in violations:
            yield (*path, size if fault.key == "gib" else fault.key), fault.message


def port_problems(props: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the violations of a rule's ports, by property. A port that is not known yet is not checked."""
    protocol = props.get("ipProtocol", props.get("protocol"))
    unknown = [key for key in ("fromPort", "toPort") if key in props and not isinstance(props[key], int | float)]
    if isinstance(protocol, str) and not unknown:
        for fault in port_range_violations(protocol, _int(props.get("fromPort")), _int(props.get("toPort"))):
            yield "toPort" if fault.key == "last" else "fromPort", fault.message


def file_system_problems(kind: str, props: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what FSx or EFS would refuse, by property; empty while a value is unknown or invalid."""
    names = {LUSTRE: _LUSTRE, ZFS: _ZFS}.get(kind, _EFS)
    if any(name in props and props[name] is None for name in names.values()) or "backupId" in props:
        return
    settings = {key: _word(props[name]) for key, name in names.items() if name in props}
    try:
        share = _share(kind, settings)
    except ValidationError:
        return
    for fault in storage_violations(share):
        yield names.get(fault.key, fault.key), fault.message


def texts(tags: Mapping[str, Any]) -> dict[str, str | None]:
    """Return tags with None for values that are not known yet or not text."""
    return {key: value if isinstance(value, str) else None for key, value in tags.items()}


def _metadata_tags(resource: Resource) -> Iterator[str]:
    """Yield the keys of the tags that an instance, or one of a launch template, shows in its metadata."""
    if as_map(resource.props.get("metadataOptions")).get("instanceMetadataTags") != "enabled":
        return
    if resource.type == INSTANCE:
        yield from resource.tags
    for specification in maps(resource.props.get("tagSpecifications")):
        if specification.get("resourceType") == "instance":
            yield from as_map(specification.get("tags"))


def _share(kind: str, inputs: dict[str, Any]) -> FsxLustre | FsxOpenZfs | Efs:
    if kind == EFS:
        return Efs.model_validate({"kind": "efs", "throughput": "bursting", **inputs})
    # A property that is not set in the provider is not requested from FSx: no backups, no size.
    if kind == ZFS:
        return FsxOpenZfs.model_validate({"kind": "fsx_openzfs", "backup_days": 0, **inputs})
    tiering = inputs.get("storage_type") == "intelligent_tiering"
    size: dict[str, Any] = {} if tiering else {"capacity_gib": None}
    return FsxLustre.model_validate({"kind": "fsx_lustre", "deployment": "scratch_1", **size, **inputs})


def _word(value: Any) -> Any:
    # Numbers come as floats from Pulumi, and the environment's models are strict.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return _WORDS.get(value, value.lower()) if isinstance(value, str) and "/" not in value else value


def _disks(kind: str, props: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any], str, str]]:
    if kind == VOLUME:
        yield (), props, "size", "type"
    for index, mapping in enumerate(maps(props.get("blockDeviceMappings")) if kind == TEMPLATE else ()):
        yield ("blockDeviceMappings", index, "ebs"), as_map(mapping.get("ebs")), "volumeSize", "volumeType"
    for key in ("rootBlockDevice", "ebsBlockDevices") if kind == INSTANCE else ():
        for disk in maps(props.get(key)):
            yield (key,), disk, "volumeSize", "volumeType"


def _int(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) else None
