"""What every hosted component needs to know, and how wrong values are told."""

from collections.abc import Callable
from typing import Any, NotRequired, TypedDict, TypeVar

import pulumi
import pulumi_aws as aws

from components.account import Account
from landbridge.environment import Environment
from landbridge.findings import FindingsError, path_text
from landbridge.plan.standalone import standalone_environment

T = TypeVar("T")


class OwnedInputs(TypedDict):
    """Whose it is: the tags on everything."""

    cluster: str
    """The cluster's name: the beginning of every name, and a tag."""
    region: str
    """The region of the AWS provider that is given."""
    owner: str
    """Who is asked about it."""
    cost_center: str
    """Who pays."""
    onprem_cidr: NotRequired[str]
    """The addresses on-prem; nothing else is let in."""


def planned(what: str, plan: Callable[[], T]) -> T:
    """Plan, and tell what is wrong as problems of the inputs, before anything is registered."""
    try:
        return plan()
    except FindingsError as error:
        problems = [
            {"property_path": path_text(finding.path) or "args", "reason": finding.message}
            for finding in error.findings
        ]
    except (KeyError, ValueError) as error:
        problems = [{"property_path": "args", "reason": str(error)}]
    # The host of components tells no more than the message of what a constructor raises (SDK 3.272).
    reasons = "; ".join(f"{one['property_path']}: {one['reason']}" for one in problems)
    raise pulumi.InputPropertiesError(f"{what}: {reasons}", problems)  # type: ignore[arg-type]


def site_of(args: OwnedInputs, **more: Any) -> Environment:
    """An environment of nothing but what the component was given; `more` is as landbridge.plan.standalone has it."""
    return standalone_environment(
        args["cluster"],
        args["region"],
        owner=args["owner"],
        cost_center=args["cost_center"],
        onprem_cidr=args.get("onprem_cidr", "10.20.0.0/16"),
        **more,
    )


def wanted_plan(plan: T | None, what: str) -> T:
    """A plan that the given values must lead to. Raises ValueError where they ask for nothing."""
    if plan is None:
        raise ValueError(f"nothing is asked for: {what}")
    return plan


def whole(value: Any) -> Any:
    """Values as an environment file has them: the wire knows no whole numbers, and the models are strict."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list | tuple) else value


def account_of(component: pulumi.ComponentResource) -> Account:
    """The account that a component is made in, by the provider that it was given."""
    asked = pulumi.InvokeOutputOptions(parent=component)
    return Account(
        id=aws.get_caller_identity_output(opts=asked).account_id,
        partition=aws.get_partition_output(opts=asked).partition,
    )
