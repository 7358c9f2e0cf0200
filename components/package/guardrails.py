"""`landbridge:index:Guardrails`."""

from typing import Any, NotRequired

import pulumi

import components
from components.package.inputs import OwnedInputs, account_of, planned, site_of, whole
from landbridge.plan.aws.guardrails import GuardrailsArgs, guardrails_args


class GuardrailsInputs(OwnedInputs):
    """What keeps a bill and a node from running away."""

    launch_role_name: pulumi.Input[str]
    """The role that launches nodes: a hard budget denies it."""
    launch_role_arn: pulumi.Input[str]
    """Its ARN."""
    budget: NotRequired[dict[str, Any]]
    """As budget in an environment file: monthly_usd, hard."""
    guardrails: NotRequired[dict[str, Any]]
    """As aws.guardrails in an environment file: lease_reaper, anomaly_usd, cost_tags, trail."""


class Guardrails(pulumi.ComponentResource):
    """A budget that writes and, where it is hard, denies launches; a function that ends nodes past their lease; an audit trail."""

    def __init__(self, name: str, args: GuardrailsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> GuardrailsArgs:
            site = site_of(
                args,
                budget=whole(args.get("budget", {"monthly_usd": 1})),
                aws={"guardrails": whole(args.get("guardrails", {}))},
            )
            return guardrails_args(site)

        wanted = planned(f"Guardrails {name}", plan)
        super().__init__("landbridge:index:Guardrails", name, dict(args), opts)
        components.Guardrails(
            name,
            wanted,
            account=account_of(self),
            region=args["region"],
            launch_role_name=args["launch_role_name"],
            launch_role_arn=args["launch_role_arn"],
            opts=pulumi.ResourceOptions(parent=self),
        )

        self.register_outputs({})
