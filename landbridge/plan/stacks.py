"""Pulumi stacks of an environment, and the layers that each registers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from landbridge.environment import Environment
from landbridge.environment.stacks import LAYERS, Layer
from landbridge.findings import Finding, FindingsError

#: Stack output with which a layer in a separate stack passes its resources to the layers above.
HANDOVER = "handover"


@dataclass(frozen=True, slots=True)
class PlannedStack:
    """Pulumi stack: its name, and its layers from the bottom up."""

    name: str
    layers: tuple[Layer, ...]

    @property
    def is_partial(self) -> bool:
        """True if the environment has several stacks: other stacks read this one's outputs."""
        return self.layers != LAYERS


def planned_stacks(environment: Environment) -> tuple[PlannedStack, ...]:
    """Return the environment's stacks in creation order; deletion runs in reverse."""
    return _stacks(environment.name, environment.stacks)


def stacks_of_another_shape(environment: Environment) -> tuple[PlannedStack, ...]:
    """Return the stacks that the other value of `stacks` would give: none of them may exist."""
    return _stacks(environment.name, "one" if environment.stacks == "three" else "three")


def stack_name(environment: Environment, layer: Layer) -> str:
    """Return the name of the stack that registers a layer."""
    return next(planned.name for planned in planned_stacks(environment) if layer in planned.layers)


def environment_name(stack: str, raw: Mapping[str, Any]) -> str:
    """Return the environment's name, from a stack's name and the raw environment.

    Raises FindingsError for a stack that the environment does not have.
    """
    if raw.get("stacks") != "three":
        return stack
    name, _, layer = stack.rpartition("-")
    if name and layer in LAYERS:
        return name
    names = [planned.name for planned in _stacks(stack, "three")]
    message = f'"{stack}" is built as three stacks, and this is none of them'
    fix = f"landbridge up -s {stack}, or with pulumi, in this order: {', '.join(names)}"
    raise FindingsError([Finding("no-such-stack", message, ("stacks",), fix)])


def stack_called(environment: Environment, name: str) -> PlannedStack:
    """Return the environment's stack of that name."""
    return next(planned for planned in planned_stacks(environment) if planned.name == name)


def _stacks(name: str, shape: str) -> tuple[PlannedStack, ...]:
    if shape == "one":
        return (PlannedStack(name, LAYERS),)
    return tuple(PlannedStack(f"{name}-{layer}", (layer,)) for layer in LAYERS)
