"""Registry of preflight checks, and the decorator that registers one."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from landbridge.findings import Finding
from landbridge.live.preflight.scene import Scene

Function = Callable[[Scene], Iterator[Finding]]
PREFIX = "live-"


@dataclass(frozen=True, slots=True)
class PreflightCheck:
    """Preflight check. `looks_at` is its subject in words, `needs` are the IAM actions that it uses.

    Its findings carry its `name`; `why` is its docstring without the line of the source.
    """

    name: str
    looks_at: str
    needs: tuple[str, ...]
    function: Function
    why: str
    source: str

    @property
    def summary(self) -> str:
        """Return the requirement: the first line of the docstring."""
        return self.why.partition("\n")[0]


CHECKS: dict[str, PreflightCheck] = {}


def check(looks_at: str, *needs: str) -> Callable[[Function], Function]:
    """Register a function of the scene as `live-<its name>`.

    It yields findings of that name. An AwsRefusal that it raises stops this check only. Its docstring: the requirement
    in the first line, then the reason, and a last line `Source: ...`.
    """

    def register(function: Function) -> Function:
        name = PREFIX + function.__name__.replace("_", "-")
        text, _, source = (inspect.getdoc(function) or "").partition("Source:")
        paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
        why = "\n".join(paragraph for paragraph in paragraphs if paragraph)
        CHECKS[name] = PreflightCheck(name, looks_at, needs, function, why, " ".join(source.split()))
        return function

    return register
