"""IAM policies of Landbridge's roles: trust policies and permissions. tests/unit/iam tests each claim about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from landbridge.plan.resource_names import ACCOUNT_DIGITS, BACKUPS_PREFIX, DATASETS_PREFIX, HOMES_PREFIX, MODELS_PREFIX
from landbridge.tags import MODEL_SERVER, SERVING

Statement = dict[str, Any]

READ = ["s3:GetObject", "s3:GetObjectTagging"]
WRITE = ["s3:PutObject", "s3:PutObjectTagging", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"]
READ_WRITE = [
    "s3:GetObject",
    "s3:PutObject",
    "s3:DeleteObject",
    "s3:AbortMultipartUpload",
    "s3:ListMultipartUploadParts",
]
LIST = ["s3:ListBucket", "s3:GetBucketLocation", "s3:ListBucketMultipartUploads"]
USE_KEY = ["kms:Decrypt", "kms:GenerateDataKey"]
#: Actions of reports and monitoring: states and metrics, never data, user data or secrets.
DESCRIBE_ACTIONS = [
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeInstanceStatus",
    "ec2:DescribeInstances",
    "ec2:DescribeSubnets",
    "ec2:DescribeVolumes",
    "ec2:DescribeVpnConnections",
    "fsx:DescribeFileSystems",
    "tag:GetResources",
]
_CLASS = "landbridge:data-class"
#: Policy of a role whose data classes have no bucket.
NO_OBJECTS: Statement = {"Sid": "DenyObjects", "Effect": "Deny", "Action": "s3:*", "Resource": "*"}


@dataclass(frozen=True, slots=True)
class ArnContext:
    """Cluster, partition, region and account of ARNs. `others`: further regions of nodes."""

    cluster: str
    partition: str
    region: str
    account: str
    others: tuple[str, ...] = ()

    def ec2(self, kind: str, account: str | None = None) -> str:
        """Return the ARN pattern of all EC2 resources of one type."""
        return self.in_regions("ec2", f"{kind}/*", account)[0]

    def nodes(self, *kinds: str) -> list[str]:
        """Return the ARN patterns of EC2 resource types in every region of nodes."""
        return [arn for kind in kinds for arn in self.in_regions("ec2", f"{kind}/*")]

    def named(self, region: str, resource: str, account: str | None = None) -> str:
        """Return the ARN of one EC2 resource."""
        return f"arn:{self.partition}:ec2:{region}:{self.account if account is None else account}:{resource}"

    def in_regions(self, service: str, resource: str, account: str | None = None) -> list[str]:
        """Return a resource's ARN in every region of nodes, the environment's own region first."""
        account_id = self.account if account is None else account
        return [
            f"arn:{self.partition}:{service}:{region}:{account_id}:{resource}" for region in (self.region, *self.others)
        ]

    @property
    def suffix(self) -> str:
        """DNS suffix of AWS service endpoints."""
        return "amazonaws.com.cn" if self.partition == "aws-cn" else "amazonaws.com"

    @property
    def owned(self) -> Mapping[str, Any]:
        """Condition: the resource has this cluster's tag."""
        return {"StringEquals": {"aws:ResourceTag/landbridge:cluster": self.cluster}}


def allow(
    sid: str, actions: Sequence[str], resource: str | Sequence[str], condition: Mapping[str, Any] | None = None
) -> Statement:
    """Return an Allow statement."""
    resources = resource if isinstance(resource, str) else list(resource)
    statement: Statement = {"Sid": sid, "Effect": "Allow", "Action": list(actions), "Resource": resources}
    return statement if condition is None else {**statement, "Condition": dict(condition)}


def single_or_list(arns: Sequence[str]) -> str | list[str]:
    """Return a single ARN as a string, several as a list, as IAM writes policies."""
    return arns[0] if len(arns) == 1 else list(arns)


def service_trust(service: str, account: str | None = None) -> Statement:
    """Return a trust statement: only this service may assume the role; with `account`, only on behalf of that account."""
    statement: Statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    condition = {"StringEquals": {"aws:SourceAccount": account}}
    return statement if account is None else {**statement, "Condition": condition}


def roles_anywhere_trust(account: str, common_names: Sequence[str], anchor: str | None = None) -> Statement:
    """Return a trust statement: IAM Roles Anywhere assumes the role for these hosts' certificates, through this
    account's trust anchor.

    Without an anchor of Landbridge, every anchor of the account is accepted: the account's owner is responsible for its
    CA.
    """
    names = {"aws:SourceAccount": account, "aws:PrincipalTag/x509Subject/CN": list(common_names)}
    condition: dict[str, Any] = {"StringEquals": names}
    if anchor is not None:
        condition["ArnEquals"] = {"aws:SourceArn": anchor}
    return {
        "Effect": "Allow",
        "Principal": {"Service": "rolesanywhere.amazonaws.com"},
        "Action": ["sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"],
        "Condition": condition,
    }


