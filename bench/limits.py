"""Limits of measured values: a row with value, limit and their ratio for each."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """Measured value and its limit, which it may not exceed.

    `wall`: the value contains waits for other programs, so that it is judged only on a machine without other load.
    """

    name: str
    value: float
    bound: float
    unit: str
    wall: bool = False

    @property
    def ratio(self) -> float:
        return self.value / self.bound

    @property
    def is_kept(self) -> bool:
        return self.value <= self.bound


def show_limits(limits: Sequence[Limit]) -> bool:
    """Print value, limit and ratio side by side; return whether all limits that can be judged are kept."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    is_good = True
    print(f"\n{'limits':64} {'value':>8} {'limit':>8} {'ratio':>6}   load {load:.1f} on {cores} cores")
    for limit in limits:
        is_judged = limit.is_kept or not limit.wall or load <= cores
        verdict = "" if limit.is_kept else "  ABOVE THE LIMIT" if is_judged else "  above, not judged under load"
        print(f"{f'{limit.name}, {limit.unit}':64} {limit.value:8.2f} {limit.bound:8g} {limit.ratio:6.2f}{verdict}")
        is_good = is_good and (limit.is_kept or not is_judged)
    sys.stdout.flush()
    return is_good
