"""Accounting that cannot be right: runaway and suspended jobs, jobs without GPUs; and jobs that have a whole node."""

from dataclasses import replace

import pytest

from landbridge.economics.job_costs.lines import MonthStatement
from landbridge.economics.job_costs.statement import Records, statement
from landbridge.findings import Severity
from landbridge.timestamps import month_end, month_start, parse_iso
from landbridge.trace.allocations import Allocation
from tests.unit.economics.job_costs.schedules import priced

MONTH = "2026-10"
NOW = month_end(month_start(MONTH))


def at(text: str) -> int:
    return int(parse_iso(f"{text}T00:00:00") or 0)


def run(job: int, start: str, end: str | None, nodes: str = "dgx01", gpus: int = 8, **fields: object) -> Allocation:
    state = "RUNNING" if end is None else "COMPLETED"
    ended = None if end is None else at(end)
    names = tuple(nodes.split())
    known = Allocation(job, str(job), "ann", "vision", "onprem", state, at(start), ended, names, gpus, 16)
    return replace(known, **fields)  # type: ignore[arg-type]


ORDINARY = run(1, "2026-10-10", "2026-10-11")


def month_of(*runs: Allocation, queued: frozenset[int] | None = None) -> MonthStatement:
    return statement(priced(), Records(allocations=runs, queued=queued), MONTH, NOW)


def warnings(month: MonthStatement) -> dict[str, str]:
    messages = {each.rule: each for each in month.findings if each.severity is Severity.WARNING}
    return {rule: f"{each.message} {each.fix}" for rule, each in messages.items()}


def test_a_job_that_never_ended_is_named() -> None:
    dead = run(7, "2026-03-01", None, user="bob")
    messages = warnings(month_of(ORDINARY, dead))
    assert "8 more GPUs than dgx01 has" in messages["cost-too-many-gpus"]
    assert (
        "from 2026-10-10T00:00:00Z: job 7 of bob (RUNNING since 2026-03-01T00:00:00Z), job 1"
        in messages["cost-too-many-gpus"]
    )
    assert "job 7 of bob" in messages["cost-without-end"] and "runawayjobs" in messages["cost-without-end"]


@pytest.mark.parametrize(
    ("queued", "words"), [(None, "not asked"), (frozenset({1}), "does not have"), (frozenset({7}), "")]
)
def test_a_run_without_an_end_is_in_doubt_unless_squeue_has_it(queued: frozenset[int] | None, words: str) -> None:
    messages = warnings(month_of(run(7, "2026-03-01", None), queued=queued)).get("cost-without-end", "")
    assert (words in messages) if words else not messages


def test_a_run_that_began_in_the_month_and_ordinary_jobs_are_not_in_doubt() -> None:
    half = [run(number, "2026-10-20", "2026-10-21", gpus=4) for number in (2, 3)]
    assert not warnings(month_of(ORDINARY, run(4, "2026-10-11", "2026-10-12"), *half, run(5, "2026-10-30", None)))


def test_a_suspended_job_beside_the_job_in_its_place_is_named() -> None:
    messages = warnings(month_of(ORDINARY, run(6, "2026-10-05", None, state="SUSPENDED")))
    assert (
        "job 6 of ann (SUSPENDED since" in messages["cost-too-many-gpus"]
        and "suspended" in messages["cost-too-many-gpus"]
    )


def test_unequal_parts_of_a_job_are_not_taken_for_too_many_gpus() -> None:
    """Twelve GPUs may be 8 and 4, which leaves 4 of the second node to another job."""
    parts = run(2, "2026-10-20", "2026-10-22", "dgx01 dgx02", gpus=12)
    assert "cost-too-many-gpus" not in warnings(month_of(parts, run(3, "2026-10-20", "2026-10-22", "dgx02", gpus=4)))


def test_a_job_with_all_cpus_of_a_node_pays_the_node() -> None:
    exclusive = run(9, "2026-10-10", "2026-10-11", gpus=0, cpus=224)
    month = month_of(exclusive)
    (line,) = (line for line in month.lines if line.key.job == 9)
    (same,) = (line for line in month_of(ORDINARY).lines if line.key.job == 1)
    assert (line.usd, line.gpu_hours, line.node_hours) == (same.usd, 192.0, 24.0)
    assert "job 9 of ann" in warnings(month)["cost-no-gpus"]


def test_a_job_without_gpus_in_accounting_is_named() -> None:
    month = month_of(ORDINARY, run(9, "2026-10-12", "2026-10-13", gpus=0))
    assert (
        "AccountingStorageTRES" in warnings(month)["cost-no-gpus"] and ": 1: job 9" in warnings(month)["cost-no-gpus"]
    )
    assert not [line for line in month.lines if line.key.job == 9 and line.usd]
