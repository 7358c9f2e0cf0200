"""Mistakes with the windows of Capacity Blocks."""

from datetime import date
from typing import Any

from tests.unit.rules.parts import BLOCK, CAPACITY, FALLBACK, ON_DEMAND
from tests.unit.rules.row import Row

ENDS, STARTS = (*CAPACITY, "ends"), (*CAPACITY, "starts")
TODAY = date(2026, 11, 21)


def window(starts: str, ends: str) -> dict[str, Any]:
    return {**BLOCK, "starts": starts, "ends": ends}


WEEK = window("2026-12-01T11:30:00Z", "2026-12-08T11:30:00Z")

ROWS = [
    Row("block-window", "a window that ends before it starts", {CAPACITY: window("2026-12-02T11:30:00Z", "2026-12-01T11:30:00Z")}, ENDS, "before"),
    Row("block-window", "a window without a time zone", {CAPACITY: window("2026-12-02T00:00:00", "2026-12-03T00:00:00")}, ENDS, "time zone"),
    Row("block-without-window", "a block without its window", {CAPACITY: BLOCK}, CAPACITY, "not drained"),
    Row("block-length", "a window longer than blocks are sold", {CAPACITY: window("2026-12-01T11:30:00Z", "2027-12-01T11:30:00Z")}, ENDS, "182"),
    Row("block-length", "a window of 17 days", {CAPACITY: window("2026-12-01T11:30:00Z", "2026-12-18T11:30:00Z")}, ENDS, "whole weeks"),
    Row("block-end-time", "a window that ends at midnight", {CAPACITY: window("2026-12-01T11:30:00Z", "2026-12-03T00:00:00Z")}, ENDS, "11:30"),
    Row("block-end-time", "a window that ends in local time", {CAPACITY: window("2026-12-01T11:30:00+01:00", "2026-12-03T11:30:00+01:00")}, ENDS, "10:30 UTC"),
    Row("block-expired", "an expired block", {CAPACITY: window("2026-10-01T11:30:00Z", "2026-10-03T11:30:00Z")}, ENDS, "2026-10-03", today=TODAY),
    Row("block-expired", "an expired block with a fallback", {CAPACITY: window("2026-10-01T11:30:00Z", "2026-10-03T11:30:00Z"), FALLBACK: ON_DEMAND}, ENDS, "remove it", today=TODAY),
    Row("block-far-ahead", "a block of the wrong year", {CAPACITY: window("2027-12-01T11:30:00Z", "2027-12-08T11:30:00Z")}, STARTS, "8 weeks", today=TODAY),
    Row("block-in-maintenance", "maintenance while a block is paid for", {CAPACITY: {**WEEK, "count": 4}, ("maintenance",): [{"starts": "2026-12-02T08:00:00Z", "ends": "2026-12-02T20:00:00Z"}]}, ("maintenance", 0), "12 hours"),
    Row("jobs-longer-than-block", "jobs longer than the window", {CAPACITY: window("2026-12-01T11:30:00Z", "2026-12-03T11:30:00Z"), ("scheduler", "partitions"): {"p5": {"max_time": "3-00:00:00"}}}, ("scheduler", "partitions", "p5", "max_time"), "47:00:00"),
]  # fmt: skip
