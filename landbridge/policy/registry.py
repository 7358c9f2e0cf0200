"""Registry of policies, and the decorators that register a function."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from landbridge.policy.resource import Resource
from landbridge.policy.settings import PolicySettings

#: Yields the violations of one resource; a text begins with the path of the property, if there is one.
ResourceCheck = Callable[[Resource, PolicySettings], Iterator[str]]
#: Checks all resources of a stack; yields a resource and its violation.
StackCheck = Callable[[tuple[Resource, ...], PolicySettings], Iterator[tuple[Resource, str]]]
_F = TypeVar("_F", ResourceCheck, StackCheck)


class Level(StrEnum):
    """Enforcement level: a mandatory violation stops the update."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"


@dataclass(frozen=True, slots=True)
class Policy:
    """Policy of single resources (`check_resource`) of some types (all types if `types` is empty), or of the whole
    stack.

    `config` lists the fields of PolicySettings that it reads.
    """

    name: str
    level: Level
    types: frozenset[str]
    check_resource: ResourceCheck | None
    check_stack: StackCheck | None
    summary: str
    source: str
    config: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """Return the text that Pulumi shows with a violation."""
        return f"{self.summary} Source: {self.source}"


POLICIES: dict[str, Policy] = {}


def policy(
    *types: str, level: Level = Level.MANDATORY, config: tuple[str, ...] = ()
) -> Callable[[ResourceCheck], ResourceCheck]:
    """Register a check of one resource under its name, with dashes. Its docstring: the requirement, then `Source: ...`."""

    def register(function: ResourceCheck) -> ResourceCheck:
        _add(function.__name__, level, frozenset(types), function, None, inspect.getdoc(function) or "", config)
        return function

    return register


def stack_policy(level: Level = Level.MANDATORY, config: tuple[str, ...] = ()) -> Callable[[StackCheck], StackCheck]:
    """Register a check of all resources of a stack, as `policy` does for one resource."""

    def register(function: StackCheck) -> StackCheck:
        _add(function.__name__, level, frozenset(), None, function, inspect.getdoc(function) or "", config)
        return function

    return register


def _add(
    name: str,
    level: Level,
    types: frozenset[str],
    check_resource: ResourceCheck | None,
    check_stack: StackCheck | None,
    doc: str,
    config: tuple[str, ...] = (),
) -> None:
    text, _, source = doc.partition("Source:")
    key = name.replace("_", "-")
    POLICIES[key] = Policy(
        key, level, types, check_resource, check_stack, " ".join(text.split()), " ".join(source.split()), config
    )
