"""FSx file systems and data repository associations."""

from typing import Any, ClassVar

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    first_or_none,
    ignore_missing,
    tag_list,
    tag_map,
)

_SINGLE_ITEM_LISTS = frozenset({"nfsExports"})


def aws_spelling(value: Any) -> Any:
    """Return a value with keys in AWS's spelling at every level: with a capital letter first."""
    if isinstance(value, dict):
        # For a list that can have only one item, the SDK has the item itself.
        return {
            key[0].upper() + key[1:]: [aws_spelling(item)] if key in _SINGLE_ITEM_LISTS else aws_spelling(item)
            for key, item in value.items()
        }
    return [aws_spelling(item) for item in value] if isinstance(value, list) else value


class _FsxResource(AwsResource):
    @property
    def fsx(self) -> Any:
        return self.cloud.client("fsx")

    def retag(self, arn: str, state: Bag, news: Bag) -> None:
        """Set the tags of the new inputs, and delete the others."""
        before, after = state.get("tags") or {}, news.get("tags") or {}
        dropped = [key for key in before if key not in after]
        if dropped:
            self.fsx.untag_resource(ResourceARN=arn, TagKeys=dropped)
        if after and after != before:
            self.fsx.tag_resource(ResourceARN=arn, Tags=tag_list(after))


class _FileSystem(_FsxResource):
    """Base class of Lustre and OpenZFS file systems."""

    kind: ClassVar[str]
    configuration: ClassVar[str]
    #: Inputs that are members of the configuration.
    inside: ClassVar[frozenset[str]]
    #: Members of the configuration that UpdateFileSystem accepts.
    changes: ClassVar[frozenset[str]]

    @classmethod
    def replaced_by(cls, olds: Bag, news: Bag, changed: frozenset[str]) -> frozenset[str]:
        """Return also `storageCapacity` if it shrinks, as the real provider does: FSx can only grow a file system."""
        shrunk = (news.get("storageCapacity") or 0) < (olds.get("storageCapacity") or 0)
        return super().replaced_by(olds, news, changed) | ({"storageCapacity"} if shrunk else frozenset())

    def _inside(self, bag: Bag, keys: frozenset[str]) -> Bag:
        return {key[0].upper() + key[1:]: aws_spelling(bag[key]) for key in sorted(keys) if key in bag}

    def create(self, news: Bag) -> tuple[str, Bag]:
        subnets = news["subnetIds"] if isinstance(news["subnetIds"], list) else [news["subnetIds"]]
        top = {
            parameter: news[key]
            for key, parameter in (
                ("storageCapacity", "StorageCapacity"),
                ("storageType", "StorageType"),
                ("securityGroupIds", "SecurityGroupIds"),
                ("kmsKeyId", "KmsKeyId"),
                ("fileSystemTypeVersion", "FileSystemTypeVersion"),
            )
            if key in news
        }
        tags = {"Tags": tag_list(news["tags"])} if news.get("tags") else {}
        file_system = self.fsx.create_file_system(
            FileSystemType=self.kind,
            SubnetIds=subnets,
            **top,
            **tags,
            **{self.configuration: self._inside(news, self.inside)},
        )["FileSystem"]
        return file_system["FileSystemId"], self.outputs(file_system)

    def outputs(self, item: Bag) -> Bag:
        """Return the outputs that AWS generates."""
        return {
            "arn": item["ResourceARN"],
            "dnsName": item["DNSName"],
            "kmsKeyId": item["KmsKeyId"],
            "networkInterfaceIds": item["NetworkInterfaceIds"],
            "ownerId": item["OwnerId"],
            "vpcId": item["VpcId"],
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = first_or_none(self.fsx.describe_file_systems, "FileSystems", FileSystemIds=[id_])
        if item is None or item["Lifecycle"] == "DELETING":
            return None
        configuration = item[self.configuration]
        seen = {
            key: configuration[key[0].upper() + key[1:]]
            for key in self.changes
            if key[0].upper() + key[1:] in configuration
        }
        plain = {key: value for key, value in seen.items() if not isinstance(value, dict)}
        size = {"storageCapacity": item["StorageCapacity"]} if "StorageCapacity" in item else {}
        return {**self.outputs(item), **plain, **size, "tags": tag_map(item.get("Tags"))}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "tags" in changed:
            self.retag(state["arn"], state, news)
        # The options of the deletion are only in Pulumi's state.
        other_changes = changed - {"tags", "skipFinalBackup", "deleteOptions", "finalBackupTags"}
        inside = other_changes & self.changes
        if other_changes - inside - {"storageCapacity"}:
            return super().update(id_, state, news, other_changes - inside - {"storageCapacity"})
        parameters = {self.configuration: self._inside(news, inside)} if inside else {}
        if "storageCapacity" in other_changes:
            parameters["StorageCapacity"] = news["storageCapacity"]
        if parameters:
            self.fsx.update_file_system(FileSystemId=id_, **parameters)
        return {key: state[key] for key in ("arn", "dnsName", "mountName", "networkInterfaceIds") if key in state}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.fsx.delete_file_system, FileSystemId=id_, **{self.configuration: self.deleting(state)})

    def deleting(self, state: Bag) -> Bag:
        """Return the arguments of the deletion."""
        return {"SkipFinalBackup": bool(state.get("skipFinalBackup", False))}


