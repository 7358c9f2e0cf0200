"""`landbridge:index:FlowLogs`."""

from typing import NotRequired

import pulumi

import components
from components.package.inputs import OwnedInputs, planned, site_of, wanted_plan
from landbridge.plan.network.flow_logs import FlowLogsArgs, flow_logs_args


class FlowLogsInputs(OwnedInputs):
    """Flow logs of a VPC."""

    vpc_id: pulumi.Input[str]
    """The VPC."""
    retention_days: NotRequired[int]
    """How long they are kept; 180 unless it is said otherwise."""


class FlowLogs(pulumi.ComponentResource):
    """Every connection in a VPC, in a log group of CloudWatch Logs; about 0.50 USD a GB that is written."""

    group_arn: pulumi.Output[str]
    """The log group."""

    def __init__(self, name: str, args: FlowLogsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> FlowLogsArgs:
            site = site_of(
                args,
                aws={"logs": {"flow_logs": True, "retention_days": int(args.get("retention_days", 180))}},
            )
            return wanted_plan(flow_logs_args(site), "flow logs")

        wanted = planned(f"FlowLogs {name}", plan)
        super().__init__("landbridge:index:FlowLogs", name, dict(args), opts)
        own = pulumi.ResourceOptions(parent=self)
        made = components.FlowLogs(name, wanted, vpc_id=args["vpc_id"], opts=own)
        self.group_arn = made.group_arn
        self.register_outputs({"groupArn": self.group_arn})
