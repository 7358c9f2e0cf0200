"""Outputs of a layer for the layers above: in memory in one stack, through stack references in three."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import pulumi

from landbridge.environment import Environment
from landbridge.environment.stacks import Layer
from landbridge.plan.stacks import HANDOVER, stack_name

LayerOutputs = TypeVar("LayerOutputs")


def to_output(layer_outputs: Any) -> dict[str, Any]:
    """Return a layer's dataclass as the value of its stack's output."""
    return {field.name: getattr(layer_outputs, field.name) for field in fields(layer_outputs)}


def from_stack(
    kind: type[LayerOutputs],
    keys: Mapping[str, Sequence[str]],
    absent_fields: Collection[str],
    environment: Environment,
    layer: Layer,
) -> LayerOutputs:
    """Return a layer's dataclass from the output of its stack.

    `keys` are the keys of its mappings by field, and `absent_fields` its fields that are None. Both come from the plan,
    so the set of resources never depends on another stack's outputs. An output that the stack does not have yet is
    unknown in a preview and an error with the stack's name in an update.
    """
    stack = stack_name(environment, layer)
    qualified_name = "/".join((pulumi.get_organization(), pulumi.get_project(), stack))
    # get_output by name: the mapping of all outputs is secret if one of them is, and so would be all values read from it.
    output = pulumi.StackReference(layer, stack_name=qualified_name).get_output(HANDOVER)

    def value(*path: str) -> pulumi.Output[Any]:
        return output.apply(lambda layer_outputs: _at(layer_outputs, path, stack))

    def field(name: str) -> Any:
        if name in absent_fields:
            return None
        return {key: value(name, key) for key in keys[name]} if name in keys else value(name)

    return kind(**{output_field.name: field(output_field.name) for output_field in fields(kind)})  # type: ignore[arg-type]


def _at(layer_outputs: Any, path: Sequence[str], stack: str) -> Any:
    for part in path:
        layer_outputs = layer_outputs.get(part) if isinstance(layer_outputs, Mapping) else None
    if layer_outputs is not None:
        return layer_outputs
    if pulumi.runtime.is_dry_run():
        return _unknown()
    raise pulumi.RunError(f"stack {stack} has not created {'.'.join(path)} yet: bring {stack} up first")


def _unknown() -> pulumi.Output[Any]:
    loop = asyncio.get_running_loop()
    value, is_known = loop.create_future(), loop.create_future()
    value.set_result(None)
    is_known.set_result(False)
    return pulumi.Output(set(), value, is_known)