def deny_restricted_classes(partition: str, classes: Sequence[str], bucket_prefixes: Sequence[str]) -> list[Statement]:
    """Return statements that deny every access to data classes that must stay on-prem: by bucket name and by tag.

    Landbridge creates no such bucket; the statements cover other buckets, and permissions from statements of the
    environment file.
    """
    if not classes:
        return []
    # One ? for each digit of the account id: with * class `a` would match every class whose name starts with `a-`.
    buckets = [f"arn:{partition}:s3:::{prefix}-{'?' * ACCOUNT_DIGITS}" for prefix in bucket_prefixes]
    resources = [arn for bucket in buckets for arn in (bucket, f"{bucket}/*")]
    return [
        {"Sid": "DenyRestrictedBuckets", "Effect": "Deny", "Action": "s3:*", "Resource": resources},
        _deny_tagged("DenyRestrictedResourceTag", "*", f"aws:ResourceTag/{_CLASS}", classes),
        _deny_tagged("DenyRestrictedObjectTag", "s3:*", f"s3:ExistingObjectTag/{_CLASS}", classes),
        _deny_tagged("DenyRestrictedUploadTag", "s3:*", f"s3:RequestObjectTag/{_CLASS}", classes),
    ]


def _deny_tagged(sid: str, action: str, key: str, classes: Sequence[str]) -> Statement:
    condition = {"StringEquals": {key: list(classes)}}
    return {"Sid": sid, "Effect": "Deny", "Action": action, "Resource": "*", "Condition": condition}


def hub(bucket_arns: Sequence[str], key_arns: Sequence[str], objects: Sequence[str] = READ_WRITE) -> list[Statement]:
    """Return statements for the hub's objects; they do not permit changes of bucket settings."""
    if not bucket_arns:
        return []
    return [
        allow("ListHubBuckets", LIST, bucket_arns),
        allow("ReadWriteHubObjects", objects, [f"{arn}/*" for arn in bucket_arns]),
        allow("UseHubKeys", USE_KEY, key_arns),
    ]


def deny_backups(bucket_arns: Sequence[str]) -> Statement:
    """Return the statement that keeps jobs out of the copies of databases, which have the runs and password hashes of every
    user of the class.
    """
    copies = single_or_list([f"{arn}/{BACKUPS_PREFIX}/*" for arn in bucket_arns])
    return {"Sid": "DenyBackups", "Effect": "Deny", "Action": "s3:*", "Resource": copies}


def deny_dataset_changes(bucket_arns: Sequence[str]) -> Statement:
    """Return the statement that keeps jobs from changing datasets, which other jobs of the class read: a version never changes,
    and the role `mover` alone writes it. The archive of models is the role `archive`'s: a job could take the key of a bundle first, or
    end its upload.
    """
    datasets = [f"{arn}/{prefix}/*" for arn in bucket_arns for prefix in (DATASETS_PREFIX, MODELS_PREFIX)]
    changes = ["s3:Put*", "s3:Delete*", "s3:AbortMultipartUpload"]
    return {"Sid": "DenyChangesOfDatasets", "Effect": "Deny", "Action": changes, "Resource": datasets}


def mover(bucket_arns: Sequence[str], key_arns: Sequence[str]) -> list[Statement]:
    """Return statements of the data mover between on-prem storage and the hub: read and write, no delete."""
    return hub(bucket_arns, key_arns, [*READ, *WRITE])


def remove_locks(bucket_arn: str) -> Statement:
    """Return the right to remove the locks of restic's repository with the copies of homes, and nothing else of it.

    Source: restic, "Repository layout": a backup writes a lock and removes it (read 2026-11-26).
    """
    return allow("RemoveLocksOfCopies", ["s3:DeleteObject"], f"{bucket_arn}/{HOMES_PREFIX}/locks/*")