class LustreFileSystemResource(_FileSystem):
    token = "aws:fsx/lustreFileSystem:LustreFileSystem"
    cloudformation = CloudFormationType(
        "AWS::FSx::FileSystem",
        at=(
            "",
            "LustreConfiguration",
        ),
    )
    kind, configuration = "LUSTRE", "LustreConfiguration"
    changes = frozenset(
        {
            "automaticBackupRetentionDays",
            "dailyAutomaticBackupStartTime",
            "dataCompressionType",
            "perUnitStorageThroughput",
            "throughputCapacity",
            "weeklyMaintenanceStartTime",
        }
    )
    inside = changes | {
        "autoImportPolicy",
        "copyTagsToBackups",
        "dataReadCacheConfiguration",
        "deploymentType",
        "driveCacheType",
        "efaEnabled",
        "exportPath",
        "importPath",
        "importedFileChunkSize",
        "metadataConfiguration",
    }
    replaces = (inside - changes) | {
        "fileSystemTypeVersion",
        "kmsKeyId",
        "securityGroupIds",
        "storageType",
        "subnetIds",
    }

    def outputs(self, item: Bag) -> Bag:
        return {**super().outputs(item), "mountName": item["LustreConfiguration"]["MountName"]}


class OpenZfsFileSystemResource(_FileSystem):
    token = "aws:fsx/openZfsFileSystem:OpenZfsFileSystem"
    cloudformation = CloudFormationType(
        "AWS::FSx::FileSystem",
        at=(
            "",
            "OpenZFSConfiguration",
        ),
    )
    kind, configuration = "OPENZFS", "OpenZFSConfiguration"
    changes = frozenset(
        {
            "automaticBackupRetentionDays",
            "copyTagsToBackups",
            "copyTagsToVolumes",
            "dailyAutomaticBackupStartTime",
            "diskIopsConfiguration",
            "throughputCapacity",
            "weeklyMaintenanceStartTime",
        }
    )
    inside = changes | {"deploymentType", "preferredSubnetId", "rootVolumeConfiguration", "routeTableIds"}
    # The real provider changes settings of the root volume in place; this is not emulated here, and refused.
    replaces = frozenset(
        {"deploymentType", "kmsKeyId", "preferredSubnetId", "securityGroupIds", "storageType", "subnetIds"}
    )

    def outputs(self, item: Bag) -> Bag:
        open_zfs_configuration = item["OpenZFSConfiguration"]
        return {
            **super().outputs(item),
            "rootVolumeId": open_zfs_configuration["RootVolumeId"],
            "endpointIpAddress": open_zfs_configuration["EndpointIpAddress"],
        }

    def deleting(self, state: Bag) -> Bag:
        options = {"Options": state["deleteOptions"]} if state.get("deleteOptions") else {}
        return {**super().deleting(state), **options}


class DataRepositoryAssociationResource(_FsxResource):
    token = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
    cloudformation = CloudFormationType("AWS::FSx::DataRepositoryAssociation")
    replaces = frozenset({"fileSystemId", "fileSystemPath", "dataRepositoryPath", "batchImportMetaDataOnCreate"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        parameters = {
            parameter: aws_spelling(news[key])
            for key, parameter in (
                ("batchImportMetaDataOnCreate", "BatchImportMetaDataOnCreate"),
                ("importedFileChunkSize", "ImportedFileChunkSize"),
                ("s3", "S3"),
            )
            if key in news
        }
        tags = {"Tags": tag_list(news["tags"])} if news.get("tags") else {}
        association = self.fsx.create_data_repository_association(
            FileSystemId=news["fileSystemId"],
            FileSystemPath=news["fileSystemPath"],
            DataRepositoryPath=news["dataRepositoryPath"],
            **parameters,
            **tags,
        )["Association"]
        return association["AssociationId"], {
            "arn": association["ResourceARN"],
            "associationId": association["AssociationId"],
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = first_or_none(self.fsx.describe_data_repository_associations, "Associations", AssociationIds=[id_])
        if item is None or item["Lifecycle"] == "DELETING":
            return None
        return {
            "arn": item["ResourceARN"],
            "associationId": id_,
            "fileSystemId": item["FileSystemId"],
            "fileSystemPath": item["FileSystemPath"],
            "dataRepositoryPath": item["DataRepositoryPath"],
            "tags": tag_map(item.get("Tags")),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "tags" in changed:
            self.retag(state["arn"], state, news)
        other_changes = changed - {"tags", "deleteDataInFilesystem"}
        if other_changes - {"s3", "importedFileChunkSize"}:
            return super().update(id_, state, news, other_changes)
        if other_changes:
            parameters = {
                name: aws_spelling(news[key]) for key, name in (("s3", "S3"),) if key in other_changes and key in news
            }
            if "importedFileChunkSize" in other_changes:
                parameters["ImportedFileChunkSize"] = news["importedFileChunkSize"]
            self.fsx.update_data_repository_association(AssociationId=id_, **parameters)
        return {"arn": state["arn"], "associationId": id_}

    def delete(self, id_: str, state: Bag) -> None:
        data = bool(state.get("deleteDataInFilesystem", False))
        ignore_missing(self.fsx.delete_data_repository_association, AssociationId=id_, DeleteDataInFileSystem=data)
