"""Data hub: one S3 bucket and one KMS key for each data class that AWS may hold."""

from typing import Any, Literal

from landbridge.catalog import regions
from landbridge.environment import Environment, HubClass
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.file_system import imported_classes
from landbridge.plan.policy_document import document
from landbridge.plan.resource_names import ACCOUNT_DIGITS, shortened

MAX_BUCKET_NAME_CHARACTERS = 63
MAX_ROLE_NAME_CHARACTERS = 64
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
    #: Whether an FSx for Lustre file system shows it: FSx reads and writes it then, and needs the key for that.
    shown: bool = False
    replica_region: str | None = None
    lock: LockPlan | None = None
    tiering_days: int | None = None
    expire_days: int | None = None
    tags: dict[str, str]
    #: The name of the copy in `replica_region`, without the account, and of the role that copies.
    replica_prefix: str = ""
    replica_role: str = ""

    def bucket_name(self, account: str, prefix: str | None = None) -> str:
        """Return the bucket's name in an account; with the prefix of the copy, the copy's."""
        return f"{prefix or self.name_prefix}-{account}"


class DataHubArgs(Args):
    """Plan of all buckets, and of the settings that they share."""

    cluster: str
    region: str
    buckets: tuple[BucketPlan, ...]
    noncurrent_days: int
    #: Of the role that copies.
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
        replica_role=shortened(f"{environment.name}-copy-{name}", MAX_ROLE_NAME_CHARACTERS),
        shown=name in imported_classes(environment),
        replica_region=hub_class.replica_region,
        lock=None if lock is None else LockPlan.model_validate({"days": lock.days, "mode": lock.mode.upper()}),
        tiering_days=hub_class.tiering_days,
        expire_days=hub_class.expire_days,
        tags=tags(environment, data_class=name),
    )


def bucket_prefix(cluster: str, data_class: str) -> str:
    """Return the name of a class's bucket without the account id; a long name is shortened and stays unique."""
    return shortened(f"{cluster}-{data_class}", MAX_BUCKET_NAME_CHARACTERS - ACCOUNT_DIGITS - 1)


def bucket_policy(bucket_arn: str, key_arn: str) -> str:
    """Return the bucket policy: deny requests without TLS, and uploads under another KMS key or without one."""
    objects = f"{bucket_arn}/*"
    return document(
        [
            _no_clear_text(bucket_arn),
            # A request that says nothing gets the bucket's own key; only one that asks for something else is refused.
            _deny_put("DenyOtherKmsKeys", objects, f"{SSE}-aws-kms-key-id", key_arn),
            _deny_put("DenyOtherEncryption", objects, SSE, "aws:kms"),
        ]
    )


def tls_only(bucket_arn: str) -> str:
    """Return a bucket policy that denies requests without TLS: for a bucket without data of a class."""
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


def _deny_put(sid: str, objects: str, key: str, only: str) -> dict[str, Any]:
    """Deny uploads that name another value. `Null` is needed: IAM treats an absent key as different from every value."""
    condition = {"Null": {key: "false"}, "StringNotEquals": {key: only}}
    return {
        "Sid": sid,
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:PutObject",
        "Resource": objects,
        "Condition": condition,
    }


def key_policy(partition: str, account: str, shown_in: str | None = None) -> str:
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
    if shown_in is not None:
        role = f"arn:{partition}:iam::{account}:role/aws-service-role/{FSX_SERVICE}/{FSX_ROLE}_fs-*"
        conditions = {"kms:CallerAccount": account, "kms:ViaService": _s3(shown_in)}
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
    """Return the trust policy: S3 on behalf of this bucket. Source: S3 User Guide, "Setting up permissions for live
    replication".
    """
    condition = {"StringEquals": {"aws:SourceAccount": account}, "ArnLike": {"aws:SourceArn": bucket_arn}}
    principal = {"Service": "s3.amazonaws.com"}
    statement = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole", "Condition": condition}
    return document([statement])


def replication_policy(source: str, source_key: str, copy: str, copy_key: str, *, places: tuple[str, str]) -> str:
    """Return the policy that reads every version of one bucket and replicates it to the other, with each bucket's key
    and through S3.

    Source: S3 User Guide, "Setting up permissions for live replication" and "Replicating encrypted objects". The rights
    for objects under a lock are those of the versions' retention.
    """
    read = ["s3:GetObjectVersionForReplication", "s3:GetObjectVersionAcl", "s3:GetObjectVersionTagging"]
    locks = ["s3:GetObjectRetention", "s3:GetObjectLegalHold"]

    def through(region: str) -> dict[str, Any]:
        return {"StringEquals": {"kms:ViaService": _s3(region)}}

    return document(
        [
            {"Effect": "Allow", "Action": ["s3:GetReplicationConfiguration", "s3:ListBucket"], "Resource": source},
            {"Effect": "Allow", "Action": [*read, *locks], "Resource": f"{source}/*"},
            {"Effect": "Allow", "Action": ["s3:ReplicateObject", "s3:ReplicateTags"], "Resource": f"{copy}/*"},
            {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": source_key, "Condition": through(places[0])},
            {
                "Effect": "Allow",
                "Action": ["kms:Encrypt", "kms:GenerateDataKey"],
                "Resource": copy_key,
                "Condition": through(places[1]),
            },
        ]
    )


def _s3(region: str) -> str:
    """S3 of a region, as KMS names it in conditions. Source: KMS Developer Guide, "kms:ViaService"."""
    region_facts = regions().get(region)
    return (
        f"s3.{region}.amazonaws.com{'.cn' if region_facts is not None and region_facts.partition == 'aws-cn' else ''}"
    )
