"""EFS access points and file system policies."""

import json
from typing import Any

from sandbox.pulumi_provider.aws.base import (
    Bag,
    CloudFormationType,
    first_or_none,
    ignore_missing,
    tag_list,
    tag_map,
)
from sandbox.pulumi_provider.aws.storage.efs import EfsResource


class EfsAccessPointResource(EfsResource):
    token = "aws:efs/accessPoint:AccessPoint"
    cloudformation = CloudFormationType("AWS::EFS::AccessPoint", names={"tags": "AccessPointTags"})
    replaces = frozenset({"fileSystemId", "posixUser", "rootDirectory"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        parameters: dict[str, Any] = {}
        if directory := news.get("rootDirectory"):
            parameters["RootDirectory"] = {"Path": directory.get("path", "/")}
            if creation := directory.get("creationInfo"):
                parameters["RootDirectory"]["CreationInfo"] = {
                    "OwnerUid": int(creation["ownerUid"]),
                    "OwnerGid": int(creation["ownerGid"]),
                    "Permissions": creation["permissions"],
                }
        if user := news.get("posixUser"):
            parameters["PosixUser"] = {"Uid": int(user["uid"]), "Gid": int(user["gid"])}
        response = self.efs.create_access_point(
            FileSystemId=news["fileSystemId"], Tags=tag_list(news.get("tags")), **parameters
        )
        return response["AccessPointId"], self._computed(response)

    def _computed(self, item: Any) -> Bag:
        system = item["FileSystemId"]
        file_system = self.cloud.arn("elasticfilesystem", f"file-system/{system}")
        return {"arn": item["AccessPointArn"], "fileSystemArn": file_system, "ownerId": self.cloud.account}

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = first_or_none(self.efs.describe_access_points, "AccessPoints", AccessPointId=id_)
        if item is None:
            return None
        directory = item["RootDirectory"]
        root: Bag = {"path": directory["Path"]}
        if creation := directory.get("CreationInfo"):
            root["creationInfo"] = {name[0].lower() + name[1:]: value for name, value in creation.items()}
        seen = {"fileSystemId": item["FileSystemId"], "rootDirectory": root, "tags": tag_map(item.get("Tags"))}
        return {**self._computed(item), **seen}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed != {"tags"}:
            return super().update(id_, state, news, changed)
        before, after = state.get("tags") or {}, news.get("tags") or {}
        if dropped := [key for key in before if key not in after]:
            self.efs.untag_resource(ResourceId=id_, TagKeys=dropped)
        self.efs.tag_resource(ResourceId=id_, Tags=tag_list(after))
        return {key: state[key] for key in ("arn", "fileSystemArn", "ownerId") if key in state}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.efs.delete_access_point, AccessPointId=id_)


class EfsFileSystemPolicyResource(EfsResource):
    """Policy of an EFS file system; its deletion puts the default policy in effect."""

    token = "aws:efs/fileSystemPolicy:FileSystemPolicy"
    cloudformation = CloudFormationType("AWS::EFS::FileSystem")
    replaces = frozenset({"fileSystemId"})

    def _put(self, file_system_id: str, news: Bag) -> None:
        bypass = bool(news.get("bypassPolicyLockoutSafetyCheck"))
        self.efs.put_file_system_policy(
            FileSystemId=file_system_id, Policy=news["policy"], BypassPolicyLockoutSafetyCheck=bypass
        )

    def create(self, news: Bag) -> tuple[str, Bag]:
        self._put(news["fileSystemId"], news)
        return news["fileSystemId"], {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        policy = first_or_none(
            lambda **a: {"it": [self.efs.describe_file_system_policy(**a)["Policy"]]}, "it", FileSystemId=id_
        )
        if policy is None:
            return None
        same = json.loads(policy) == json.loads(state.get("policy") or "null")
        return {"fileSystemId": id_, "policy": state["policy"] if same else policy}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        self._put(id_, news)
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        if self.system(id_) is not None:
            self.efs.delete_file_system_policy(FileSystemId=id_)
