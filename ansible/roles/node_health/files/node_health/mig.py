"""Check of MIG instances against the expected ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from node_health.problem import Problem
from node_health.run import run

_GPU = re.compile(r"^GPU (\d+):")
_PART = re.compile(r"^\s+MIG (\S+)\s+Device\s+\d+:")


def check(wanted: Mapping[str, int]) -> tuple[list[Problem], set[str]]:
    """Problems, and the numbers of the GPUs that are in parts. `wanted` says how many instances of each profile there are.

    All of the node's together: nvidia-smi counts GPUs by their place on the bus, plans by their device files.
    """
    answer, cut, number = run(["nvidia-smi", "-L"]), set(), ""
    found: Counter[str] = Counter()
    for line in answer.text.splitlines():
        if gpu := _GPU.match(line):
            number = gpu.group(1)
        elif part := _PART.match(line):
            found[part.group(1)] += 1
            cut.add(number)
    if answer.code == 0 and found != Counter(wanted):
        names = sorted({*found, *wanted})
        said = ", ".join(
            f"{found[name]} of {wanted.get(name, 0)} {name}" for name in names if found[name] != wanted.get(name, 0)
        )
        return [Problem("mig", said, "inspect")], cut
    return [], cut
