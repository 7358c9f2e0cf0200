"""Cache of one value of an environment, which is immutable."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from landbridge.environment.model import Environment

_Result = TypeVar("_Result")


def cached(function: Callable[[Environment], _Result]) -> Callable[[Environment], _Result]:
    """Return the function with a cache of its result for the last environment."""
    last: list[tuple[Environment, _Result]] = []

    @wraps(function)
    def with_cache(environment: Environment) -> _Result:
        # One read of the list: another thread may replace its item.
        for known, result in last[:1]:
            if known is environment:
                return result
        result = function(environment)
        last[:] = [(environment, result)]
        return result

    return with_cache
