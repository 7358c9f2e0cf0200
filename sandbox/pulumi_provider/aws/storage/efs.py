"""EFS file systems, mount targets and backup policies."""

from typing import Any

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    first_or_none,
    ignore_missing,
    tag_list,
    tag_map,
)

_MODES = frozenset({"throughputMode", "provisionedThroughputInMibps"})


class EfsResource(AwsResource):
    """Resource of EFS."""

    @property
    def efs(self) -> Any:
        return self.cloud.client("efs")

    def system(self, file_system_id: str) -> Any | None:
        """Return EFS's description of a file system, or None."""
        return first_or_none(self.efs.describe_file_systems, "FileSystems", FileSystemId=file_system_id)


class EfsFileSystemResource(EfsResource):
    token = "aws:efs/fileSystem:FileSystem"
    cloudformation = CloudFormationType("AWS::EFS::FileSystem")
    replaces = frozenset({"availabilityZoneName", "creationToken", "encrypted", "kmsKeyId", "performanceMode"})
    autoname = "creationToken"

    def create(self, news: Bag) -> tuple[str, Bag]:
        if news.get("lifecyclePolicies") or news.get("protection"):
            raise ProviderError("the sandbox has no lifecycle policies and no protection of EFS")
        parameters = {
            parameter: news[key]
            for key, parameter in (
                ("performanceMode", "PerformanceMode"),
                ("encrypted", "Encrypted"),
                ("kmsKeyId", "KmsKeyId"),
                *self._throughput(),
            )
            if key in news
        }
        response = self.efs.create_file_system(
            CreationToken=news["creationToken"], Tags=tag_list(news.get("tags")), **parameters
        )
        return response["FileSystemId"], self._computed(response["FileSystemId"], response)

    def _computed(self, id_: str, item: Any) -> Bag:
        names = {"dnsName": f"{id_}.efs.{self.cloud.region}.amazonaws.com", "ownerId": self.cloud.account}
        return {"arn": item["FileSystemArn"], **names}

    def _throughput(self) -> tuple[tuple[str, str], ...]:
        return (
            ("throughputMode", "ThroughputMode"),
            ("provisionedThroughputInMibps", "ProvisionedThroughputInMibps"),
        )

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = self.system(id_)
        if item is None:
            return None
        seen = {
            **self._computed(id_, item),
            "performanceMode": item["PerformanceMode"],
            "throughputMode": item["ThroughputMode"],
        }
        return {**seen, "encrypted": item["Encrypted"], "tags": tag_map(item.get("Tags"))}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed - _MODES - {"tags"}:
            return super().update(id_, state, news, changed - _MODES - {"tags"})
        if changed & _MODES:
            parameters = {parameter: news[key] for key, parameter in self._throughput() if key in news}
            self.efs.update_file_system(FileSystemId=id_, **parameters)
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            dropped = [key for key in before if key not in after]
            if dropped:
                self.efs.untag_resource(ResourceId=id_, TagKeys=dropped)
            self.efs.tag_resource(ResourceId=id_, Tags=tag_list(after))
        return {key: state[key] for key in ("arn", "dnsName", "ownerId") if key in state}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.efs.delete_file_system, FileSystemId=id_)


class EfsMountTargetResource(EfsResource):
    token = "aws:efs/mountTarget:MountTarget"
    cloudformation = CloudFormationType("AWS::EFS::MountTarget")
    replaces = frozenset({"fileSystemId", "subnetId", "ipAddress"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        parameters = {"SecurityGroups": news["securityGroups"]} if "securityGroups" in news else {}
        response = self.efs.create_mount_target(
            FileSystemId=news["fileSystemId"], SubnetId=news["subnetId"], **parameters
        )
        return response["MountTargetId"], self._computed(response)

    def _computed(self, item: Any) -> Bag:
        return {
            "ipAddress": item["IpAddress"],
            "networkInterfaceId": item["NetworkInterfaceId"],
            "availabilityZoneName": item["AvailabilityZoneName"],
            "availabilityZoneId": item["AvailabilityZoneId"],
            "dnsName": f"{item['FileSystemId']}.efs.{self.cloud.region}.amazonaws.com",
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = first_or_none(self.efs.describe_mount_targets, "MountTargets", MountTargetId=id_)
        if item is None:
            return None
        groups = self.efs.describe_mount_target_security_groups(MountTargetId=id_)["SecurityGroups"]
        outputs = {**self._computed(item), "fileSystemId": item["FileSystemId"], "subnetId": item["SubnetId"]}
        return {**outputs, "securityGroups": groups}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed != {"securityGroups"}:
            return super().update(id_, state, news, changed)
        self.efs.modify_mount_target_security_groups(MountTargetId=id_, SecurityGroups=news["securityGroups"])
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.efs.delete_mount_target, MountTargetId=id_)


class EfsBackupPolicyResource(EfsResource):
    """Backup policy of an EFS file system; without one, EFS creates no backups."""

    token = "aws:efs/backupPolicy:BackupPolicy"
    cloudformation = CloudFormationType("AWS::EFS::FileSystem")
    replaces = frozenset({"fileSystemId"})

    def _put(self, file_system_id: str, status: str) -> None:
        self.efs.put_backup_policy(FileSystemId=file_system_id, BackupPolicy={"Status": status})

    def create(self, news: Bag) -> tuple[str, Bag]:
        self._put(news["fileSystemId"], news["backupPolicy"]["status"])
        return news["fileSystemId"], {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        if self.system(id_) is None:
            return None
        policy = first_or_none(
            lambda **a: {"it": [self.efs.describe_backup_policy(**a)["BackupPolicy"]]}, "it", FileSystemId=id_
        )
        return {"fileSystemId": id_, "backupPolicy": {"status": "DISABLED" if policy is None else policy["Status"]}}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        self._put(id_, news["backupPolicy"]["status"])
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        if self.system(id_) is not None:
            self._put(id_, "DISABLED")
