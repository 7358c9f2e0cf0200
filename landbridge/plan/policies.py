"""The documents of Landbridge's roles: who may take one, and what it allows. Each claim about them is a test in tests/unit/iam."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from landbridge.plan.hub import ACCOUNT_DIGITS

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
#: What a launch looks at: CreateFleet refuses a template whose parts its caller may not see.
SEE_LAUNCH = [
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeImages",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeInstances",
    "ec2:DescribeLaunchTemplateVersions",
    "ec2:DescribeLaunchTemplates",
    "ec2:DescribePlacementGroups",
    "ec2:DescribeSubnets",
]
#: What reports and watchers read: states and numbers, never data, user data or secrets.
SEE_ALL = [
    *SEE_LAUNCH[:1],
    "ec2:DescribeInstanceStatus",
    "ec2:DescribeInstances",
    "ec2:DescribeSubnets",
    "ec2:DescribeVolumes",
    "ec2:DescribeVpnConnections",
    "fsx:DescribeFileSystems",
    "tag:GetResources",
]
#: Tags that the burst controller sets after the launch; `landbridge:cluster` is not among them, so nothing can be adopted.
LATER_TAGS = ["Name", "landbridge:node", "landbridge:lease-expires"]
_CLASS = "landbridge:data-class"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the roles are: what ARNs are made of."""

    cluster: str
    partition: str
    region: str
    account: str

    def ec2(self, kind: str, account: str | None = None) -> str:
        """Everything of one kind in EC2."""
        return f"arn:{self.partition}:ec2:{self.region}:{self.account if account is None else account}:{kind}/*"

    @property
    def owned(self) -> Mapping[str, Any]:
        """The condition that something carries this cluster's tag."""
        return {"StringEquals": {"aws:ResourceTag/landbridge:cluster": self.cluster}}


def allow(
    sid: str, actions: Sequence[str], resource: str | Sequence[str], condition: Mapping[str, Any] | None = None
) -> Statement:
    """One statement that allows."""
    found = resource if isinstance(resource, str) else list(resource)
    statement: Statement = {"Sid": sid, "Effect": "Allow", "Action": list(actions), "Resource": found}
    return statement if condition is None else {**statement, "Condition": dict(condition)}


def service_trust(service: str, account: str | None = None) -> Statement:
    """Only this service may take the role, and where `account` is given only on behalf of that account."""
    statement: Statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    condition = {"StringEquals": {"aws:SourceAccount": account}}
    return statement if account is None else {**statement, "Condition": condition}


def onprem_trust(account: str, common_names: Sequence[str], anchor: str | None = None) -> Statement:
    """IAM Roles Anywhere may take the role for certificates of these hosts, through this anchor of this account.

    Without an anchor of Landbridge's own it is any anchor of the account: whoever made it answers for its CA.
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


def restricted(partition: str, classes: Sequence[str], bucket_prefixes: Sequence[str]) -> list[Statement]:
    """Deny, whatever else allows it, everything of a class that must stay on-prem: by its buckets' names and by its tag.

    Landbridge makes no such bucket; this holds for one that somebody makes, and for rights that the file gives besides.
    """
    if not classes:
        return []
    # Exactly an account's digits: with * a class `a` would also be every class that starts with `a-`.
    buckets = [f"arn:{partition}:s3:::{prefix}-{'?' * ACCOUNT_DIGITS}" for prefix in bucket_prefixes]
    named = [arn for bucket in buckets for arn in (bucket, f"{bucket}/*")]
    return [
        {"Sid": "NeverRestrictedBuckets", "Effect": "Deny", "Action": "s3:*", "Resource": named},
        _never("NeverRestrictedTag", "*", f"aws:ResourceTag/{_CLASS}", classes),
        _never("NeverRestrictedObject", "s3:*", f"s3:ExistingObjectTag/{_CLASS}", classes),
        _never("NeverRestrictedUpload", "s3:*", f"s3:RequestObjectTag/{_CLASS}", classes),
    ]


def _never(sid: str, action: str, key: str, classes: Sequence[str]) -> Statement:
    condition = {"StringEquals": {key: list(classes)}}
    return {"Sid": sid, "Effect": "Deny", "Action": action, "Resource": "*", "Condition": condition}


def hub(bucket_arns: Sequence[str], key_arns: Sequence[str], objects: Sequence[str] = READ_WRITE) -> list[Statement]:
    """The hub's objects, and nothing of its settings."""
    if not bucket_arns:
        return []
    return [
        allow("HubList", LIST, bucket_arns),
        allow("HubObjects", objects, [f"{arn}/*" for arn in bucket_arns]),
        allow("HubKeys", USE_KEY, key_arns),
    ]


