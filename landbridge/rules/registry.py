"""Registry of rules, and the decorators that register a function."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import wraps
from typing import Any, Literal, TypeVar, overload

from landbridge.environment import Environment, Loaded
from landbridge.findings import Finding

Kind = Literal["environment", "file", "dated", "after"]
#: A rule that reads the environment only.
EnvironmentRule = Callable[[Environment], Iterator[Finding]]
#: A rule that reads the rest of the file too.
FileRule = Callable[[Environment, Loaded], Iterator[Finding]]
#: A rule that needs today's date; it does not run without one.
DatedRule = Callable[[Environment, date], Iterator[Finding]]
#: A rule that runs last, over the findings of the others.
AfterRule = Callable[[Environment, "OtherFindings"], Iterator[Finding]]

_Function = TypeVar("_Function", bound=Callable[..., Iterator[Finding]])
_SOURCE = "Source:"


@dataclass(frozen=True, slots=True)
class OtherFindings:
    """Findings of the other rules, placed in the file; `complete` is False if a part could not be read."""

    findings: tuple[Finding, ...]
    ran: frozenset[str]
    complete: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule of `landbridge check`. `why` is its docstring without the source; `summary` the docstring's first line.
    They are read from the function when they are asked for: `check` does not need them.

    A rule that protects data or follows from a law is not `suppressible`. A rule with `public_aws` runs only if the
    environment uses AWS's own endpoints.
    """

    name: str
    function: Callable[..., Iterator[Finding]]
    kind: Kind
    suppressible: bool = True
    public_aws: bool = False

    @property
    def summary(self) -> str:
        return _parts(self.function)[0]

    @property
    def why(self) -> str:
        return _parts(self.function)[1]

    @property
    def source(self) -> str:
        return _parts(self.function)[2]

    @property
    def topic(self) -> str:
        """Return the name of its module, which is its subject."""
        return self.function.__module__.rpartition(".")[2]


RULES: dict[str, Rule] = {}


@overload
def rule(function: _Function, /) -> _Function: ...
@overload
def rule(*, suppressible: bool = True, public_aws: bool = False) -> Callable[[_Function], _Function]: ...
def rule(function: Any = None, /, *, suppressible: bool = True, public_aws: bool = False) -> Any:
    """Register a function of the environment under its name, with dashes for underscores.

    It yields `error(path, message)`, `warning(...)` or `info(...)` of landbridge.findings, and the decorator adds this
    name. Its docstring: a first line with the requirement, then the reason, and a last paragraph or line `Source: ...`.
    """
    return _register("environment", function, suppressible, public_aws)


@overload
def file_rule(function: _Function, /) -> _Function: ...
@overload
def file_rule(*, suppressible: bool = True) -> Callable[[_Function], _Function]: ...
def file_rule(function: Any = None, /, *, suppressible: bool = True) -> Any:
    """Register a function of `(environment, loaded)`, as `rule` does."""
    return _register("file", function, suppressible)


@overload
def dated_rule(function: _Function, /) -> _Function: ...
@overload
def dated_rule(*, suppressible: bool = True) -> Callable[[_Function], _Function]: ...
def dated_rule(function: Any = None, /, *, suppressible: bool = True) -> Any:
    """Register a function of `(environment, today)`, as `rule` does."""
    return _register("dated", function, suppressible)


def after_rule(function: _Function) -> _Function:
    """Register a function of `(environment, other_findings)`, as `rule` does. It runs last and cannot be suppressed."""
    registered: _Function = _register("after", function, False)
    return registered


def _register(kind: Kind, function: Any, suppressible: bool, public_aws: bool = False) -> Any:
    def register(function: _Function) -> _Function:
        name = function.__name__.replace("_", "-")
        registered = RULES.get(name)
        if registered is not None and registered.function.__module__ != function.__module__:
            raise ValueError(f"the rule {name} is in {registered.function.__module__} and in {function.__module__}")
        with_name: Any = _with_rule_name(name, function)
        RULES[name] = Rule(name, with_name, kind, suppressible, public_aws)
        return with_name  # type: ignore[no-any-return]

    return register if function is None else register(function)


def _with_rule_name(name: str, function: Callable[..., Iterator[Finding]]) -> Callable[..., Iterator[Finding]]:
    @wraps(function)
    def named_findings(*arguments: Any) -> Iterator[Finding]:
        for finding in function(*arguments):
            yield finding if finding.rule else replace(finding, rule=name)

    return named_findings


def _parts(function: Callable[..., Iterator[Finding]]) -> tuple[str, str, str]:
    """Return the first line of a function's docstring, all of it but its source, and its source."""
    text, _, source = (inspect.getdoc(function) or "").partition(_SOURCE)
    lines = text.strip().splitlines()
    return (lines[0] if lines else ""), paragraphs(text), " ".join(source.split())


def paragraphs(text: str) -> str:
    """Return prose with each paragraph on one line."""
    joined_paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return "\n".join(paragraph for paragraph in joined_paragraphs if paragraph)
