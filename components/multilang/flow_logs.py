"""`landbridge:index:FlowLogs`."""

from typing import NotRequired

import pulumi

from components.governance import flow_logs
from components.multilang.inputs import OwnedInputs, environment_of, required_plan
from components.parts.adapter import Adapter
from landbridge.plan.network.flow_logs import FlowLogsArgs, flow_logs_args


class FlowLogsInputs(OwnedInputs):
    """Flow logs of a VPC."""

    vpc_id: pulumi.Input[str]
    """The VPC."""
    retention_days: NotRequired[int]
    """Retention of the log group in days. Default: 180."""


class FlowLogs(Adapter):
    """Every connection in a VPC, in a log group of CloudWatch Logs; about 0.50 USD for each GB written."""

    group_arn: pulumi.Output[str]
    """The log group."""

    def __init__(self, name: str, args: FlowLogsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts, plan=_plan, component=flow_logs.FlowLogs)


def _plan(args: FlowLogsInputs) -> FlowLogsArgs:
    logs = {"flow_logs": True, "retention_days": int(args.get("retention_days", 180))}
    return required_plan(flow_logs_args(environment_of(args, aws={"logs": logs})), "flow logs")


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "vpc_id": "vpc-1",
    "retention_days": 90.0,
}
