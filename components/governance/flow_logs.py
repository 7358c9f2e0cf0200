"""VPC flow logs."""

import pulumi
import pulumi_aws as aws

from components.parts.component import Component
from landbridge.plan.args import named
from landbridge.plan.network.flow_logs import FlowLogsArgs, role_policy, role_trust


class FlowLogs(Component):
    """VPC flow logs of all connections, accepted or rejected, in a CloudWatch Logs log group.

    Costs about 0.50 USD for each GB written, and little for storage. Protects: with `protect`, the log group stays when the
    stack is deleted. Opens nothing: its role can write into this log group only, for flow logs of this account and region.
    """

    group_arn: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: FlowLogsArgs,
        *,
        vpc_id: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"group": args.group}, opts)
        resource_options = pulumi.ResourceOptions(parent=self)
        group = aws.cloudwatch.LogGroup(
            f"{name}-flow",
            name=args.group,
            retention_in_days=args.retention_days,
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self, protect=args.protect, retain_on_delete=args.protect),
        )
        role = aws.iam.Role(
            f"{name}-flow",
            name=args.role,
            path=args.path,
            permissions_boundary=args.permissions_boundary,
            description=f"Landbridge {args.cluster}: flow logs of the VPC",
            assume_role_policy=group.arn.apply(role_trust),
            tags=named(args.tags, args.role),
            opts=resource_options,
        )
        write_policy = aws.iam.RolePolicy(
            f"{name}-flow", name="flow-logs", role=role.name, policy=group.arn.apply(role_policy), opts=resource_options
        )
        aws.ec2.FlowLog(
            f"{name}-flow",
            vpc_id=vpc_id,
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_destination=group.arn,
            iam_role_arn=role.arn,
            max_aggregation_interval=args.interval_seconds,
            tags=named(args.tags, f"{args.cluster}-flow"),
            # A flow log whose first delivery is denied stays in an error state: create it after the role's policy.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[write_policy]),
        )
        self.group_arn = group.arn
        self.register_outputs({"groupArn": group.arn})
