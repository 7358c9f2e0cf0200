"""Cache of values that several rules need, computed once for each environment. This module has no rules."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from landbridge.catalog import instances
from landbridge.environment import Environment

_Result = TypeVar("_Result")


def cached(function: Callable[[Environment], _Result]) -> Callable[[Environment], _Result]:
    """Return the function with a cache of its last result; environments are immutable."""
    last: list[tuple[Environment, _Result]] = []

    @wraps(function)
    def with_cache(environment: Environment) -> _Result:
        if not last or last[0][0] is not environment:
            last[:] = [(environment, function(environment))]
        return last[0][1]

    return with_cache


@cached
def with_known_types(environment: Environment) -> Environment:
    """Return the environment without pools of types that are not in the catalogue, for which no plan can be computed."""
    known_types = instances()
    pools = tuple(
        pool
        for pool in environment.aws.pools
        if pool.instance in known_types
        and all((capacity.instance or pool.instance) in known_types for capacity in pool.capacity)
    )
    if len(pools) == len(environment.aws.pools):
        return environment
    return environment.model_copy(update={"aws": environment.aws.model_copy(update={"pools": pools})})