def mover(bucket_arns: Sequence[str], key_arns: Sequence[str]) -> list[Statement]:
    """Copy between on-prem storage and the hub: it reads and writes, and can delete nothing."""
    return hub(bucket_arns, key_arns, [*READ, *WRITE])


def node(bucket_arns: Sequence[str], key_arns: Sequence[str], secret_arn: str) -> list[Statement]:
    """What a node needs: the hub's objects, and Slurm's key once at boot."""
    return [*hub(bucket_arns, key_arns), allow("ReadSlurmKey", ["secretsmanager:GetSecretValue"], secret_arn)]


def launch(place: Place, node_role_arn: str, secret_arn: str) -> list[Statement]:
    """What the burst controller starts nodes with: launch and tag instances of its own cluster, and publish Slurm's key."""
    requested = {"StringEquals": {"aws:RequestTag/landbridge:cluster": place.cluster}}
    start = ["ec2:RunInstances", "ec2:CreateFleet"]
    owned_parts = ("launch-template", "subnet", "security-group", "placement-group")
    new_parts = ("network-interface", "volume", "capacity-reservation")
    return [
        allow("See", SEE_LAUNCH, "*"),
        allow("LaunchTagged", start, [place.ec2("instance"), place.ec2("fleet")], requested),
        allow("LaunchInto", start, [place.ec2(kind) for kind in owned_parts], place.owned),
        allow(
            "LaunchWith",
            start,
            [
                *(place.ec2(kind) for kind in new_parts),
                place.ec2("image", ""),
                place.ec2("image"),
                place.ec2("snapshot", ""),
            ],
        ),
        allow(
            "TagAtLaunch",
            ["ec2:CreateTags"],
            [place.ec2(kind) for kind in ("instance", "fleet", "volume", "network-interface")],
            {"StringEquals": {"ec2:CreateAction": ["RunInstances", "CreateFleet"]}},
        ),
        allow(
            "TagLater",
            ["ec2:CreateTags"],
            place.ec2("instance"),
            {
                **place.owned,
                "ForAllValues:StringEquals": {"aws:TagKeys": LATER_TAGS},
                "Null": {"aws:TagKeys": "false"},
            },
        ),
        allow(
            "GiveNodesTheirRole",
            ["iam:PassRole"],
            node_role_arn,
            {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
        ),
        allow(
            "PublishSlurmKey",
            ["secretsmanager:PutSecretValue", "secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
            secret_arn,
        ),
    ]


def terminate(place: Place) -> list[Statement]:
    """End instances of this cluster, and find them."""
    return [
        allow("See", ["ec2:DescribeInstances"], "*"),
        allow("End", ["ec2:TerminateInstances"], place.ec2("instance"), place.owned),
    ]


def read(place: Place) -> list[Statement]:
    """See what there is and what it costs."""
    budgets = f"arn:{place.partition}:budgets::{place.account}:budget/{place.cluster}*"
    shares = f"arn:{place.partition}:elasticfilesystem:{place.region}:{place.account}:file-system/*"
    return [
        allow("See", SEE_ALL, "*"),
        allow("SeeNumbers", ["cloudwatch:GetMetricData", "cloudwatch:ListMetrics"], "*"),
        allow("SeeShares", ["elasticfilesystem:DescribeFileSystems"], shares),
        allow("SeeBudgets", ["budgets:ViewBudget"], budgets),
    ]
