"""FSx: file systems and data repository associations."""

from collections.abc import Iterable

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import Inputs, Item, Recover, ResourceType, Search, Sweep
from landbridge.aws_resources.search import cluster_tag, delete_by, ids_of_tagged


def _file_systems(aws: AwsClient, kind: str) -> list[Item]:
    items: Iterable[Item] = aws.all("fsx", "describe_file_systems", "FileSystems")
    return [item for item in items if item["FileSystemType"] == kind and item.get("Lifecycle") != "DELETING"]


def _search(kind: str) -> Search:
    def find(aws: AwsClient, cluster: str) -> Iterable[Item]:
        return [item for item in _file_systems(aws, kind) if cluster_tag(cluster) in (item.get("Tags") or ())]

    return find


def _recover(kind: str) -> Recover:
    """Return a search for file systems of one kind with the inputs' tags, in the same subnets."""

    def find(aws: AwsClient, inputs: Inputs) -> list[str]:
        subnets = {inputs["subnetIds"]} if isinstance(inputs["subnetIds"], str) else set(inputs["subnetIds"])
        same = [
            item
            for item in _file_systems(aws, kind)
            if set(item.get("SubnetIds") or ()) == subnets and item.get("Lifecycle") != "FAILED"
        ]
        return ids_of_tagged(same, inputs, {}, "FileSystemId")

    return find


def _recover_association(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the association of this path of the file system, of which there is at most one."""
    filters = [{"Name": "file-system-id", "Values": [inputs["fileSystemId"]]}]
    items = aws.all("fsx", "describe_data_repository_associations", "Associations", Filters=filters)
    existing = [item for item in items if item.get("Lifecycle") not in ("DELETING", "FAILED")]
    pairs = {"fileSystemPath": "FileSystemPath", "dataRepositoryPath": "DataRepositoryPath"}
    return ids_of_tagged(existing, inputs, pairs, "AssociationId")


_DELETE = delete_by("fsx", "delete_file_system", "FileSystemId", "FileSystemId")

RESOURCE_TYPES = (
    ResourceType(
        "FSx for Lustre file system", "aws:fsx/lustreFileSystem:LustreFileSystem", recover=_recover("LUSTRE"),
        billed=True, holds_data=True, sweep=Sweep(180, _search("LUSTRE"), "FileSystemId", _DELETE)),
    ResourceType(
        "FSx for OpenZFS file system", "aws:fsx/openZfsFileSystem:OpenZfsFileSystem", recover=_recover("OPENZFS"),
        billed=True, holds_data=True, sweep=Sweep(181, _search("OPENZFS"), "FileSystemId", _DELETE)),
    ResourceType(
        "data repository association", "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
        recover=_recover_association),
)  # fmt: skip
