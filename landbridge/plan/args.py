"""Base class and tags of plan values: frozen, closed, comparable, without network access."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from landbridge.environment import Environment

#: MarketType of a launch template, with "on-demand" for none. Source: EC2 API Reference, LaunchTemplateInstanceMarketOptions.
MarketKind = Literal["on-demand", "spot", "capacity-block"]


class Args(BaseModel):
    """Frozen value that a component, a role or a daemon receives; every decision is already made."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


def tags(environment: Environment, **additional: str) -> dict[str, str]:
    """Return the tags of every AWS resource; keyword `data_class` becomes `landbridge:data-class`."""
    environment_tags = {
        "landbridge:cluster": environment.name,
        "landbridge:owner": environment.owner,
        "landbridge:cost-center": environment.cost_center,
    }
    return {
        **environment.aws.tags,
        **environment_tags,
        **{f"landbridge:{key.replace('_', '-')}": value for key, value in additional.items()},
    }


def named(tags: Mapping[str, str], name: str) -> dict[str, str]:
    """Return tags with AWS's `Name` tag added."""
    return {**tags, "Name": name}
