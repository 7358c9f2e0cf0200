"""Processor time and memory of `landbridge check -s hybrid`, with the import of pydantic as the measure of both."""

import sys
from collections.abc import Mapping

from bench.limits import Limit
from bench.measure import Contender, Figures

CHECK, IMPORT, ONE_MODEL = "check, hybrid", "import pydantic", "import pydantic, one model"
IMPORTS = (IMPORT, ONE_MODEL)
#: Processor time of `check` in units of the import of pydantic with one model built, and its memory in MB.
MAX_RATIO, MAX_MB = 5.0, 60.0
_MODEL = """
from pydantic import BaseModel

class Model(BaseModel):
    number: int
    text: str = ""

Model(number=1)
"""
_MB_IN_MIB = 2**20 / 10**6


def contenders(landbridge: str) -> list[Contender]:
    """Return the command and the two imports, which take turns with it."""
    return [
        Contender(CHECK, (landbridge, "check", "-s", "hybrid")),
        Contender(IMPORT, (sys.executable, "-c", "import pydantic")),
        Contender(ONE_MODEL, (sys.executable, "-c", _MODEL)),
    ]


def limits(figures: Mapping[str, Figures]) -> list[Limit]:
    """Return the limits of the command; none if it was not measured."""
    if not {CHECK, *IMPORTS} <= figures.keys():
        return []
    check = figures[CHECK]
    bare = check.processor_median / figures[IMPORT].processor_median
    ratio = check.processor_median / figures[ONE_MODEL].processor_median
    return [
        Limit(f"{CHECK}: processor time", ratio, MAX_RATIO, f"x {ONE_MODEL} ({bare:.1f} x {IMPORT})"),
        Limit(f"{CHECK}: memory", check.peak_mib * _MB_IN_MIB, MAX_MB, "MB"),
    ]
