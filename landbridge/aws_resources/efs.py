"""EFS: file systems and mount targets."""

from collections.abc import Iterable
from contextlib import suppress

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.aws_resources.resource_type import SETS, Inputs, Item, ResourceType, Sweep
from landbridge.aws_resources.search import cluster_tag, ids_of_tagged


def _search(aws: AwsClient, cluster: str) -> Iterable[Item]:
    items: Iterable[Item] = aws.all("efs", "describe_file_systems", "FileSystems")
    return [
        item
        for item in items
        if cluster_tag(cluster) in (item.get("Tags") or ()) and item.get("LifeCycleState") != "deleting"
    ]


def _recover(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the file systems with the inputs' tags and key: new ones are equal in everything else."""
    items = aws.all("efs", "describe_file_systems", "FileSystems")
    existing = [item for item in items if item.get("LifeCycleState") not in ("deleting", "deleted", "error")]
    return ids_of_tagged(
        existing, inputs, {"performanceMode": "PerformanceMode", "kmsKeyId": "KmsKeyId"}, "FileSystemId"
    )


def _recover_mount_target(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the mount target in this subnet: a zone has at most one."""
    targets = aws.all("efs", "describe_mount_targets", "MountTargets", FileSystemId=inputs["fileSystemId"])
    return [str(target["MountTargetId"]) for target in targets if target["SubnetId"] == inputs["subnetId"]]


def _recover_access_point(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the access points of the file system with the inputs' tags and folder."""
    items = aws.all("efs", "describe_access_points", "AccessPoints", FileSystemId=inputs["fileSystemId"])
    path = (inputs.get("rootDirectory") or {}).get("path", "/")
    same = [item for item in items if (item.get("RootDirectory") or {}).get("Path", "/") == path]
    return ids_of_tagged(same, inputs, {}, "AccessPointId")


def _delete(aws: AwsClient, item: Item) -> None:
    file_system = {"FileSystemId": item["FileSystemId"]}
    for target in aws.all("efs", "describe_mount_targets", "MountTargets", **file_system):
        with suppress(AwsRefusal):  # its deletion can have begun; the file system's deletion reports the obstacle
            aws.ask("efs", "delete_mount_target", MountTargetId=target["MountTargetId"])
    aws.ask("efs", "delete_file_system", **file_system)


RESOURCE_TYPES = (
    ResourceType(
        "EFS file system", "aws:efs/fileSystem:FileSystem", recover=_recover, billed=True, holds_data=True,
        sweep=Sweep(190, _search, "FileSystemId", _delete)),
    ResourceType("mount target", "aws:efs/mountTarget:MountTarget", recover=_recover_mount_target),
    ResourceType("EFS access point", "aws:efs/accessPoint:AccessPoint", recover=_recover_access_point),
    ResourceType("EFS file system policy", "aws:efs/fileSystemPolicy:FileSystemPolicy", repeatable=SETS),
    ResourceType("EFS backup policy", "aws:efs/backupPolicy:BackupPolicy", repeatable=SETS),
)  # fmt: skip
