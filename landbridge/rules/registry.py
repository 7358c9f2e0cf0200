"""The list of rules, and the decorators that put a function into it."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypeVar, overload

from landbridge.environment import Environment, Loaded
from landbridge.findings import Finding

Kind = Literal["environment", "file", "dated", "after"]
#: Reads the environment alone.
EnvironmentRule = Callable[[Environment], Iterator[Finding]]
#: Also reads what stands beside the environment in its file.
FileRule = Callable[[Environment, Loaded], Iterator[Finding]]
#: Also needs today's date; it does not run where nobody says which day it is.
DatedRule = Callable[[Environment, date], Iterator[Finding]]
#: Runs last, over what the others found.
AfterRule = Callable[[Environment, "Found"], Iterator[Finding]]

_Function = TypeVar("_Function", bound=Callable[..., Iterator[Finding]])
_SOURCE = "Source:"


@dataclass(frozen=True, slots=True)
class Found:
    """What the other rules said, placed in the file; `complete` is False where a part could not be judged at all."""

    findings: tuple[Finding, ...]
    ran: frozenset[str]
    complete: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `why` is its docstring without the line that names the source; `summary` the docstring's first line.

    A rule that protects data or follows from a law is not `suppressible`.
    """

    name: str
    function: Callable[..., Iterator[Finding]]
    kind: Kind
    summary: str
    why: str
    source: str
    suppressible: bool = True

    @property
    def topic(self) -> str:
        """The file it stands in, which is its subject."""
        return self.function.__module__.rpartition(".")[2]


RULES: dict[str, Rule] = {}


@overload
def rule(function: _Function, /) -> _Function: ...
@overload
def rule(*, suppressible: bool = True) -> Callable[[_Function], _Function]: ...
def rule(function: Any = None, /, *, suppressible: bool = True) -> Any:
    """Register a function of the environment under its name, with dashes for underscores.

    It yields findings whose `rule` is that name. Its docstring: a first line that says what must hold, then why, and a
    last paragraph or line `Source: ...`.
    """
    return _register("environment", function, suppressible)


@overload
def file_rule(function: _Function, /) -> _Function: ...
@overload
def file_rule(*, suppressible: bool = True) -> Callable[[_Function], _Function]: ...
def file_rule(function: Any = None, /, *, suppressible: bool = True) -> Any:
    """As `rule`, for `(environment, loaded)`."""
    return _register("file", function, suppressible)


@overload
def dated_rule(function: _Function, /) -> _Function: ...
@overload
def dated_rule(*, suppressible: bool = True) -> Callable[[_Function], _Function]: ...
def dated_rule(function: Any = None, /, *, suppressible: bool = True) -> Any:
    """As `rule`, for `(environment, today)`."""
    return _register("dated", function, suppressible)


def after_rule(function: _Function) -> _Function:
    """As `rule`, for `(environment, found)`: it runs last, and nobody can suppress it."""
    registered: _Function = _register("after", function, False)
    return registered


def _register(kind: Kind, function: Any, suppressible: bool) -> Any:
    def put(function: _Function) -> _Function:
        name = function.__name__.replace("_", "-")
        known = RULES.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise ValueError(f"the rule {name} is in {known.function.__module__} and in {function.__module__}")
        summary, why, source = _parts(inspect.getdoc(function) or "")
        RULES[name] = Rule(name, function, kind, summary, why, source, suppressible)
        return function

    return put if function is None else put(function)


def _parts(doc: str) -> tuple[str, str, str]:
    """A docstring's first line, everything but its source, and its source."""
    text, _, source = doc.partition(_SOURCE)
    lines = text.strip().splitlines()
    return (lines[0] if lines else ""), paragraphs(text), " ".join(source.split())


def paragraphs(text: str) -> str:
    """Prose with each paragraph on one line."""
    found = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    return "\n".join(paragraph for paragraph in found if paragraph)
