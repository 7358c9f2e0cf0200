"""Check of MIG instances against the expected ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from node_health import query
from node_health.problem import Problem

_GPU = re.compile(r"^GPU (\d+):")
_PART = re.compile(r"^\s+MIG (\S+)\s+Device\s+\d+:")


def check(expected: Mapping[str, int]) -> tuple[list[Problem], set[str]]:
    """Return problems, and the numbers of partitioned GPUs. `expected`: number of instances by profile.

    The numbers are for the whole node: nvidia-smi numbers GPUs by PCI address, plans by device file.
    """
    output, partitioned, number = query.smi("-L"), set(), ""
    present: Counter[str] = Counter()
    for line in output.text.splitlines():
        if gpu := _GPU.match(line):
            number = gpu.group(1)
        elif part := _PART.match(line):
            present[part.group(1)] += 1
            partitioned.add(number)
    if output.code == 0 and present != Counter(expected):
        names = sorted({*present, *expected})
        differences = ", ".join(
            f"{present[name]} of {expected.get(name, 0)} {name}"
            for name in names
            if present[name] != expected.get(name, 0)
        )
        return [Problem("mig", differences, "inspect")], partitioned
    return [], partitioned
