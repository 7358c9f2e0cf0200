"""Slurm reservations that close the nodes of a pool outside of the windows of its Capacity Blocks."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.plan.slurm.reservations import reservations, unavailable_windows
from tests.unit.core.samples import environment

POOL = ("aws", "pools", 0)
BLOCK = {"kind": "capacity_block", "zone": "use1-az4", "count": 4}
START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
DRAIN = timedelta(minutes=30)
Window = tuple[datetime, datetime]


def block(number: int, **fields: Any) -> dict[str, Any]:
    return {**BLOCK, "reservation": f"cr-0123456789abcde{number:02}", **fields}


def planned(*capacity: dict[str, Any]) -> list[dict[str, Any]]:
    return reservations(environment({(*POOL, "capacity"): list(capacity)}))


def test_a_pool_is_closed_before_its_block_opens_and_from_half_an_hour_before_its_end() -> None:
    window = {"starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T12:30:00+01:00"}
    assert planned(block(0, **window)) == [
        {"name": "landbridge-block-p5-1", "nodes": "p5-[1-4]", "starts": None, "ends": "2026-12-01T11:30:00+00:00"},
        {"name": "landbridge-block-p5-2", "nodes": "p5-[1-4]", "starts": "2026-12-08T11:00:00+00:00", "ends": None},
    ]


def test_a_missing_start_or_end_of_a_block_closes_nothing() -> None:
    assert planned(block(0)) == []
    assert [reservation["starts"] for reservation in planned(block(0, ends="2026-12-08T11:30:00Z"))] == [
        "2026-12-08T11:00:00+00:00"
    ]
    assert [reservation["ends"] for reservation in planned(block(0, starts="2026-12-01T11:30:00Z"))] == [
        "2026-12-01T11:30:00+00:00"
    ]


def test_a_pool_with_other_capacity_too_is_never_closed() -> None:
    window = {"starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T11:30:00Z"}
    assert planned(block(0, **window), {"kind": "on_demand", "zones": ["use1-az4"]}) == []
    assert reservations(environment({})) == []


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 60)), min_size=1, max_size=5, unique=True))
def test_any_time_is_either_in_a_block_or_closed(days: list[tuple[int, int]]) -> None:
    windows = [(START + timedelta(days=first), START + timedelta(days=first + length)) for first, length in days]
    blocks = [
        block(number, starts=opens.isoformat(), ends=ends.isoformat()) for number, (opens, ends) in enumerate(windows)
    ]
    site = environment({(*POOL, "capacity"): blocks})
    spans = list(unavailable_windows(site.aws.pools[0], site.region))
    open_windows = [(opens, ends - DRAIN) for opens, ends in windows]
    for moment in sorted(
        {bound + shift for window in open_windows for bound in window for shift in (-DRAIN / 2, DRAIN / 2)}
    ):
        inside = any(opens <= moment < closes for opens, closes in open_windows)
        closed = [s for s in spans if (s[0] is None or s[0] <= moment) and (s[1] is None or moment < s[1])]
        assert len(closed) == (0 if inside else 1), (moment, spans)
