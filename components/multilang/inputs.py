"""Common inputs of the adapters, and the environment for their plan functions."""

from typing import Any, NotRequired, TypedDict, TypeVar

from landbridge.environment import Environment
from landbridge.plan.standalone import standalone_environment

Plan = TypeVar("Plan")


class OwnedInputs(TypedDict):
    """Cluster, owner and cost center: the tags of every resource."""

    cluster: str
    """The cluster's name: the prefix of every resource's name, and a tag."""
    region: str
    """The region of the AWS provider."""
    owner: str
    """The owner's e-mail address: a tag."""
    cost_center: str
    """The cost center that pays: a tag."""
    onprem_cidr: NotRequired[str]
    """The CIDR on-prem; no other addresses are permitted. Default: 10.20.0.0/16."""


def environment_of(args: OwnedInputs, **settings: Any) -> Environment:
    """Return a standalone environment with the inputs and `settings` (keywords of standalone_environment)."""
    return standalone_environment(
        args["cluster"],
        args["region"],
        owner=args["owner"],
        cost_center=args["cost_center"],
        onprem_cidr=args.get("onprem_cidr", "10.20.0.0/16"),
        **settings,
    )


def required_plan(plan: Plan | None, name: str) -> Plan:
    """Return the plan. Raises ValueError if the inputs give no resource."""
    if plan is None:
        raise ValueError(f"the inputs ask for no {name}")
    return plan


def with_integers(value: Any) -> Any:
    """Return a value with integral floats as integers: Pulumi's protocol has floats only, and the environment's models
    are strict.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: with_integers(item) for key, item in value.items()}
    return [with_integers(item) for item in value] if isinstance(value, list | tuple) else value
