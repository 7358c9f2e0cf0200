"""Settings of the NodeName line in an environment file: numbers from which other values follow, and all others. Pure.

The CPUs and the memory of each GPU follow from RealMemory, CoreSpecCount and MemSpecLimit, so these are applied to the
node itself; other keys only to its line.
"""

from collections.abc import Mapping
from typing import TypeGuard

from landbridge.environment.base import Scalar

MEMORY, RESERVED_CORES, RESERVED_MEMORY = "RealMemory", "CoreSpecCount", "MemSpecLimit"
#: Keys whose value is a whole number, each with its least value.
LEAST_NUMBERS: Mapping[str, int] = {MEMORY: 1, RESERVED_CORES: 0, RESERVED_MEMORY: 0}
_SPELLING = {key.casefold(): key for key in LEAST_NUMBERS}


def node_numbers(settings: Mapping[str, Scalar | None]) -> dict[str, int]:
    """Return the numbers by Slurm's own spelling of their keys. None, which deletes a reservation, is 0.

    A value that is no such number is left out: `landbridge check` reports it.
    """
    numbers = {}
    for key, value in settings.items():
        name = _SPELLING.get(key.casefold())
        number = 0 if value is None else value
        if name is not None and is_number(number) and number >= LEAST_NUMBERS[name]:
            numbers[name] = number
    return numbers


def is_number(value: Scalar | None) -> TypeGuard[int]:
    """Return true for a whole number; YAML's true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def other_settings(settings: Mapping[str, Scalar | None]) -> tuple[tuple[str, Scalar | None], ...]:
    """Return the settings that change the line alone."""
    return tuple((key, value) for key, value in settings.items() if key.casefold() not in _SPELLING)
