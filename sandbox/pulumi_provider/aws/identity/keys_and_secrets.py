"""KMS keys and aliases, and Secrets Manager secrets."""

from typing import Any

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    first_or_none,
    ignore_missing,
    tag_list,
    tag_map,
)
from sandbox.pulumi_provider.aws.identity.iam import same_document


class KmsKeyResource(AwsResource):
    token = "aws:kms/key:Key"
    cloudformation = CloudFormationType("AWS::KMS::Key", names={"deletionWindowInDays": "PendingWindowInDays"})
    replaces = frozenset({"keyUsage", "customerMasterKeySpec", "multiRegion"})

    @property
    def kms(self) -> Any:
        return self.cloud.client("kms")

    def create(self, news: Bag) -> tuple[str, Bag]:
        parameters = {"Policy": news["policy"]} if "policy" in news else {}
        key_metadata = self.kms.create_key(
            Description=news.get("description", ""),
            Tags=[{"TagKey": key, "TagValue": value} for key, value in (news.get("tags") or {}).items()],
            **parameters,
        )["KeyMetadata"]
        self.exists(key_metadata["KeyId"])
        if news.get("enableKeyRotation"):
            self.kms.enable_key_rotation(KeyId=key_metadata["KeyId"])
        return key_metadata["KeyId"], {"arn": key_metadata["Arn"], "keyId": key_metadata["KeyId"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        key = first_or_none(lambda **a: {"it": [self.kms.describe_key(**a)["KeyMetadata"]]}, "it", KeyId=id_)
        if key is None or key["KeyState"] == "PendingDeletion":
            return None
        tags = self.kms.list_resource_tags(KeyId=id_)["Tags"]
        seen: Bag = {
            "arn": key["Arn"],
            "keyId": id_,
            "tags": {tag["TagKey"]: tag["TagValue"] for tag in tags} or None,
            "description": key["Description"],
        }
        if "policy" in state:
            policy = self.kms.get_key_policy(KeyId=id_, PolicyName="default")["Policy"]
            seen["policy"] = same_document(state["policy"], policy)
        rotating = self.kms.get_key_rotation_status(KeyId=id_)["KeyRotationEnabled"]
        return {**seen, "enableKeyRotation": rotating}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "policy" in changed:
            self.kms.put_key_policy(KeyId=id_, PolicyName="default", Policy=news["policy"])
        if "enableKeyRotation" in changed:
            turn = self.kms.enable_key_rotation if news.get("enableKeyRotation") else self.kms.disable_key_rotation
            turn(KeyId=id_)
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            self.kms.untag_resource(KeyId=id_, TagKeys=[key for key in before if key not in after])
            self.kms.tag_resource(KeyId=id_, Tags=[{"TagKey": k, "TagValue": v} for k, v in after.items()])
        if "description" in changed:
            self.kms.update_key_description(KeyId=id_, Description=news.get("description", ""))
        other_changes = changed - {"policy", "enableKeyRotation", "tags", "description", "deletionWindowInDays"}
        return super().update(id_, state, news, other_changes) if other_changes else {}

    def delete(self, id_: str, state: Bag) -> None:
        if self.read(id_, {}) is not None:
            self.kms.schedule_key_deletion(KeyId=id_, PendingWindowInDays=state.get("deletionWindowInDays", 30))


class KmsAliasResource(AwsResource):
    token = "aws:kms/alias:Alias"
    cloudformation = CloudFormationType("AWS::KMS::Alias", names={"name": "AliasName"})
    replaces = frozenset({"name", "namePrefix"})

    @property
    def kms(self) -> Any:
        return self.cloud.client("kms")

    def create(self, news: Bag) -> tuple[str, Bag]:
        self.kms.create_alias(AliasName=news["name"], TargetKeyId=news["targetKeyId"])
        return news["name"], {"arn": self.cloud.arn("kms", news["name"])}

    def read(self, id_: str, state: Bag) -> Bag | None:
        aliases = [a for page in self.kms.get_paginator("list_aliases").paginate() for a in page["Aliases"]]
        target = next((a["TargetKeyId"] for a in aliases if a["AliasName"] == id_ and "TargetKeyId" in a), None)
        return None if target is None else {"arn": self.cloud.arn("kms", id_), "targetKeyId": target}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        self.kms.update_alias(AliasName=id_, TargetKeyId=news["targetKeyId"])
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.kms.delete_alias, AliasName=id_)


class SecretResource(AwsResource):
    token = "aws:secretsmanager/secret:Secret"
    cloudformation = CloudFormationType("AWS::SecretsManager::Secret")
    replaces = frozenset({"name", "namePrefix"})
    autoname = "name"

    @property
    def manager(self) -> Any:
        return self.cloud.client("secretsmanager")

    def create(self, news: Bag) -> tuple[str, Bag]:
        parameters = {"KmsKeyId": news["kmsKeyId"]} if "kmsKeyId" in news else {}
        response = self.manager.create_secret(
            Name=news["name"], Description=news.get("description", ""), Tags=tag_list(news.get("tags")), **parameters
        )
        return response["ARN"], {"arn": response["ARN"]}

    def read(self, id_: str, state: Bag) -> Bag | None:
        secret = first_or_none(lambda **a: {"it": [self.manager.describe_secret(**a)]}, "it", SecretId=id_)
        if secret is None or secret.get("DeletedDate"):
            return None
        return {
            "arn": secret["ARN"],
            "name": secret["Name"],
            "description": secret.get("Description", ""),
            "tags": tag_map(secret.get("Tags")),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "description" in changed:
            self.manager.update_secret(SecretId=id_, Description=news.get("description", ""))
        if "tags" in changed:
            before, after = state.get("tags") or {}, news.get("tags") or {}
            self.manager.untag_resource(SecretId=id_, TagKeys=[key for key in before if key not in after])
            self.manager.tag_resource(SecretId=id_, Tags=tag_list(after))
        other_changes = changed - {"description", "tags", "recoveryWindowInDays"}
        return super().update(id_, state, news, other_changes) if other_changes else {}

    def delete(self, id_: str, state: Bag) -> None:
        window = state.get("recoveryWindowInDays", 30)
        options = {"RecoveryWindowInDays": window} if window else {"ForceDeleteWithoutRecovery": True}
        ignore_missing(self.manager.delete_secret, SecretId=id_, **options)
