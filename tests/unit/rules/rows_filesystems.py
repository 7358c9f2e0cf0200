"""Mistakes with file systems in AWS."""

from tests.unit.rules.parts import SCRATCH
from tests.unit.rules.row import Row

ROWS = [
    Row("lustre-size", "FSx for Lustre in a size there is not", {SCRATCH: {"kind": "fsx_lustre", "capacity_gib": 3000}}, (*SCRATCH, "capacity_gib"), "4800"),
]  # fmt: skip
