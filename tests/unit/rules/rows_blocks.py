"""Mistakes with Capacity Blocks."""

from tests.unit.rules.parts import BLOCK, CAPACITY
from tests.unit.rules.row import Row

ROWS = [
    Row("block-window", "a window that ends before it starts", {CAPACITY: {**BLOCK, "starts": "2026-12-02T11:30:00Z", "ends": "2026-12-01T11:30:00Z"}}, (*CAPACITY, "ends"), "before"),
    Row("block-window", "a window without a time zone", {CAPACITY: {**BLOCK, "starts": "2026-12-02T00:00:00", "ends": "2026-12-03T00:00:00"}}, (*CAPACITY, "ends"), "time zone"),
]  # fmt: skip
