"""VPC flow logs: log group, retention and IAM role."""

from landbridge.environment import Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.policy_document import document

#: Aggregation interval: 10 minutes are enough for an audit, and are billed for a tenth of the volume of 1 minute.
INTERVAL_SECONDS = 600
_WRITE = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]


class FlowLogsArgs(Args):
    """Log group of VPC flow logs, and the role that writes into it."""

    cluster: str
    group: str
    retention_days: int
    interval_seconds: int
    role: str
    path: str
    permissions_boundary: str | None
    protect: bool
    tags: dict[str, str]


def flow_logs_args(environment: Environment, region: str = "") -> FlowLogsArgs | None:
    """Plan the flow logs; None if they are disabled. `region` is set for another region: role names are the same in all
    regions.
    """
    logs = environment.aws.logs
    if not logs.flow_logs:
        return None
    return FlowLogsArgs(
        cluster=environment.name,
        group=f"/landbridge/{environment.name}/flow",
        retention_days=logs.retention_days,
        interval_seconds=INTERVAL_SECONDS,
        role=f"{environment.name}-flow-logs{region and '-'}{region}",
        path=environment.aws.iam.path,
        permissions_boundary=environment.aws.iam.permissions_boundary,
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def role_trust(group_arn: str) -> str:
    """Return the trust policy: only VPC flow logs of this account and region.

    Source: VPC User Guide, "IAM role for publishing flow logs to CloudWatch Logs".
    """
    _, partition, _, region, account, *_ = group_arn.split(":")
    condition = {
        "StringEquals": {"aws:SourceAccount": account},
        "ArnLike": {"aws:SourceArn": f"arn:{partition}:ec2:{region}:{account}:vpc-flow-log/*"},
    }
    return document(
        [
            {
                "Effect": "Allow",
                "Principal": {"Service": "vpc-flow-logs.amazonaws.com"},
                "Action": "sts:AssumeRole",
                "Condition": condition,
            }
        ]
    )


def role_policy(group_arn: str) -> str:
    """Return the policy to find the log group and to write into it. Pulumi creates the group, so the role cannot create
    groups.
    """
    group = group_arn.removesuffix(":*")
    arn_prefix, _, _ = group.partition(":log-group:")
    return document(
        [
            {"Effect": "Allow", "Action": _WRITE, "Resource": [group, f"{group}:*"]},
            {"Effect": "Allow", "Action": ["logs:DescribeLogGroups"], "Resource": f"{arn_prefix}:log-group:*"},
        ]
    )
