"""All plan functions: those of landbridge.plan whose only parameters are an environment and optionally a pool."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import landbridge.plan
from landbridge.environment import Environment, PoolSettings


class Plan:
    """A plan function with its arguments."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.__name__ = function.__name__
        self._function, self._arguments = function, arguments

    def __call__(self) -> object:
        """Compute the plan; an iterator is read to its end."""
        result = self._function(*self._arguments)
        return list(result) if isinstance(result, Iterator) else result


def plans(environment: Environment | None) -> Iterator[Plan]:
    """Yield every plan of an environment; that of the link only if there is a link."""
    assert environment is not None
    for function, needs_pool in _functions():
        if function.__name__ == "link_args" and environment.link is None:
            continue
        if needs_pool:
            yield from (Plan(function, environment, pool) for pool in environment.aws.pools)
        else:
            yield Plan(function, environment)


@cache
def _functions() -> tuple[tuple[Callable[..., Any], bool], ...]:
    functions = []
    for info in pkgutil.walk_packages(landbridge.plan.__path__, "landbridge.plan."):
        module = import_module(info.name)
        for function in _public(module):
            kinds = [
                parameter.annotation
                for parameter in inspect.signature(function).parameters.values()
                if parameter.default is inspect.Parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
            ]
            if kinds in ([Environment], [Environment, PoolSettings]):
                functions.append((function, len(kinds) == 2))
    return tuple(functions)


def _public(module: ModuleType) -> Iterator[Callable[..., Any]]:
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
            yield value
