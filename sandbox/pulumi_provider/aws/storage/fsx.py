"""FSx file systems and data repository associations."""

from typing import Any, ClassVar

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, found, gone, tag_list, tag_map

_ONES = frozenset({"nfsExports"})


def words(value: Any) -> Any:
    """A bag in AWS's spelling: capitals at the front, all the way down."""
    if isinstance(value, dict):
        # Where AWS takes a list of one, the SDK takes the one.
        return {key[0].upper() + key[1:]: [words(item)] if key in _ONES else words(item) for key, item in value.items()}
    return [words(item) for item in value] if isinstance(value, list) else value


class _FsxResource(AwsResource):
    @property
    def fsx(self) -> Any:
        return self.cloud.client("fsx")

    def retag(self, arn: str, state: Bag, news: Bag) -> None:
        """Make the tags those of the new inputs."""
        before, after = state.get("tags") or {}, news.get("tags") or {}
        dropped = [key for key in before if key not in after]
        if dropped:
            self.fsx.untag_resource(ResourceARN=arn, TagKeys=dropped)
        if after and after != before:
            self.fsx.tag_resource(ResourceARN=arn, Tags=tag_list(after))


class _FileSystem(_FsxResource):
    """Base of Lustre and OpenZFS. Maps are from Pulumi's names to FSx's, of inputs that can change and that cannot."""

    kind: ClassVar[str]
    configuration: ClassVar[str]
    #: Inputs that stand inside the configuration.
    inside: ClassVar[frozenset[str]]
    #: Those of them that UpdateFileSystem accepts.
    changes: ClassVar[frozenset[str]]

    @classmethod
    def replaced_by(cls, olds: Bag, news: Bag, changed: frozenset[str]) -> frozenset[str]:
        """A smaller file system is another one, as with the real provider: FSx only lets them grow."""
        shrunk = (news.get("storageCapacity") or 0) < (olds.get("storageCapacity") or 0)
        return super().replaced_by(olds, news, changed) | ({"storageCapacity"} if shrunk else frozenset())

    def _inside(self, bag: Bag, keys: frozenset[str]) -> Bag:
        return {key[0].upper() + key[1:]: words(bag[key]) for key in sorted(keys) if key in bag}

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
        """Return the values that only AWS has."""
        return {
            "arn": item["ResourceARN"],
            "dnsName": item["DNSName"],
            "kmsKeyId": item["KmsKeyId"],
            "networkInterfaceIds": item["NetworkInterfaceIds"],
            "ownerId": item["OwnerId"],
            "vpcId": item["VpcId"],
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = found(self.fsx.describe_file_systems, "FileSystems", FileSystemIds=[id_])
        if item is None or item["Lifecycle"] == "DELETING":
            return None
        own = item[self.configuration]
        seen = {key: own[key[0].upper() + key[1:]] for key in self.changes if key[0].upper() + key[1:] in own}
        plain = {key: value for key, value in seen.items() if not isinstance(value, dict)}
        size = {"storageCapacity": item["StorageCapacity"]} if "StorageCapacity" in item else {}
        return {**self.outputs(item), **plain, **size, "tags": tag_map(item.get("Tags"))}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "tags" in changed:
            self.retag(state["arn"], state, news)
        # Only Pulumi's state has the options of the deletion.
        rest = changed - {"tags", "skipFinalBackup", "deleteOptions", "finalBackupTags"}
        inside = rest & self.changes
        if rest - inside - {"storageCapacity"}:
            return super().update(id_, state, news, rest - inside - {"storageCapacity"})
        given = {self.configuration: self._inside(news, inside)} if inside else {}
        if "storageCapacity" in rest:
            given["StorageCapacity"] = news["storageCapacity"]
        if given:
            self.fsx.update_file_system(FileSystemId=id_, **given)
        return {key: state[key] for key in ("arn", "dnsName", "mountName", "networkInterfaceIds") if key in state}

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.fsx.delete_file_system, FileSystemId=id_, **{self.configuration: self.deleting(state)})

    def deleting(self, state: Bag) -> Bag:
        """Return the arguments of its deletion."""
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
    # The root volume's own settings change in place with the real provider; here that is not emulated, and refused.
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
        given = {
            parameter: words(news[key])
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
            **given,
            **tags,
        )["Association"]
        return association["AssociationId"], {
            "arn": association["ResourceARN"],
            "associationId": association["AssociationId"],
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = found(self.fsx.describe_data_repository_associations, "Associations", AssociationIds=[id_])
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
        rest = changed - {"tags", "deleteDataInFilesystem"}
        if rest - {"s3", "importedFileChunkSize"}:
            return super().update(id_, state, news, rest)
        if rest:
            given = {name: words(news[key]) for key, name in (("s3", "S3"),) if key in rest and key in news}
            if "importedFileChunkSize" in rest:
                given["ImportedFileChunkSize"] = news["importedFileChunkSize"]
            self.fsx.update_data_repository_association(AssociationId=id_, **given)
        return {"arn": state["arn"], "associationId": id_}

    def delete(self, id_: str, state: Bag) -> None:
        data = bool(state.get("deleteDataInFilesystem", False))
        gone(self.fsx.delete_data_repository_association, AssociationId=id_, DeleteDataInFileSystem=data)
