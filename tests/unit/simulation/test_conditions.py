"""Conditions of a replay: failures, spot loss, AWS's capacity, GPU types, fair share, and the cost of both sites."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from landbridge.simulation.conditions import CapacityStep, Conditions
from landbridge.simulation.fair_share import DecayedUsage
from landbridge.simulation.mapping import AccountMapping, simulated_jobs
from landbridge.simulation.replay import replay
from landbridge.simulation.report import ASSUMPTIONS, assumptions, report
from landbridge.simulation.result import SimulatedJob, SimulationResult
from landbridge.simulation.scenario import scenario_of
from landbridge.trace import TraceJob
from tests.thorough import examples
from tests.unit.core.samples import shipped
from tests.unit.simulation.queues import START, scenario
from tests.unit.simulation.test_replay import HOUR, SETTINGS, peak, queues, spans

FAILING = some.builds(
    Conditions,
    mtbf_hours=some.sampled_from((20.0, 200.0)),
    repair_hours=some.sampled_from((0.5, 30.0)),
    spot_interruptions=some.sampled_from((0.0, 0.1)),
    checkpoint_seconds=some.sampled_from((None, 600.0, HOUR)),
    restart_seconds=some.sampled_from((0.0, 300.0)),
    max_restarts=some.sampled_from((0, 3, 30)),
    half_life_hours=some.sampled_from((None, 24.0)),
    seed=some.integers(0, 50),
)


def jobs(*rows: tuple[float, float, int], account: str = "open", user: str = "") -> list[SimulatedJob]:
    return [SimulatedJob(START + at, seconds, gpus, account, seconds, "", user) for at, seconds, gpus in rows]


def finished(played: SimulationResult) -> float:
    """Return the GPU-seconds of the jobs that ended."""
    return sum(
        task.seconds * task.gpus
        for number, (task, began) in enumerate(zip(played.tasks, played.began, strict=True))
        if began is not None and number not in played.unfinished
    )


@settings(max_examples=examples(40, 120), deadline=None)
@given(queues(), SETTINGS, FAILING)
def test_time_on_gpus_is_finished_work_and_what_was_repeated(tasks, site, conditions) -> None:  # type: ignore[no-untyped-def]
    played = replay(site, tasks, conditions=conditions)
    assert played.gpu_seconds[0] + played.gpu_seconds[1] >= finished(played) + played.lost_gpu_seconds - 1e-3
    if not played.unfinished:
        assert sum(played.gpu_seconds) == pytest.approx(finished(played) + played.lost_gpu_seconds)
    interval = conditions.checkpoint_seconds
    if interval is not None and tasks:
        # Each interruption ends the jobs of one node, of which each loses at most an interval and a restart.
        killed = played.restarts + len(played.unfinished)
        largest = max(task.gpus for task in tasks)
        assert played.lost_gpu_seconds <= (killed * (interval + 2 * conditions.restart_seconds)) * largest + 1e-3
    assert replay(site, tasks, conditions=conditions) == played, "the seed decides"
    for pool in site.pools:
        stays = [(stay.launched, stay.ended, 1) for stay in played.stays if stay.pool == pool.name]
        assert peak(stays) <= site.policy.pools[pool.name].max_nodes
    ran = sum(stay.usd_hour * (stay.ended - stay.launched) / HOUR for stay in played.stays)
    assert sum(played.spent.values()) == pytest.approx(ran)


@settings(max_examples=examples(20, 60), deadline=None)
@given(queues(), SETTINGS)
def test_conditions_that_never_occur_change_nothing(tasks, site) -> None:  # type: ignore[no-untyped-def]
    plain = replay(site, tasks)
    rare = replay(site, tasks, conditions=Conditions(mtbf_hours=1e15))
    assert (rare.began, rare.pool, rare.spent, rare.ended) == (plain.began, plain.pool, plain.spent, plain.ended)
    steps = tuple(CapacityStep(pool.name, 1000) for pool in site.pools)
    assert replay(site, tasks, conditions=Conditions(capacity=steps)) == plain


def test_a_job_of_a_failed_node_starts_again_from_its_checkpoint() -> None:
    site = scenario(nodes=1, gpus=4, pools=())
    tasks = jobs((0, 100 * HOUR, 4))
    base = Conditions(mtbf_hours=30.0, repair_hours=2.0, max_restarts=10_000, seed=3)
    from_start = replay(site, tasks, conditions=base)
    hourly = replay(site, tasks, conditions=replace(base, checkpoint_seconds=HOUR, restart_seconds=60.0))
    assert from_start.began == hourly.began == [START]
    assert hourly.restarts == hourly.interruptions[""] > 0 and not hourly.unfinished
    assert hourly.lost_gpu_seconds <= hourly.restarts * 4 * (HOUR + 120)
    # Only the node's down time and the lost work are added to the run time.
    assert hourly.ended - START >= 100 * HOUR + 2 * HOUR * hourly.restarts
    assert from_start.lost_gpu_seconds > hourly.lost_gpu_seconds
    assert replay(site, tasks, conditions=replace(base, max_restarts=0)).unfinished == {0}


def test_a_large_job_gets_its_reservation_when_a_failed_node_is_repaired() -> None:
    """A job of both nodes waits among many small ones. While a node is down it has no latest start, and they pass it."""
    small, large = [(1800.0 * n, HOUR, 4) for n in range(600)], [(n * 20 * HOUR + 60, HOUR, 8) for n in range(10)]
    tasks = sorted(jobs(*small, *large), key=lambda task: task.submitted)
    waits = []
    for seed in range(4):
        conditions = Conditions(mtbf_hours=30.0, repair_hours=4.0, checkpoint_seconds=60.0, seed=seed)
        played = replay(scenario(nodes=2, gpus=4, pools=()), tasks, bursting=False, conditions=conditions)
        for task, began in zip(tasks, played.began, strict=True):
            if task.gpus == 8:
                assert began is not None
                waits.append(began - task.submitted)
    assert sum(waits) / len(waits) < 40 * HOUR


def test_only_spot_instances_are_interrupted_and_another_one_is_launched() -> None:
    tasks = jobs((0, 200 * HOUR, 4))
    loss = Conditions(spot_interruptions=0.1, checkpoint_seconds=1800.0, max_restarts=1000)
    on_demand = replay(scenario(nodes=0), tasks, conditions=loss)
    assert on_demand.interruptions == {} and on_demand.launches == {"p1": 1}
    spot = replay(scenario(nodes=0, kind="spot"), tasks, conditions=loss)
    assert spot.interruptions["p1"] == spot.restarts >= 5 and not spot.unfinished
    assert spot.launches["p1"] == spot.restarts + 1 == len(spot.stays)


def test_a_node_that_is_kept_is_launched_again() -> None:
    site = scenario(nodes=1, pools=((1, 1),), kind="spot")
    played = replay(site, jobs((0, 300 * HOUR, 4)), conditions=Conditions(spot_interruptions=0.05))
    assert played.interruptions["p1"] >= 3 and played.launches["p1"] == played.interruptions["p1"] + 1


def test_aws_has_only_the_given_number_of_instances() -> None:
    """One instance at first, three from the fifth hour on: the second and third job start then."""
    site = scenario(nodes=0, boot=0.0)
    tasks = jobs((0, 10 * HOUR, 4), (60, HOUR, 4), (120, HOUR, 4))
    steps = (CapacityStep("p1", 1), CapacityStep("p1", 3, START + 5 * HOUR))
    played = replay(site, tasks, conditions=Conditions(capacity=steps))
    assert played.began == [START, START + 5 * HOUR, START + 5 * HOUR]
    assert played.refused == {"CAPACITY": {1, 2}} and played.peaks == {"p1": 3}
    # Without any instance a job of the site's size waits on-prem, and one that fits nowhere else for the later step.
    none = Conditions(capacity=(CapacityStep("p1", 0), CapacityStep("p1", 1, START + 50 * HOUR)))
    assert replay(site, tasks[:1], conditions=none).began == [START + 50 * HOUR]
    assert replay(site, tasks[:1], conditions=Conditions(capacity=(CapacityStep("p1", 0),))).began == [None]
    both = replay(scenario(nodes=1), tasks, conditions=Conditions(capacity=(CapacityStep("p1", 0),)))
    assert both.pool == ["", "", ""] and both.launches == {"p1": 0}


@settings(max_examples=examples(20, 60), deadline=None)
@given(queues(), some.integers(0, 3), some.integers(0, 3), some.integers(0, 100))
def test_running_instances_are_within_the_capacity_of_their_launch(tasks, first, later, hours) -> None:  # type: ignore[no-untyped-def]
    change = START + hours * HOUR
    steps = (CapacityStep("p1", first), CapacityStep("p1", later, change))
    played = replay(scenario(pools=((3, 0),)), tasks, conditions=Conditions(capacity=steps))
    for stay in played.stays:
        running = sum(other.launched <= stay.launched < other.ended for other in played.stays)
        assert running <= (first if stay.launched < change else max(first, later))
    assert peak(spans(played, "")) <= 8


def test_a_job_runs_only_on_gpus_of_its_type() -> None:
    site = replace(
        scenario(gpus=4, boot=0.0), onprem=((1, 4), (1, 4)), onprem_kinds=("a100", "h100"),
    )  # fmt: skip
    site = replace(site, pools=tuple(replace(pool, kind="h100") for pool in site.pools))
    rows = [("a100", 4), ("a100", 4), ("h100", 4), ("h100", 4), ("", 4), ("v100", 1)]
    tasks = [SimulatedJob(START + n, HOUR, gpus, "open", HOUR, kind) for n, (kind, gpus) in enumerate(rows)]
    played = replay(site, tasks)
    assert played.pool == ["", "", "", "p1", "p1", ""] and played.began[1] == START + HOUR
    assert played.began[5] is None and played.refused["KIND"] == {1, 5}
    plain = replay(replace(site, onprem_kinds=()), [replace(task, kind="") for task in tasks])
    assert plain.began[1] == START + 1


def test_types_are_those_of_the_environment_and_the_trace() -> None:
    site = scenario_of(shipped("hybrid"), kinds=True)
    assert site.onprem_kinds == ("h100",) and {pool.kind for pool in site.pools} == {"h100"}
    assert scenario_of(shipped("hybrid")).onprem_kinds == ()
    trace = [TraceJob(START, 60.0, 1, kind="H100", user="ann", group="vc")]
    (task,) = simulated_jobs(trace, site.policy, AccountMapping(kinds=True))
    assert (task.kind, task.user) == ("h100", "ann")
    assert simulated_jobs(trace, site.policy, AccountMapping())[0].kind == ""


def test_fair_share_starts_the_user_with_the_least_usage_first() -> None:
    site = scenario(nodes=1, gpus=4, pools=())
    flood = jobs(*((n, HOUR, 4) for n in range(6)), user="ann")
    late = jobs((100, HOUR, 4), user="bob")
    first_come = replay(site, [*flood, *late])
    assert first_come.began[6] == START + 6 * HOUR
    fair = replay(site, [*flood, *late], conditions=Conditions(half_life_hours=24.0))
    assert fair.began[6] == START + HOUR and fair.began[1] == START + 2 * HOUR
    # Between accounts the shares count: with 100 shares of "open", its two users stay ahead.
    other = jobs((50, HOUR, 4), account="shut", user="eve")
    tasks = sorted([*flood, *late, *other], key=lambda task: task.submitted)
    shares = Conditions(half_life_hours=24.0, shares={"open": 1000.0})
    assert replay(site, tasks, conditions=replace(shares, shares={})).began[6] == START + HOUR
    assert replay(site, tasks, conditions=shares).began[6] == START + HOUR, "an account without usage is first"


@given(some.lists(some.tuples(some.floats(0, 1e6), some.integers(1, 8)), min_size=1, max_size=6), some.floats(1e3, 1e6))
def test_usage_is_that_of_an_integral_with_decay(rows: list[tuple[float, int]], half_life: float) -> None:
    usage, now, running = DecayedUsage(half_life, {}), 0.0, 0
    expected = 0.0
    for gap, gpus in rows:
        steps = 2000
        for _ in range(steps):
            expected *= 0.5 ** (gap / steps / half_life)
            expected += running * gap / steps * 0.5 ** (gap / steps / half_life / 2)
        now += gap
        usage.change("a", "u", gpus, now)
        running += gpus
        usage.now = now
        assert usage.order("a", "u")[0] == pytest.approx(expected, rel=1e-2, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(queues(), SETTINGS)
def test_every_job_that_can_start_starts_with_fair_share(tasks, site) -> None:  # type: ignore[no-untyped-def]
    played = replay(site, tasks, conditions=Conditions(half_life_hours=12.0))
    for number, (task, began) in enumerate(zip(tasks, played.began, strict=True)):
        if began is None:
            assert task.gpus > site.onprem_gpus
            assert any(number in numbers for numbers in played.refused.values())


def test_the_cost_of_both_sites_is_owned_hours_and_what_aws_costs() -> None:
    site = scenario(nodes=2, gpus=4, usd=40.0)
    tasks = jobs((0, 10 * HOUR, 8), (60, 5 * HOUR, 4))
    bursting, without = replay(site, tasks), replay(site, tasks, bursting=False)
    figures = report(site, bursting, without, owned_usd_gpu_hour=2.5)
    costs, alone = figures.both_sites, figures.both_sites_without
    assert costs is not None and alone is not None
    assert alone.onprem == alone.total == pytest.approx(15 * 8 * 2.5) and alone.aws == 0
    assert costs.onprem == pytest.approx((bursting.ended - START) / HOUR * 8 * 2.5)
    assert costs.aws == pytest.approx(figures.usd) and costs.total == pytest.approx(costs.onprem + costs.aws)
    assert costs.a_gpu_hour == pytest.approx(costs.total / 100)
    assert report(site, bursting, without).both_sites is None and figures.assumed == ASSUMPTIONS


def test_the_assumptions_name_the_conditions() -> None:
    assert assumptions() == ASSUMPTIONS
    text = " ".join(
        assumptions(
            Conditions(
                mtbf_hours=1000.0, spot_interruptions=0.1, checkpoint_seconds=1800.0, half_life_hours=168.0,
                capacity=(CapacityStep("p1", 1),),
            ),
            kinds=True,
        )
    )  # fmt: skip
    assert all(words in text for words in ("1,000 hours", "0.1 times", "30 minutes", "168 hours", "given capacity", "of one type"))  # fmt: skip
    assert "nothing fails" not in text
