"""Replay of a queue: properties of any queue, site, pools and budgets."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from landbridge.simulation.gpu_allocator import GpuAllocator, earliest
from landbridge.simulation.replay import replay
from landbridge.simulation.result import SimulatedJob, SimulationResult
from landbridge.simulation.scenario import Scenario
from landbridge.timestamps import month_of
from tests.thorough import examples
from tests.unit.simulation.queues import START, scenario

HOUR = 3600.0


@some.composite
def queues(draw: some.DrawFn, gpus: some.SearchStrategy[int] | None = None, exact: bool = False) -> list[SimulatedJob]:
    """Generate jobs in the sequence of their submission, over up to two weeks across the end of a month."""
    size = gpus if gpus is not None else some.sampled_from((1, 1, 1, 2, 3, 4, 6, 8, 12, 20))
    length = some.sampled_from((60.0, 600.0, HOUR, 5 * HOUR, 30 * HOUR))
    row = some.tuples(
        some.integers(0, 40), length, size, some.sampled_from(("open", "open", "shut")), some.integers(1, 4)
    )
    tasks, now = [], START
    for gap, seconds, count, account, factor in draw(some.lists(row, min_size=1, max_size=40)):
        now += gap * 600.0
        limit = seconds if exact else factor * seconds
        tasks.append(SimulatedJob(now, seconds, count, account, limit))
    return tasks


SETTINGS = some.builds(
    scenario,
    nodes=some.integers(0, 3),
    pools=some.sampled_from((((3, 0),), ((2, 1), (3, 0)), ((1, 1),))),
    boot=some.sampled_from((0.0, 600.0)),
    cap=some.sampled_from((None, 50.0, 1000.0)),
    cluster_cap=some.sampled_from((None, 20_000.0)),
    wait=some.sampled_from((None, 0.0, 1800.0)),
    suspend=some.sampled_from((60.0, 3600.0)),
    size=some.sampled_from((None, 1, 2)),
)


def peak(spans: Iterable[tuple[float, float, int]]) -> int:
    """Return the largest sum of overlapping spans; a span that ends does not overlap one that begins at the same time."""
    steps = sorted(step for begin, end, count in spans for step in ((begin, 1, count), (end, 0, -count)))
    total = maximum = 0
    for _, _, change in steps:
        total += change
        maximum = max(maximum, total)
    return maximum


def spans(played: SimulationResult, pool: str) -> list[tuple[float, float, int]]:
    return [
        (began, began + task.seconds, task.gpus)
        for task, began, where in zip(played.tasks, played.began, played.pool, strict=True)
        if began is not None and where == pool
    ]


def by_account(played: SimulationResult) -> Counter[tuple[str, str]]:
    totals: Counter[tuple[str, str]] = Counter()
    for (month, account, _), usd in played.spent.items():
        totals[month, account] += usd  # type: ignore[assignment]
    return totals


@settings(max_examples=examples(33, 100), deadline=None)
@given(queues(), SETTINGS)
def test_capacity_residency_and_budgets_hold_for_any_queue(tasks: list[SimulatedJob], site: Scenario) -> None:
    played = replay(site, tasks)
    assert peak(spans(played, "")) <= site.onprem_gpus
    for pool in site.pools:
        stays = [(stay.launched, stay.ended, 1) for stay in played.stays if stay.pool == pool.name]
        assert peak(stays) <= played.peaks[pool.name] <= site.policy.pools[pool.name].max_nodes
        assert peak(spans(played, pool.name)) <= pool.gpus * site.policy.pools[pool.name].max_nodes
    for task, began, where in zip(tasks, played.began, played.pool, strict=True):
        assert began is None or began >= task.submitted
        assert not (where and task.account == "shut")
    # The charged amount is that of the instance hours.
    ran = sum(stay.usd_hour * (stay.ended - stay.launched) / HOUR for stay in played.stays)
    assert sum(played.spent.values()) == pytest.approx(ran)
    cap = site.policy.accounts["open"].monthly_usd
    for (month, account), usd in by_account(played).items():
        assert account in ("open", "")
        if account == "open" and cap is not None:
            assert usd <= cap + 1e-6
        if site.policy.hard and site.policy.monthly_usd is not None:
            assert sum(u for (m, _), u in by_account(played).items() if m == month) <= site.policy.monthly_usd + 1e-6


@settings(max_examples=50, deadline=None)
@given(queues(), SETTINGS)
def test_a_repeated_replay_has_the_same_result(tasks: list[SimulatedJob], site: Scenario) -> None:
    assert replay(site, tasks) == replay(site, tasks)


@settings(max_examples=examples(20, 60), deadline=None)
@given(queues(), SETTINGS)
def test_every_job_that_can_start_starts(tasks: list[SimulatedJob], site: Scenario) -> None:
    """Check that only a job that fits nowhere or exceeds its budget never starts."""
    played = replay(site, tasks)
    for number, (task, began) in enumerate(zip(tasks, played.began, strict=True)):
        if began is None:
            assert task.gpus > site.onprem_gpus
            assert any(number in jobs for jobs in played.refused.values())
    assert not played.refused.get("RESIDENCY", set()) & {n for n, task in enumerate(tasks) if task.account != "shut"}


@settings(max_examples=examples(33, 100), deadline=None)
@given(queues(some.just(1)), some.booleans(), some.sampled_from((None, 0.0, 1800.0)))
def test_with_bursting_no_job_waits_longer_than_the_boot_time(
    tasks: list[SimulatedJob], capped: bool, wait: float | None
) -> None:
    """Check jobs of one GPU, first come first served: a job that bursts delays no later job."""
    site = scenario(cap=200.0 if capped else None, wait=wait)
    without, bursting = replay(site, tasks, bursting=False), replay(site, tasks)
    for before, after in zip(without.began, bursting.began, strict=True):
        assert before is not None and after is not None
        assert after <= before + 600.0


@settings(max_examples=examples(20, 60), deadline=None)
@given(queues(some.just(1)))
def test_equal_jobs_start_in_the_sequence_of_submission(tasks: list[SimulatedJob]) -> None:
    began = [began for began in replay(scenario(), tasks, bursting=False).began if began is not None]
    assert began == sorted(began) and len(began) == len(tasks)


@settings(max_examples=50, deadline=None)
@given(queues(some.sampled_from((1, 2, 4, 8)), exact=True))
def test_backfill_does_not_delay_the_oldest_job(tasks: list[SimulatedJob]) -> None:
    """Check with exact limits that the oldest job starts at its reservation or earlier."""
    site = scenario(pools=())
    played = replay(site, tasks, bursting=False)
    for number, (task, began) in enumerate(zip(tasks, played.began, strict=True)):
        assert began is not None
        # Its wait is at most the total duration of all earlier jobs.
        before = [task.seconds for task in tasks[:number]]
        assert began <= task.submitted + sum(before) + 1e-6


def test_backfill_starts_only_jobs_that_end_in_time() -> None:
    site = scenario(nodes=1, gpus=8, pools=())
    rows = [(0, 4, 100.0), (1, 8, 50.0), (2, 4, 300.0), (3, 4, 90.0)]
    tasks = [SimulatedJob(START + at, seconds, gpus, "open", seconds) for at, gpus, seconds in rows]
    began = [began - START for began in replay(site, tasks, bursting=False).began if began is not None]
    # The second waits for all GPUs; the third would delay it; the fourth ends before the second starts.
    assert began == [0, 100, 150, 3]


def test_a_gang_needs_one_zone() -> None:
    site = scenario(nodes=0, pools=((4, 0),), size=2, boot=0.0)
    tasks = [SimulatedJob(START, 600.0, gpus, "open", 600.0) for gpus in (12, 8, 8)]
    played = replay(site, tasks)
    assert played.began == [None, START, START], "no zone has three nodes"
    assert played.refused == {"SIZE": {0}}


def test_min_nodes_are_charged_to_no_account_and_per_month() -> None:
    site = scenario(nodes=1, pools=((1, 1),), usd=10.0)
    played = replay(
        site, [SimulatedJob(START, 72 * HOUR, 4, "open", 72 * HOUR), SimulatedJob(START, HOUR, 4, "open", HOUR)]
    )
    assert played.began == [START, START], "a running node needs no boot"
    assert played.pool == ["", "p1"]
    assert {key: round(usd) for key, usd in played.spent.items()} == {
        ("2017-10", "", "p1"): 480,
        ("2017-11", "", "p1"): 240,
    }


def test_a_job_over_budget_starts_in_the_next_month() -> None:
    site = scenario(
        nodes=0, cap=100.0, boot=0.0, suspend=60.0
    )  # one hour costs 40 USD; a quarter of an hour is held for its end
    tasks = [SimulatedJob(START + n, 0.2 * HOUR, 4, "open", 2 * HOUR) for n in range(3)]
    played = replay(site, tasks)
    months = [month_of(began) for began in played.began if began is not None]
    assert months == ["2017-10", "2017-10", "2017-11"], "the unused part of the first hold is enough for one more job"
    assert played.refused == {"BUDGET": {1, 2}}
    assert played.began[0] == START and played.began[1] is not None and played.began[1] > START + 0.2 * HOUR


def test_a_job_above_the_monthly_budget_never_starts() -> None:
    played = replay(scenario(nodes=0, cap=10.0), [SimulatedJob(START, HOUR, 4, "open", HOUR)])
    assert played.began == [None] and played.refused == {"BUDGET": {0}} and played.spent == {}


def test_a_job_with_a_short_wait_on_prem_does_not_burst() -> None:
    tasks = [SimulatedJob(START, 900.0, 8, "open", 900.0), SimulatedJob(START + 60, 900.0, 8, "open", 900.0)]
    assert replay(scenario(wait=1800.0), tasks).pool == ["", ""]
    assert replay(scenario(wait=600.0), tasks).pool == ["", "p1"]


def test_an_instance_is_shared_and_then_terminated() -> None:
    site = scenario(nodes=0, boot=600.0, suspend=300.0)
    played = replay(site, [SimulatedJob(START, HOUR, 1, "open", HOUR), SimulatedJob(START + 60, HOUR, 3, "open", HOUR)])
    assert played.began == [START + 600, START + 600]
    (stay,) = played.stays
    assert (stay.launched, stay.ended) == (START, START + 600 + HOUR + 300)


@given(some.lists(some.tuples(some.booleans(), some.integers(1, 14), some.integers(0, 99)), max_size=60))
def test_the_allocator_counts_every_gpu_once(steps: list[tuple[bool, int, int]]) -> None:
    allocator, jobs = GpuAllocator(4), list[tuple[int, int]]()
    for node in range(4):
        allocator.add(node)
    for number, (is_request, gpus, choice) in enumerate(steps):
        if is_request:
            parts = allocator.fit(gpus)
            if parts is not None:
                assert sum(count for _, count in parts) == gpus
                assert len({node for node, _ in parts}) == len(parts) == math.ceil(gpus / 4)
                allocator.take(number, parts, 1.0)
                jobs.append((number, gpus))
        elif jobs:
            allocator.give(jobs.pop(choice % len(jobs))[0])
        allocated = sum(gpus for _, gpus in jobs)
        assert allocator.idle == sum(allocator.free.values()) == 16 - allocated
        assert all(0 <= free <= 4 and node in allocator.by_free[free] for node, free in allocator.free.items())
        assert sum(map(len, allocator.by_free)) == 4


@given(some.lists(some.tuples(some.integers(1, 10), some.integers(1, 50)), max_size=12), some.integers(1, 16))
def test_a_job_fits_at_its_earliest_start_and_not_before(jobs: list[tuple[int, int]], requested: int) -> None:
    """Check that the job fits at the computed time if no other job starts, and does not fit before."""
    allocator = GpuAllocator(4)
    for node in range(4):
        allocator.add(node)
    for number, (gpus, until) in enumerate(jobs):
        parts = allocator.fit(gpus)
        if parts is not None:
            allocator.take(number, parts, float(until))
    if allocator.fit(requested) is not None:
        return
    moment, spare = earliest(requested, 4, [allocator.free[node] for node in range(4)], allocator.running.values())
    ends = sorted((until, number) for number, (until, _) in allocator.running.items())
    cut = bisect_right([until for until, _ in ends], moment)
    last = [number for until, number in ends if until == moment]
    for _, number in ends[:cut]:
        if number not in last:
            allocator.give(number)
    assert allocator.fit(requested) is None
    for number in last:
        allocator.give(number)
    assert allocator.fit(requested) is not None and allocator.idle - requested >= spare >= 0
