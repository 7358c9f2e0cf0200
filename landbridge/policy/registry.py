"""The list of policies, and the decorators that put a function into it."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from landbridge.policy.resource import Resource
from landbridge.policy.settings import PolicySettings

#: Says what is wrong with one resource; a path in it, where there is one, begins the text.
OneCheck = Callable[[Resource, PolicySettings], Iterator[str]]
#: Looks at all of them: yields the resource and what is wrong with it.
AllCheck = Callable[[tuple[Resource, ...], PolicySettings], Iterator[tuple[Resource, str]]]
_F = TypeVar("_F", OneCheck, AllCheck)


class Level(StrEnum):
    """Enforcement level: a mandatory violation stops the update."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy: of single resources of some types (all, where `types` is empty), or of the whole stack.

    `config` names the fields of Settings that it heeds.
    """

    name: str
    level: Level
    types: frozenset[str]
    one: OneCheck | None
    all: AllCheck | None
    summary: str
    source: str
    config: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """For whoever is stopped by it."""
        return f"{self.summary} Source: {self.source}"


POLICIES: dict[str, Policy] = {}


def policy(*types: str, level: Level = Level.MANDATORY, config: tuple[str, ...] = ()) -> Callable[[OneCheck], OneCheck]:
    """Register a check of one resource under its name, with dashes. Its docstring says what holds, then `Source: ...`."""

    def put(function: OneCheck) -> OneCheck:
        _add(function.__name__, level, frozenset(types), function, None, inspect.getdoc(function) or "", config)
        return function

    return put


def stack_policy(level: Level = Level.MANDATORY, config: tuple[str, ...] = ()) -> Callable[[AllCheck], AllCheck]:
    """As `policy`, for a check that needs the others too."""

    def put(function: AllCheck) -> AllCheck:
        _add(function.__name__, level, frozenset(), None, function, inspect.getdoc(function) or "", config)
        return function

    return put


def _add(
    name: str,
    level: Level,
    types: frozenset[str],
    check_one: OneCheck | None,
    every: AllCheck | None,
    doc: str,
    config: tuple[str, ...] = (),
) -> None:
    text, _, source = doc.partition("Source:")
    key = name.replace("_", "-")
    POLICIES[key] = Policy(
        key, level, types, check_one, every, " ".join(text.split()), " ".join(source.split()), config
    )
