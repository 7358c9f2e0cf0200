"""Data hub: one S3 bucket and one KMS key for each data class that AWS may hold."""

from typing import Any, Literal

from landbridge.catalog import regions
from landbridge.catalog.aws.limits import limits
from landbridge.environment import Environment, HubClass
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.storage.file_system import imported_classes
from landbridge.plan.policy_document import document
from landbridge.plan.resource_names import ACCOUNT_DIGITS, shortened

FSX_SERVICE, FSX_ROLE = "s3.data-source.lustre.fsx.amazonaws.com", "AWSServiceRoleForFSxS3Access"
SSE = "s3:x-amz-server-side-encryption"


class LockPlan(Args):
    """S3 Object Lock: default retention in days, and its mode."""

    days: int
    mode: Literal["GOVERNANCE", "COMPLIANCE"]


class BucketPlan(Args):
    """Bucket of one data class; its name ends in the account id, because bucket names are unique across all accounts."""

    data_class: str
    name_prefix: str
    #: True if an FSx for Lustre file system is linked to the bucket: FSx then reads and writes it, and needs its key.
    is_linked_to_fsx: bool = False
    replica_region: str | None = None
    lock: LockPlan | None = None
    tiering_days: int | None = None
    expire_days: int | None = None
    tags: dict[str, str]
    #: Name of the replica in `replica_region`, without the account id, and of the replication role.
    replica_prefix: str = ""
    replica_role: str = ""

    def bucket_name(self, account: str, prefix: str | None = None) -> str:
        """Return the bucket's name in an account; with the replica's prefix, the replica's name."""
        return f"{prefix or self.name_prefix}-{account}"


class DataHubArgs(Args):
    """Plan of all buckets, and of the settings that they share."""

    cluster: str
    region: str
    buckets: tuple[BucketPlan, ...]
    noncurrent_days: int
    #: IAM path of the replication role.
    path: str = "/"
    permissions_boundary: str | None = None
    protect: bool


def data_hub_args(environment: Environment) -> DataHubArgs:
    """Plan a bucket for each data class whose sites include AWS; a class that must stay on-prem gets no bucket."""
    classes = [name for name, data_class in environment.data_classes.items() if "aws" in data_class.sites]
    return DataHubArgs(
        cluster=environment.name,
        region=environment.region,
        buckets=tuple(_bucket(environment, name) for name in sorted(classes)),
        noncurrent_days=environment.storage.data_hub.noncurrent_days,
        path=environment.aws.iam.path,
        permissions_boundary=environment.aws.iam.permissions_boundary,
        protect=environment.aws.protect,
    )


def _bucket(environment: Environment, name: str) -> BucketPlan:
    hub_class = environment.storage.data_hub.classes.get(name, HubClass())
    lock = hub_class.object_lock
    return BucketPlan(
        data_class=name,
        name_prefix=bucket_prefix(environment.name, name),
        replica_prefix=bucket_prefix(environment.name, f"{name}-replica"),
        replica_role=shortened(f"{environment.name}-copy-{name}", limits().names.rules["iam_role"].characters[1]),
        is_linked_to_fsx=name in imported_classes(environment),
        replica_region=hub_class.replica_region,
        lock=None if lock is None else LockPlan.model_validate({"days": lock.days, "mode": lock.mode.upper()}),
        tiering_days=hub_class.tiering_days,
        expire_days=hub_class.expire_days,
        tags=tags(environment, data_class=name),
    )


def bucket_prefix(cluster: str, data_class: str) -> str:
    """Return the name of a class's bucket without the account id; a long name is shortened and stays unique."""
    return shortened(f"{cluster}-{data_class}", max_bucket_prefix_characters())


def max_bucket_prefix_characters() -> int:
    """Return the maximum length of a bucket's name before a dash and the account id."""
    return limits().names.rules["s3_bucket"].characters[1] - ACCOUNT_DIGITS - 1


def bucket_policy(bucket_arn: str, key_arn: str) -> str:
    """Return the bucket policy: deny requests without TLS, and uploads under another KMS key or without one."""
    objects = f"{bucket_arn}/*"
    return document(
        [
            _no_clear_text(bucket_arn),
            # A request without a key gets the bucket's default key; a request for another key or encryption is denied.
            _deny_put("DenyOtherKmsKeys", objects, f"{SSE}-aws-kms-key-id", key_arn),
            _deny_put("DenyOtherEncryption", objects, SSE, "aws:kms"),
        ]
    )


