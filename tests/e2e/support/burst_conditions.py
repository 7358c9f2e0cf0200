"""Conditions that waits of the burst tests use."""

from collections.abc import Callable, Mapping, Sized


def has(count: int) -> Callable[[Sized], bool]:
    """Return a test for a collection's size."""
    return lambda members: len(members) == count


def all_off(states: Mapping[str, frozenset[str]]) -> bool:
    """Tell whether Slurm shows every node as powered down."""
    return all("POWERED_DOWN" in state for state in states.values())
