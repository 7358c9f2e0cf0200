"""S3 buckets and their settings; each setting is a separate resource, as in the SDK."""

from abc import abstractmethod
from typing import Any

from botocore.exceptions import ClientError

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    first_or_none,
    ignore_missing,
    missing,
    tag_list,
    tag_map,
)
from sandbox.pulumi_provider.aws.identity.iam import same_document


class _S3Resource(AwsResource):
    @property
    def s3(self) -> Any:
        return self.cloud.client("s3")

    def _exists(self, bucket: str) -> bool:
        return first_or_none(lambda **a: {"it": [self.s3.head_bucket(**a)]}, "it", Bucket=bucket) is not None

    def _setting(self, call: Any, bucket: str) -> Bag | None:
        """Return the complete answer of a read operation, or None if the bucket or the setting does not exist."""
        return first_or_none(lambda **a: {"it": [call(**a)]}, "it", Bucket=bucket)


class BucketResource(_S3Resource):
    token = "aws:s3/bucket:Bucket"
    cloudformation = CloudFormationType("AWS::S3::Bucket", names={"bucket": "BucketName"})
    replaces = frozenset({"bucket", "bucketPrefix", "objectLockEnabled"})
    autoname = "bucket"

    def create(self, news: Bag) -> tuple[str, Bag]:
        unsupported = sorted(set(news) - {"bucket", "forceDestroy", "objectLockEnabled", "tags", "region"})
        if unsupported:
            raise ProviderError(
                f"the sandbox takes {', '.join(unsupported)} as separate resources, not inside a bucket"
            )
        name = news["bucket"]
        location = {} if self.cloud.region == "us-east-1" else {"LocationConstraint": self.cloud.region}
        lock = {"ObjectLockEnabledForBucket": True} if news.get("objectLockEnabled") else {}
        self.s3.create_bucket(Bucket=name, **({"CreateBucketConfiguration": location} if location else {}), **lock)
        self._tag(self.exists(name), news)
        return name, self._computed(name)

    def _computed(self, name: str) -> Bag:
        domain = f"{name}.s3.amazonaws.com"
        regional = f"{name}.s3.{self.cloud.region}.amazonaws.com"
        names = {"bucketDomainName": domain, "bucketRegionalDomainName": regional, "region": self.cloud.region}
        return {"arn": f"arn:{self.cloud.partition}:s3:::{name}", **names}

    def _tag(self, name: str, news: Bag) -> None:
        if news.get("tags"):
            self.s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": tag_list(news["tags"])})
        else:
            self.s3.delete_bucket_tagging(Bucket=name)

    def read(self, id_: str, state: Bag) -> Bag | None:
        if not self._exists(id_):
            return None
        tags = self._setting(self.s3.get_bucket_tagging, id_)
        return {**self._computed(id_), "bucket": id_, "tags": tag_map((tags or {}).get("TagSet"))}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "tags" in changed:
            self._tag(id_, news)
        other_changes = changed - {"tags", "forceDestroy"}
        return super().update(id_, state, news, other_changes) if other_changes else {}

    def delete(self, id_: str, state: Bag) -> None:
        if not self._exists(id_):
            return
        if state.get("forceDestroy"):
            self._empty(id_)
        self.s3.delete_bucket(Bucket=id_)

    def _empty(self, name: str) -> None:
        for page in self.s3.get_paginator("list_object_versions").paginate(Bucket=name):
            for item in (*page.get("Versions", []), *page.get("DeleteMarkers", [])):
                self.s3.delete_object(Bucket=name, Key=item["Key"], VersionId=item["VersionId"])


class _Setting(_S3Resource):
    """Setting of a bucket: the same call creates and updates it."""

    replaces = frozenset({"bucket"})

    @abstractmethod
    def put(self, bucket: str, news: Bag) -> None:
        """Set the setting of a bucket."""

    def create(self, news: Bag) -> tuple[str, Bag]:
        self.put(news["bucket"], news)
        return news["bucket"], {}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        self.put(id_, news)
        return {}


