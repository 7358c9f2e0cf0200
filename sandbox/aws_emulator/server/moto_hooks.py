"""Hooks that check the arguments of a moto method before it runs."""

import inspect
from collections.abc import Callable
from typing import Any

Judge = Callable[[Any, dict[str, Any]], None]
_ORIGINAL: dict[tuple[type, str], Any] = {}
_JUDGES: dict[tuple[type, str], dict[str, Judge]] = {}


def before(owner: type, name: str, judge: Judge) -> None:
    """Call `judge` with the backend and the named arguments of each call of `owner.name`; it may raise or change them.

    The judges of several modules are called in the order of their installation. A module's newest judge replaces its earlier one.
    """
    original = _ORIGINAL.setdefault((owner, name), getattr(owner, name))
    judges = _JUDGES.setdefault((owner, name), {})
    judges[getattr(judge, "func", judge).__module__] = judge
    signature = inspect.signature(original)

    def judged(backend: Any, *arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(backend, *arguments, **keywords)
        for each in judges.values():
            each(backend, bound.arguments)
        return original(*bound.args, **bound.kwargs)

    setattr(owner, name, judged)
