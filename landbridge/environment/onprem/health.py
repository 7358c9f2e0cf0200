"""Environment key `health`: changes of the health checks of a node group."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Text

Part = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9/][A-Za-z0-9._@/-]{0,99}$")]


class HealthChange(Model):
    """Change of one health check on the nodes of a group, with its reason. Exactly one of skip, add and limit."""

    check: Text = Field(description="name of the check, as in the reasons of drained nodes: `landbridge:<check>:`")
    reason: Text = Field(description="reason of the change; the nodes show it with the results of the checks")
    skip: Literal["all"] | tuple[Part, ...] = Field(
        default=(),
        description="all: the check has no effect; or parts of it: Xid numbers, services or mounts",
    )
    add: tuple[Part, ...] = Field(
        default=(), description="further Xid numbers, services or mounts, which the check does not cover by itself"
    )
    limit: float | None = Field(default=None, description="limit of the check instead of the platform's")