class BucketVersioningResource(_Setting):
    token = "aws:s3/bucketVersioning:BucketVersioning"
    cloudformation = CloudFormationType("AWS::S3::Bucket")

    def put(self, bucket: str, news: Bag) -> None:
        status = news["versioningConfiguration"]["status"]
        self.s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": status})

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._setting(self.s3.get_bucket_versioning, id_)
        return None if seen is None else {"versioningConfiguration": {"status": seen.get("Status", "Disabled")}}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.s3.put_bucket_versioning, Bucket=id_, VersioningConfiguration={"Status": "Suspended"})


class BucketServerSideEncryptionConfigurationResource(_Setting):
    token = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
    cloudformation = CloudFormationType(
        "AWS::S3::Bucket", at=("BucketEncryption",), names={"rules": "ServerSideEncryptionConfiguration"}
    )

    def put(self, bucket: str, news: Bag) -> None:
        rules = []
        for rule in news["rules"]:
            default = rule["applyServerSideEncryptionByDefault"]
            wire = {"SSEAlgorithm": default["sseAlgorithm"]}
            if "kmsMasterKeyId" in default:
                wire["KMSMasterKeyID"] = default["kmsMasterKeyId"]
            rules.append(
                {"ApplyServerSideEncryptionByDefault": wire, "BucketKeyEnabled": rule.get("bucketKeyEnabled", False)}
            )
        self.s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": rules})

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._setting(self.s3.get_bucket_encryption, id_)
        return None if seen is None else {}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.s3.delete_bucket_encryption, Bucket=id_)


class BucketPublicAccessBlockResource(_Setting):
    token = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
    cloudformation = CloudFormationType("AWS::S3::Bucket", at=("PublicAccessBlockConfiguration",))
    _keys = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")

    def put(self, bucket: str, news: Bag) -> None:
        configuration = {key[0].upper() + key[1:]: news.get(key, False) for key in self._keys}
        self.s3.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration=configuration)

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._setting(self.s3.get_public_access_block, id_)
        if seen is None:
            return None
        return {key: seen["PublicAccessBlockConfiguration"][key[0].upper() + key[1:]] for key in self._keys}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.s3.delete_public_access_block, Bucket=id_)


class BucketOwnershipControlsResource(_Setting):
    token = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
    cloudformation = CloudFormationType("AWS::S3::Bucket", at=("OwnershipControls",), names={"rule": "Rules"})

    def put(self, bucket: str, news: Bag) -> None:
        rules = [{"ObjectOwnership": news["rule"]["objectOwnership"]}]
        self.s3.put_bucket_ownership_controls(Bucket=bucket, OwnershipControls={"Rules": rules})

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._setting(self.s3.get_bucket_ownership_controls, id_)
        return seen and {"rule": {"objectOwnership": seen["OwnershipControls"]["Rules"][0]["ObjectOwnership"]}}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.s3.delete_bucket_ownership_controls, Bucket=id_)


class BucketPolicyResource(_Setting):
    token = "aws:s3/bucketPolicy:BucketPolicy"
    cloudformation = CloudFormationType("AWS::S3::BucketPolicy")

    def put(self, bucket: str, news: Bag) -> None:
        self.s3.put_bucket_policy(Bucket=bucket, Policy=news["policy"])

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._setting(self.s3.get_bucket_policy, id_)
        return seen and {"policy": same_document(state["policy"], seen["Policy"])}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.s3.delete_bucket_policy, Bucket=id_)


class BucketLifecycleConfigurationResource(_Setting):
    token = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
    cloudformation = CloudFormationType("AWS::S3::Bucket", at=("LifecycleConfiguration",))

    def put(self, bucket: str, news: Bag) -> None:
        rules = [_rule(rule) for rule in news["rules"]]
        self.s3.put_bucket_lifecycle_configuration(Bucket=bucket, LifecycleConfiguration={"Rules": rules})

    def read(self, id_: str, state: Bag) -> Bag | None:
        try:
            self.s3.get_bucket_lifecycle_configuration(Bucket=id_)
        except ClientError as error:
            if missing(error):
                return None
            raise
        return {}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.s3.delete_bucket_lifecycle, Bucket=id_)