def tls_only(bucket_arn: str) -> str:
    """Return a bucket policy that denies requests without TLS, for buckets outside the data hub."""
    return document([_no_clear_text(bucket_arn)])


def _no_clear_text(bucket_arn: str) -> dict[str, Any]:
    return {
        "Sid": "DenyWithoutTls",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [bucket_arn, f"{bucket_arn}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }


def _deny_put(sid: str, objects: str, key: str, allowed_value: str) -> dict[str, Any]:
    """Return a statement that denies uploads with another value. `Null` is needed: to IAM an absent key differs from
    every value.
    """
    condition = {"Null": {key: "false"}, "StringNotEquals": {key: allowed_value}}
    return {
        "Sid": sid,
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:PutObject",
        "Resource": objects,
        "Condition": condition,
    }


def key_policy(partition: str, account: str, fsx_region: str | None = None) -> str:
    """Return the key policy: IAM of the key's account decides; with a region, FSx may use it for buckets linked there.

    FSx has a role for each file system, which accepts no further permissions and does not exist before the file system.
    Source: FSx for Lustre User Guide, "Using server-side encrypted Amazon S3 buckets".
    """
    statements: list[dict[str, Any]] = [
        {
            "Sid": "DelegateToIam",
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:{partition}:iam::{account}:root"},
            "Action": "kms:*",
            "Resource": "*",
        }
    ]
    if fsx_region is not None:
        role = f"arn:{partition}:iam::{account}:role/aws-service-role/{FSX_SERVICE}/{FSX_ROLE}_fs-*"
        conditions = {"kms:CallerAccount": account, "kms:ViaService": _s3(fsx_region)}
        statements.append(
            {
                "Sid": "AllowFsxDataRepositories",
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"],
                "Resource": "*",
                "Condition": {"StringEquals": conditions, "ArnLike": {"aws:PrincipalArn": role}},
            }
        )
    return document(statements)


def replication_trust(account: str, bucket_arn: str) -> str:
    """Return the trust policy: S3 on behalf of this bucket. Source: S3 User Guide, "Setting up permissions for
    live replication".
    """
    condition = {"StringEquals": {"aws:SourceAccount": account}, "ArnLike": {"aws:SourceArn": bucket_arn}}
    principal = {"Service": "s3.amazonaws.com"}
    statement = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole", "Condition": condition}
    return document([statement])


def replication_policy(source: str, source_key: str, copy: str, copy_key: str, *, places: tuple[str, str]) -> str:
    """Return the policy that reads every version of one bucket and replicates it to the other, with each bucket's key
    and through S3.

    Source: S3 User Guide, "Setting up permissions for live replication" and "Replicating encrypted objects". Object
    lock needs the permissions for retention and legal holds of versions.
    """
    read = ["s3:GetObjectVersionForReplication", "s3:GetObjectVersionAcl", "s3:GetObjectVersionTagging"]
    locks = ["s3:GetObjectRetention", "s3:GetObjectLegalHold"]

    def via_s3(region: str) -> dict[str, Any]:
        return {"StringEquals": {"kms:ViaService": _s3(region)}}

    return document(
        [
            {"Effect": "Allow", "Action": ["s3:GetReplicationConfiguration", "s3:ListBucket"], "Resource": source},
            {"Effect": "Allow", "Action": [*read, *locks], "Resource": f"{source}/*"},
            {"Effect": "Allow", "Action": ["s3:ReplicateObject", "s3:ReplicateTags"], "Resource": f"{copy}/*"},
            {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": source_key, "Condition": via_s3(places[0])},
            {
                "Effect": "Allow",
                "Action": ["kms:Encrypt", "kms:GenerateDataKey"],
                "Resource": copy_key,
                "Condition": via_s3(places[1]),
            },
        ]
    )


def _s3(region: str) -> str:
    """Return the value of `kms:ViaService` for S3 of a region. Source: KMS Developer Guide, "kms:ViaService"."""
    region_facts = regions().get(region)
    return (
        f"s3.{region}.amazonaws.com{'.cn' if region_facts is not None and region_facts.partition == 'aws-cn' else ''}"
    )
