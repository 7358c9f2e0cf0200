"""Calibration of a run: a Python process that imports pydantic and builds one model.

Its processor time and memory are measured in the same run as what is compared with them, so that a limit is a ratio and is the
same on every machine.
"""

import statistics
import sys
from collections.abc import Callable, Iterable

from bench.burst.process import run
from bench.measure import Contender

NAME = "one model"
RUNS = 5
_PROGRAM = """
from pydantic import BaseModel

class Model(BaseModel):
    number: int
    text: str = ""

Model(number=1)
"""


def contender() -> Contender:
    """Return the process, to take turns with others."""
    return Contender(NAME, (sys.executable, "-c", _PROGRAM))


def values() -> dict[str, float]:
    """Measure the process by itself; return its processor seconds (median) and memory (MB)."""
    results = [run(contender().command, {}) for _ in range(RUNS)]
    return {
        f"{NAME}: CPU s": statistics.median(result.cpu for result in results),
        f"{NAME}: MB": max(result.mb for result in results),
    }


def values_with(measurements: Iterable[Callable[[], dict[str, float]]]) -> dict[str, float]:
    """Make measurements in order; return their values and the means of the calibration before and after them."""
    before, measured = values(), dict[str, float]()
    for measure in measurements:
        measured |= measure()
    after = values()
    return measured | {name: (value + after[name]) / 2 for name, value in before.items()}
