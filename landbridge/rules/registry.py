"""The list of rules, and the one function that runs them."""

from collections.abc import Callable, Iterator

from landbridge.environment import Environment, Loaded
from landbridge.findings import Finding, in_order

Rule = Callable[[Environment], Iterator[Finding]]
# Rules that also need what stands beside the environment in its file.
FileRule = Callable[[Environment, Loaded], Iterator[Finding]]

RULES: dict[str, Rule] = {}
FILE_RULES: dict[str, FileRule] = {}


def rule(function: Rule) -> Rule:
    """Register a rule under its function's name. It yields findings whose `rule` is that name, with dashes."""
    RULES[_name(function)] = function
    return function


def file_rule(function: FileRule) -> FileRule:
    """As `rule`, for one that reads more of the file."""
    FILE_RULES[_name(function)] = function
    return function


def check(loaded: Loaded) -> tuple[Finding, ...]:
    """Everything that is wrong with a loaded environment: what loading found, and what the rules say of the rest."""
    if loaded.partial is None:
        return loaded.findings
    found = [finding for function in RULES.values() for finding in function(loaded.partial)]
    found += [finding for file_function in FILE_RULES.values() for finding in file_function(loaded.partial, loaded)]
    placed = [loaded.place(finding) for finding in found if loaded.reliable(finding)]
    return in_order([*loaded.findings, *placed])


def _name(function: Callable[..., object]) -> str:
    return function.__name__.replace("_", "-")
