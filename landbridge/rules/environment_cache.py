"""Cache of values that several rules need, computed once for each environment. No rules."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from landbridge.catalog import instances
from landbridge.environment import Environment

_Answer = TypeVar("_Answer")


def cached(function: Callable[[Environment], _Answer]) -> Callable[[Environment], _Answer]:
    """Remember the answer for the environment that was asked about last; environments do not change."""
    last: list[tuple[Environment, _Answer]] = []

    @wraps(function)
    def remembering(environment: Environment) -> _Answer:
        if not last or last[0][0] is not environment:
            last[:] = [(environment, function(environment))]
        return last[0][1]

    return remembering


@cached
def with_known_types(environment: Environment) -> Environment:
    """The environment without pools of types that the catalogue does not know, which plans cannot work with."""
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
