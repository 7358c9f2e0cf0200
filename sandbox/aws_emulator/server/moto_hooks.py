"""Hooks that check the arguments of a moto method before it runs."""

import inspect
from collections.abc import Callable
from typing import Any

_ORIGINAL: dict[tuple[type, str], Any] = {}


def before(owner: type, name: str, judge: Callable[[Any, dict[str, Any]], None]) -> None:
    """Call `judge` with the backend and the named arguments of each call of `owner.name`; it raises, or changes them.

    Installed again, the newest judge alone is asked.
    """
    original = _ORIGINAL.setdefault((owner, name), getattr(owner, name))
    signature = inspect.signature(original)

    def judged(backend: Any, *arguments: Any, **named: Any) -> Any:
        asked = signature.bind(backend, *arguments, **named)
        judge(backend, asked.arguments)
        return original(*asked.args, **asked.kwargs)

    setattr(owner, name, judged)