class BucketObjectLockConfigurationResource(_Setting):
    token = "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration"
    cloudformation = CloudFormationType("AWS::S3::Bucket", at=("ObjectLockConfiguration",))
    replaces = frozenset({"bucket", "objectLockEnabled"})

    def put(self, bucket: str, news: Bag) -> None:
        default = _words(news["rule"]["defaultRetention"])
        configuration = {"ObjectLockEnabled": "Enabled", "Rule": {"DefaultRetention": default}}
        self.s3.put_object_lock_configuration(Bucket=bucket, ObjectLockConfiguration=configuration)

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._setting(self.s3.get_object_lock_configuration, id_)
        default = seen and seen["ObjectLockConfiguration"].get("Rule", {}).get("DefaultRetention")
        return default and {"rule": {"defaultRetention": {"mode": default["Mode"], "days": default["Days"]}}}

    def delete(self, id_: str, state: Bag) -> None:
        """Do nothing: object lock cannot be removed from a bucket."""


class BucketReplicationConfigResource(_Setting):
    token = "aws:s3/bucketReplicationConfig:BucketReplicationConfig"
    cloudformation = CloudFormationType("AWS::S3::Bucket", at=("ReplicationConfiguration",))

    def put(self, bucket: str, news: Bag) -> None:
        # Source: S3 API Reference, PutBucketReplication (both buckets must exist and have versioning).
        for name in (bucket, *(rule["destination"]["bucket"].rpartition(":::")[2] for rule in news["rules"])):
            if not self._exists(name):
                raise ProviderError(f"InvalidRequest: the bucket {name} must exist")
            if self.s3.get_bucket_versioning(Bucket=name).get("Status") != "Enabled":
                raise ProviderError(
                    f"InvalidRequest: versioning must be enabled on {name} to apply a replication configuration"
                )
        self._check_locks(bucket, news)
        rules = [_rule(rule) for rule in news["rules"]]
        configuration = {"Role": news["role"], "Rules": rules}
        self.s3.put_bucket_replication(Bucket=bucket, ReplicationConfiguration=configuration)

    def _check_locks(self, bucket: str, news: Bag) -> None:
        """Refuse a destination without Object Lock for a source with it. S3 itself fails the replication of each object with this
        reason.

        Source: Amazon S3 User Guide, "Amazon S3 replication failure reasons"; read 2026-11-25.
        """
        if not self._is_locked(bucket):
            return
        for name in (rule["destination"]["bucket"].rpartition(":::")[2] for rule in news["rules"]):
            if not self._is_locked(name):
                raise ProviderError(
                    f"DstBucketObjectLockConfigMissing: {bucket} has Object Lock, so that {name} must have it too"
                )

    def _is_locked(self, bucket: str) -> bool:
        seen = self._setting(self.s3.get_object_lock_configuration, bucket)
        return seen is not None and seen["ObjectLockConfiguration"].get("ObjectLockEnabled") == "Enabled"

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = self._setting(self.s3.get_bucket_replication, id_)
        return None if seen is None else {"role": seen["ReplicationConfiguration"]["Role"]}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.s3.delete_bucket_replication, Bucket=id_)


def _words(value: Any) -> Any:
    if isinstance(value, dict):
        return {_ACRONYMS.get(key, key[0].upper() + key[1:]): _words(item) for key, item in value.items()}
    return [_words(item) for item in value] if isinstance(value, list) else value


_ACRONYMS = {"id": "ID", "replicaKmsKeyId": "ReplicaKmsKeyID"}


def _rule(rule: Bag) -> Bag:
    """Return a bucket rule with keys in S3's spelling: with a capital letter first, ID in capitals."""
    return dict(_words(rule))
