"""The documents of Landbridge's roles: who may take one, and what it allows. Each claim about them is a test in tests/unit/iam."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from landbridge.plan.resource_names import ACCOUNT_DIGITS

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
#: What reports and watchers read: states and numbers, never data, user data or secrets.
SEE_ALL = [
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeInstanceStatus",
    "ec2:DescribeInstances",
    "ec2:DescribeSubnets",
    "ec2:DescribeVolumes",
    "ec2:DescribeVpnConnections",
    "fsx:DescribeFileSystems",
    "tag:GetResources",
]
#: What the burst controller changes after the launch, which gives all other tags: until when a node may run.
LATER_TAGS = ["landbridge:lease-expires"]
_CLASS = "landbridge:data-class"


@dataclass(frozen=True, slots=True)
class ArnContext:
    """Where the roles are: what ARNs are made of. `others`: more regions that nodes may be in."""

    cluster: str
    partition: str
    region: str
    account: str
    others: tuple[str, ...] = ()

    def ec2(self, kind: str, account: str | None = None) -> str:
        """Everything of one kind in EC2."""
        return self.in_regions("ec2", f"{kind}/*", account)[0]

    def nodes(self, *kinds: str) -> list[str]:
        """Everything of these kinds in EC2, in every region that nodes may be in."""
        return [arn for kind in kinds for arn in self.in_regions("ec2", f"{kind}/*")]

    def in_regions(self, service: str, resource: str, account: str | None = None) -> list[str]:
        """A resource's ARN in every region that nodes may be in, the environment's own first."""
        own = self.account if account is None else account
        return [f"arn:{self.partition}:{service}:{region}:{own}:{resource}" for region in (self.region, *self.others)]

    @property
    def suffix(self) -> str:
        """What addresses of AWS's services end with."""
        return "amazonaws.com.cn" if self.partition == "aws-cn" else "amazonaws.com"

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


def single_or_list(arns: Sequence[str]) -> str | list[str]:
    """As policies are written: one resource stands without a list."""
    return arns[0] if len(arns) == 1 else list(arns)


def service_trust(service: str, account: str | None = None) -> Statement:
    """Only this service may take the role, and where `account` is given only on behalf of that account."""
    statement: Statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    condition = {"StringEquals": {"aws:SourceAccount": account}}
    return statement if account is None else {**statement, "Condition": condition}


def roles_anywhere_trust(account: str, common_names: Sequence[str], anchor: str | None = None) -> Statement:
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


def deny_restricted_classes(partition: str, classes: Sequence[str], bucket_prefixes: Sequence[str]) -> list[Statement]:
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


def launch(place: ArnContext, node_role_arn: str, secret_arn: str) -> list[Statement]:
    """What the burst controller starts nodes with: launch and tag instances of its own cluster, and publish Slurm's key.

    Source: Service Authorization Reference, "Actions defined by Amazon EC2", RunInstances; EC2 User Guide, "Use a Systems Manager
    parameter instead of an AMI ID in launch templates", for the parameters.
    """
    requested = {"StringEquals": {"aws:RequestTag/landbridge:cluster": place.cluster}}
    start = ["ec2:RunInstances"]
    new_parts = place.nodes("instance", "volume", "network-interface")
    owned_parts = place.nodes("launch-template", "subnet", "security-group", "placement-group")
    used_parts = [
        *place.nodes("capacity-reservation"),
        *place.in_regions("ec2", "image/*", ""),
        *place.nodes("image"),
        *place.in_regions("ec2", "snapshot/*", ""),
        *place.in_regions("resource-groups", "group/*"),
    ]
    images = [
        *place.in_regions("ssm", f"parameter/landbridge/{place.cluster}/*"),
        *place.in_regions("ssm", "parameter/aws/service/*", ""),
    ]
    return [
        allow("See", ["ec2:DescribeInstances"], "*"),
        allow("LaunchTagged", start, new_parts, requested),
        allow("LaunchInto", start, owned_parts, place.owned),
        allow("LaunchWith", start, used_parts),
        allow("FindImage", ["ssm:GetParameters"], images),
        allow("TagAtLaunch", ["ec2:CreateTags"], new_parts, {"StringEquals": {"ec2:CreateAction": ["RunInstances"]}}),
        allow(
            "TagLater",
            ["ec2:CreateTags"],
            single_or_list(place.nodes("instance")),
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


def terminate(place: ArnContext) -> list[Statement]:
    """End instances of this cluster, and what a launch made for them and nothing uses any more; and find both."""
    of_a_launch = {**place.owned, "StringLike": {"aws:ResourceTag/landbridge:launch": "lb-*"}}
    return [
        allow("See", ["ec2:DescribeInstances", "ec2:DescribeVolumes", "ec2:DescribeNetworkInterfaces"], "*"),
        allow("End", ["ec2:TerminateInstances"], single_or_list(place.nodes("instance")), place.owned),
        allow("EndVolumes", ["ec2:DeleteVolume"], single_or_list(place.nodes("volume")), of_a_launch),
        allow(
            "EndInterfaces",
            ["ec2:DeleteNetworkInterface"],
            single_or_list(place.nodes("network-interface")),
            of_a_launch,
        ),
    ]


def read(place: ArnContext) -> list[Statement]:
    """See what there is and what it costs."""
    budgets = f"arn:{place.partition}:budgets::{place.account}:budget/{place.cluster}*"
    shares = f"arn:{place.partition}:elasticfilesystem:{place.region}:{place.account}:file-system/*"
    return [
        allow("See", SEE_ALL, "*"),
        allow("SeeNumbers", ["cloudwatch:GetMetricData", "cloudwatch:ListMetrics"], "*"),
        allow("SeeShares", ["elasticfilesystem:DescribeFileSystems"], shares),
        allow("SeeBudgets", ["budgets:ViewBudget"], budgets),
    ]


def secret(place: ArnContext, secret_arn: str, key_arn: str) -> list[Statement]:
    """Read one secret, and use its key for nothing but secrets."""
    via = {"StringEquals": {"kms:ViaService": f"secretsmanager.{place.region}.{place.suffix}"}}
    return [
        allow("ReadSecret", ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"], secret_arn),
        allow("OpenSecret", ["kms:Decrypt"], key_arn, via),
    ]


def session(place: ArnContext) -> list[Statement]:
    """What Systems Manager's agent needs for sessions and for ssh through them; it runs no commands and reads no parameters.

    Source: Systems Manager User Guide, "Create a custom IAM role for Session Manager".
    """
    here = {"StringEquals": {"aws:RequestedRegion": place.region}}
    channels = ("CreateControlChannel", "CreateDataChannel", "OpenControlChannel", "OpenDataChannel")
    return [
        allow("KnowTheHost", ["ssm:UpdateInstanceInformation"], place.ec2("instance")),
        # Channels have no ARN that could be named.
        allow("HoldSessions", [f"ssmmessages:{name}" for name in channels], "*", here),
    ]