def archive(bucket_arns: Sequence[str], key_arns: Sequence[str], place: ArnContext) -> list[Statement]:
    """Return the rights of the archive of model registries: it lists its keys and adds objects. It reads and deletes none.

    An object is created only if its key is not used: without that condition it would be a further version, and the bucket keeps each.
    CreateMultipartUpload and UploadPart create no object and have no such header. S3 decrypts the parts when it joins
    them, which is the only use of kms:Decrypt: the role may use the key to read, so that reads are denied besides. Sources (2026-11-27): S3 User Guide, "Enforce conditional writes on Amazon S3 buckets";
    S3 API Reference, CreateMultipartUpload, UploadPart and CompleteMultipartUpload, "Permissions"; KMS Developer Guide, "kms:ViaService".
    """
    if not bucket_arns:
        return []
    below = {"StringLike": {"s3:prefix": f"{MODELS_PREFIX}/*"}}
    new = {"Null": {"s3:if-none-match": "false"}}
    part = {"Bool": {"s3:ObjectCreationOperation": "false"}}
    via_s3 = {"StringEquals": {"kms:ViaService": f"s3.{place.region}.{place.suffix}"}}
    models = [f"{arn}/{MODELS_PREFIX}/*" for arn in bucket_arns]
    return [
        allow("ListArchive", ["s3:ListBucket"], bucket_arns, below),
        allow("AddToArchive", ["s3:PutObject"], models, new),
        allow("SendPartsToArchive", ["s3:PutObject"], models, part),
        allow("EndUploadsToArchive", ["s3:AbortMultipartUpload"], models),
        allow("EncryptArchive", ["kms:GenerateDataKey"], key_arns),
        allow("JoinPartsOfArchive", ["kms:Decrypt"], key_arns, via_s3),
        {"Sid": "DenyReadsOfObjects", "Effect": "Deny", "Action": "s3:GetObject*", "Resource": "*"},
    ]


def read(place: ArnContext) -> list[Statement]:
    """Return statements to describe resources and read metrics and budgets."""
    budgets = f"arn:{place.partition}:budgets::{place.account}:budget/{place.cluster}*"
    shares = f"arn:{place.partition}:elasticfilesystem:{place.region}:{place.account}:file-system/*"
    return [
        allow("DescribeResources", DESCRIBE_ACTIONS, "*"),
        allow("GetMetricData", ["cloudwatch:GetMetricData", "cloudwatch:ListMetrics"], "*"),
        allow("DescribeFileSystems", ["elasticfilesystem:DescribeFileSystems"], shares),
        allow("ViewBudgets", ["budgets:ViewBudget"], budgets),
    ]


def discover() -> list[Statement]:
    """Return the statement to find the nodes whose metrics Prometheus reads. The action has no condition on resources.

    Source: Service Authorization Reference, "Actions defined by Amazon EC2", DescribeInstances (2026-11-26).
    """
    return [allow("FindNodes", ["ec2:DescribeInstances"], "*")]


def start_and_stop(place: ArnContext) -> list[Statement]:
    """Return the model gateway's rights: it starts and stops the cluster's hosts of model servers, and no other instance.

    DescribeInstances has no condition on resources. Source: Service Authorization Reference, "Actions defined by Amazon EC2" (2026-11-26).
    """
    tagged = {"StringEquals": {**place.owned["StringEquals"], f"aws:ResourceTag/{SERVING}": MODEL_SERVER}}
    actions = ["ec2:StartInstances", "ec2:StopInstances"]
    return [
        allow("FindModelServers", ["ec2:DescribeInstances"], "*"),
        allow("StartAndStopModelServers", actions, place.ec2("instance"), tagged),
    ]


def secret(place: ArnContext, secret_arn: str, key_arn: str) -> list[Statement]:
    """Return statements to read one secret, and to use its KMS key through Secrets Manager only."""
    via_secrets_manager = {"StringEquals": {"kms:ViaService": f"secretsmanager.{place.region}.{place.suffix}"}}
    return [
        allow("ReadSecret", ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"], secret_arn),
        allow("DecryptSecret", ["kms:Decrypt"], key_arn, via_secrets_manager),
    ]


def session(place: ArnContext) -> list[Statement]:
    """Return the SSM Agent's statements for Session Manager and ssh through it; no Run Command, no parameters.

    Source: Systems Manager User Guide, "Create a custom IAM role for Session Manager".
    """
    in_region = {"StringEquals": {"aws:RequestedRegion": place.region}}
    channels = ("CreateControlChannel", "CreateDataChannel", "OpenControlChannel", "OpenDataChannel")
    return [
        allow("UpdateInstanceInformation", ["ssm:UpdateInstanceInformation"], place.ec2("instance")),
        # Channels have no ARN.
        allow("OpenSessionChannels", [f"ssmmessages:{name}" for name in channels], "*", in_region),
    ]
