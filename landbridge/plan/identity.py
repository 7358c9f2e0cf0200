"""Who may do what in AWS: the nodes, the burst controller, and the on-prem services that write to the hub."""

from collections.abc import Sequence
from typing import Any

from landbridge.environment import Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.hub import document

READ_WRITE = [
    "s3:GetObject",
    "s3:PutObject",
    "s3:DeleteObject",
    "s3:AbortMultipartUpload",
    "s3:ListMultipartUploadParts",
]
LIST = ["s3:ListBucket", "s3:GetBucketLocation", "s3:ListBucketMultipartUploads"]
USE_KEY = ["kms:Decrypt", "kms:GenerateDataKey"]
#: Tags that the burst controller sets after the launch; `landbridge:cluster` is not among them, so nothing can be adopted.
LATER_TAGS = ["Name", "landbridge:node", "landbridge:lease-expires"]


class IdentityArgs(Args):
    """Roles and the secret that carries Slurm's key to the nodes (its value never passes through Pulumi)."""

    cluster: str
    secret_name: str
    controllers: tuple[str, ...]
    hub_writers: tuple[str, ...]
    protect: bool
    tags: dict[str, str]


def identity_args(environment: Environment) -> IdentityArgs:
    """Plan the roles of an environment."""
    return IdentityArgs(
        cluster=environment.name,
        secret_name=f"{environment.name}/slurm-key",
        controllers=tuple(environment.onprem.services.controller),
        hub_writers=(environment.onprem.services.mlops,),
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def instance_trust() -> str:
    """Only EC2 may hand a node its role."""
    return document([{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}])


def onprem_trust(account: str, common_names: Sequence[str]) -> str:
    """IAM Roles Anywhere may assume the role for certificates of these hosts, through a trust anchor of this account."""
    return document(
        [
            {
                "Effect": "Allow",
                "Principal": {"Service": "rolesanywhere.amazonaws.com"},
                "Action": ["sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"],
                "Condition": {
                    "StringEquals": {
                        "aws:SourceAccount": account,
                        "aws:PrincipalTag/x509Subject/CN": list(common_names),
                    }
                },
            }
        ]
    )


def hub_policy(bucket_arns: Sequence[str], key_arns: Sequence[str]) -> str:
    """Read and write objects of the hub, and nothing of its settings."""
    return document(_hub(bucket_arns, key_arns))


def node_policy(bucket_arns: Sequence[str], key_arns: Sequence[str], secret_arn: str) -> str:
    """What a node needs: the hub's objects, and Slurm's key once at boot."""
    read_key = {"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": secret_arn}
    return document([*_hub(bucket_arns, key_arns), read_key])


def launch_policy(cluster: str, partition: str, region: str, account: str, node_role_arn: str, secret_arn: str) -> str:
    """What the burst controller needs: launch, tag and end instances of its own cluster, and publish Slurm's key."""
    ec2 = f"arn:{partition}:ec2:{region}:{account}"
    requested = {"StringEquals": {"aws:RequestTag/landbridge:cluster": cluster}}
    owned = {"StringEquals": {"aws:ResourceTag/landbridge:cluster": cluster}}
    launch = ["ec2:RunInstances", "ec2:CreateFleet"]
    return document(
        [
            _allow("See", ["ec2:Describe*"], "*"),
            _allow("LaunchTagged", launch, [f"{ec2}:instance/*", f"{ec2}:fleet/*"], requested),
            _allow(
                "LaunchInto",
                launch,
                [f"{ec2}:{kind}/*" for kind in ("launch-template", "subnet", "security-group", "placement-group")],
                owned,
            ),
            _allow(
                "LaunchWith",
                launch,
                [
                    *(f"{ec2}:{kind}/*" for kind in ("network-interface", "volume", "capacity-reservation")),
                    f"arn:{partition}:ec2:{region}::image/*",
                    f"arn:{partition}:ec2:{region}:{account}:image/*",
                    f"arn:{partition}:ec2:{region}::snapshot/*",
                ],
            ),
            _allow(
                "TagAtLaunch",
                ["ec2:CreateTags"],
                f"{ec2}:*/*",
                {"StringEquals": {"ec2:CreateAction": ["RunInstances", "CreateFleet"]}},
            ),
            _allow(
                "TagLater",
                ["ec2:CreateTags"],
                f"{ec2}:instance/*",
                {**owned, "ForAllValues:StringEquals": {"aws:TagKeys": LATER_TAGS}},
            ),
            _allow("End", ["ec2:TerminateInstances"], f"{ec2}:instance/*", owned),
            _allow(
                "GiveNodesTheirRole",
                ["iam:PassRole"],
                node_role_arn,
                {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
            ),
            _allow("PublishSlurmKey", ["secretsmanager:PutSecretValue", "secretsmanager:DescribeSecret"], secret_arn),
        ]
    )


def _hub(bucket_arns: Sequence[str], key_arns: Sequence[str]) -> list[dict[str, Any]]:
    if not bucket_arns:
        return []
    return [
        _allow("HubList", LIST, list(bucket_arns)),
        _allow("HubObjects", READ_WRITE, [f"{arn}/*" for arn in bucket_arns]),
        _allow("HubKeys", USE_KEY, list(key_arns)),
    ]


def _allow(
    sid: str, actions: list[str], resource: str | list[str], condition: dict[str, Any] | None = None
) -> dict[str, Any]:
    statement: dict[str, Any] = {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resource}
    return statement if condition is None else {**statement, "Condition": condition}
