"""`landbridge:index:Guardrails`."""

from typing import Any, NotRequired

import pulumi

from components.governance import guardrails
from components.multilang.inputs import OwnedInputs, environment_of, with_integers
from components.parts.adapter import Adapter
from landbridge.plan.aws.guardrails import GuardrailsArgs, guardrails_args


class GuardrailsInputs(OwnedInputs):
    """Limits on the bill and on the life of nodes."""

    launch_role_name: pulumi.Input[str]
    """The role that launches nodes: a hard budget denies it launches."""
    launch_role_arn: pulumi.Input[str]
    """The launch role's ARN."""
    budget: NotRequired[dict[str, Any]]
    """As budget in an environment file: monthly_usd, hard."""
    guardrails: NotRequired[dict[str, Any]]
    """As aws.guardrails in an environment file: reaper, alarms, anomaly_usd, cost_tags, trail."""


class Guardrails(Adapter):
    """AWS Budgets with alerts and, if hard, a denial of launches; a Lambda function that terminates nodes after their lease; a CloudTrail trail."""

    def __init__(self, name: str, args: GuardrailsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts, plan=_plan, component=guardrails.Guardrails)


def _plan(args: GuardrailsInputs) -> GuardrailsArgs:
    budget, settings = args.get("budget", {"monthly_usd": 1}), args.get("guardrails", {})
    environment = environment_of(args, budget=with_integers(budget), aws={"guardrails": with_integers(settings)})
    return guardrails_args(environment)


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "launch_role_name": "lab-launch",
    "launch_role_arn": "arn:aws:iam::123456789012:role/lab-launch",
    "budget": {"monthly_usd": 1000.0},
    "guardrails": {"anomaly_usd": 50.0},
}
