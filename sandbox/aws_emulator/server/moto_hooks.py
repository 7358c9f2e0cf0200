"""Hooks that check the arguments of a moto method before it runs."""

import inspect
from collections.abc import Callable
from typing import Any

_ORIGINAL: dict[tuple[type, str], Any] = {}


def before(owner: type, name: str, judge: Callable[[Any, dict[str, Any]], None]) -> None:
    """Call `judge` with the backend and the named arguments of each call of `owner.name`; it may raise or change them.

    If installed again, only the newest judge is called.
    """
    original = _ORIGINAL.setdefault((owner, name), getattr(owner, name))
    signature = inspect.signature(original)

    def judged(backend: Any, *arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(backend, *arguments, **keywords)
        judge(backend, bound.arguments)
        return original(*bound.args, **bound.kwargs)

    setattr(owner, name, judged)
