"""Nodes whose instance has a failed status check or a scheduled event: when no new job starts there, and when jobs leave."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.daemon.outcomes import outcome_records
from landbridge.burst.model import (
    ActionOutcome,
    BurstPolicy,
    Down,
    InstanceStatus,
    PowerDown,
    ReadStatuses,
    ReconcileDecision,
    SlurmNode,
    SlurmView,
    State,
    StatusRead,
)
from landbridge.timestamps import iso
from tests.unit.burst.reconcile.instances.test_garbage_collection import ended
from tests.unit.burst.situations import (
    BUSY,
    IDLE,
    LEAVING,
    NOW,
    OFF,
    OFFERINGS,
    RISING,
    at,
    decide,
    ec2,
    end,
    events,
    instance,
    job,
    of,
    offering,
    site,
    slurm,
)

DAY = 86_400.0
POLICY = site(impaired_seconds=300.0, event_margin_seconds=900.0)
READ = StatusRead(NOW + 60, NOW)
RETIREMENT = InstanceStatus(event="instance-retirement", event_at=NOW + DAY)
TEXT = f"EC2 has scheduled instance-retirement at {iso(NOW + DAY)}"


def known(status: InstanceStatus, id: str = "i-1", read: StatusRead = READ) -> State:
    return State(instance_statuses={id: status}, status_reads={"": read})


def decided(
    view: SlurmView, status: InstanceStatus, now: float = NOW, policy: BurstPolicy = POLICY, **fields: Any
) -> ReconcileDecision:
    cloud = ec2(instance("i-1", "g-1", **{"lease": now + 7200, **fields}), at=now)
    return decide(at(view, now), cloud, known(status, read=StatusRead(now + 60, now)), policy, now)


def idle(reason: str = "", *flags: str) -> SlurmView:
    return slurm(nodes=[SlurmNode("g-1", frozenset({*IDLE, *flags}), reason)])


def running(**fields: Any) -> SlurmView:
    return slurm(job(1, "g-1", state="RUNNING", **fields))


# Reads.


def test_the_statuses_of_each_region_are_read_once_a_minute_and_only_of_running_instances() -> None:
    cloud = ec2(
        instance("i-1", "g-1"),
        instance("i-2", "g-2", region="far"),
        instance("i-3", "g-3", state="pending"),
    )
    view = slurm(states=dict.fromkeys(("g-1", "g-2", "g-3"), IDLE))
    first = decide(view, cloud, policy=POLICY)
    reads = of(first, ReadStatuses)
    assert reads == [ReadStatuses("", ("i-1",)), ReadStatuses("far", ("i-2",))]
    state = end(first, reads[0], ActionOutcome(), POLICY)
    again = decide(view, cloud, replace(first.state, status_reads=state.status_reads), POLICY)
    assert of(again, ReadStatuses) == reads[1:]
    later = NOW + 61
    due = decide(at(view, later), replace(cloud, at=later), state, POLICY, later)
    assert of(due, ReadStatuses)[0] == reads[0]


@pytest.mark.parametrize(("code", "most"), [("", 60.0), ("UnauthorizedOperation", POLICY.breaker_seconds)])
def test_a_read_that_a_fast_clock_planned_is_due_after_the_usual_wait(code: str, most: float) -> None:
    cloud, view = ec2(instance("i-1", "g-1")), slurm(states={"g-1": IDLE})
    fast = State(status_reads={"": StatusRead(NOW + 7200, NOW + 7140, code)})
    assert decide(view, cloud, fast, POLICY).state.status_reads[""].until == NOW + most


def test_without_instances_nothing_is_read() -> None:
    assert not of(decide(slurm(), ec2(), policy=POLICY), ReadStatuses)
    assert not of(decide(slurm(), None, policy=POLICY), ReadStatuses)


@pytest.mark.parametrize(("code", "wait"), [("UnauthorizedOperation", 600.0), ("RequestLimitExceeded", 60.0)])
def test_a_failed_read_changes_no_status_and_is_reported_once(code: str, wait: float) -> None:
    before = known(RETIREMENT, read=StatusRead(NOW, NOW - 60))
    view, cloud = running(), ec2(instance("i-1", "g-1"))
    outcome, now = ActionOutcome(code, "no"), NOW
    state, reported = before, 0
    for _ in range(3):
        decision = decide(at(view, now), replace(cloud, at=now), state, POLICY, now)
        (read,) = of(decision, ReadStatuses)
        reported += len(outcome_records(read, outcome, now))
        state = end(decision, read, outcome, POLICY, now)
        assert state.instance_statuses == before.instance_statuses
        assert (state.status_reads[""].read_at, state.status_reads[""].code) == (NOW - 60, code)
        assert state.status_reads[""].until == now + wait
        now += wait
    assert reported == 1


def test_a_status_that_is_no_longer_reported_is_forgotten() -> None:
    decision = decide(idle(), ec2(instance("i-1", "g-1")), known(RETIREMENT, read=StatusRead(NOW - 1)), POLICY)
    (read,) = of(decision, ReadStatuses)
    assert end(decision, read, ActionOutcome(), POLICY).instance_statuses == {}
    other = decide(slurm(), ec2(), known(RETIREMENT), POLICY)
    assert other.state.instance_statuses == {} and other.state.status_reads == {}


# Scheduled events.


def test_an_idle_node_with_an_event_is_powered_down_with_the_event_as_its_reason() -> None:
    decision = decided(idle(), RETIREMENT)
    assert of(decision, PowerDown) == [PowerDown(("g-1",), "EVENT", TEXT)]
    assert not of(decision, Down) and not ended(decision)


def test_a_running_job_keeps_its_node_on_which_no_further_job_starts() -> None:
    decision = decided(running(minutes=None), RETIREMENT)
    assert of(decision, PowerDown) == [PowerDown(("g-1",), "EVENT", TEXT)] and not of(decision, Down)
    assert [record.jobs for record in events(decision, "power-down")] == [(1,)]


@pytest.mark.parametrize(
    "view",
    [
        idle("ann looks", "DRAIN"),
        idle("", "POWER_DOWN"),
        idle(TEXT, "DRAIN", "POWER_DOWN"),
        slurm(nodes=[SlurmNode("g-1", frozenset({"DOWN", "CLOUD"}), "ann looks")]),
        slurm(states={"g-1": LEAVING}),
        slurm(states={"g-1": OFF}),
    ],
    ids=["drained by a person", "powers down when idle", "drained for the event", "down by a person", "leaves", "off"],
)
@pytest.mark.parametrize("status", [RETIREMENT, InstanceStatus(("system",))])
def test_other_nodes_stay_as_they_are(view: SlurmView, status: InstanceStatus) -> None:
    decision = decided(view, status)
    assert not of(decision, PowerDown) and not of(decision, Down)


@pytest.mark.parametrize(
    ("left", "fields", "leaves"),
    [
        (1000.0, {"minutes": None}, False),
        (899.0, {"minutes": None}, True),
        (899.0, {"minutes": 600}, True),
        (899.0, {"minutes": 10}, False),  # ends before the event
        (899.0, {"minutes": None, "may_requeue": False}, False),
        (899.0, {"minutes": None, "is_batch": False}, False),
        (-30.0, {"minutes": None}, True),
    ],
)
def test_a_job_is_requeued_before_the_event_if_slurm_requeues_it(
    left: float, fields: dict[str, Any], leaves: bool
) -> None:
    view = running(started=NOW, **fields)
    decision = decided(view, replace(RETIREMENT, event_at=NOW + left))
    downs = of(decision, Down)
    assert [(down.nodes, down.code) for down in downs] == ([(("g-1",), "EVENT")] if leaves else [])
    assert (ended(decision) == {"i-1"}) is leaves and (1 in decision.state.backoffs) is leaves
    assert bool(of(decision, PowerDown)) is not leaves


def test_a_pass_is_due_when_the_margin_begins() -> None:
    decision = decided(running(minutes=None), replace(RETIREMENT, event_at=NOW + 907))
    assert decision.next_pass == NOW + 7


@pytest.mark.parametrize("words", [BUSY, RISING])
@pytest.mark.parametrize(("minutes", "leaves"), [(30, False), (50, True), (None, True)])
def test_a_job_that_has_not_started_leaves_at_once_if_the_event_would_end_it(
    words: tuple[str, ...], minutes: int | None, leaves: bool
) -> None:
    view = slurm(job(1, "g-1", minutes=minutes), states={"g-1": words})
    decision = decided(view, replace(RETIREMENT, event_at=NOW + 3600))
    assert bool(of(decision, Down)) is leaves and bool(of(decision, PowerDown)) is not leaves


def test_a_job_that_may_not_be_requeued_protects_the_other_jobs_of_its_node() -> None:
    view = slurm(
        job(1, "g-1", state="RUNNING", minutes=None), job(2, "g-1", state="RUNNING", minutes=None, is_batch=False)
    )
    decision = decided(view, replace(RETIREMENT, event_at=NOW + 60))
    assert not of(decision, Down) and of(decision, PowerDown)


def test_an_event_without_a_time_drains_its_node_only() -> None:
    decision = decided(running(minutes=None), InstanceStatus(event="instance-stop"))
    assert of(decision, PowerDown) == [PowerDown(("g-1",), "EVENT", "EC2 has scheduled instance-stop")]
    assert not of(decision, Down)


BLOCK = offering("a", market="capacity-block", closes=NOW + DAY)


@pytest.mark.parametrize(("before", "acts"), [(0.0, False), (-1800.0, False), (60.0, True)])
@pytest.mark.parametrize("is_known", [True, False], ids=["launch in the journal", "journal lost"])
def test_the_end_of_a_capacity_block_is_no_event(before: float, acts: bool, is_known: bool) -> None:
    policy = site((BLOCK, *OFFERINGS))
    member = instance("i-1", "g-1", market="capacity-block")
    state = known(replace(RETIREMENT, event_at=NOW + DAY - before))
    if is_known:
        # The pass before has recorded the launch.
        state = replace(decide(idle(), ec2(member), policy=policy).state, **_statuses(state))
    decision = decide(idle(), ec2(member), state, policy)
    assert bool(of(decision, PowerDown)) is acts


def _statuses(state: State) -> dict[str, Any]:
    return {"instance_statuses": state.instance_statuses, "status_reads": state.status_reads}


# Failed status checks.


def impaired_decisions(view: SlurmView, times: tuple[float, ...], read_age: float = 0.0) -> list[ReconcileDecision]:
    state, decisions = known(InstanceStatus(("system",))), list[ReconcileDecision]()
    for now in times:
        state = replace(state, status_reads={"": StatusRead(now + 60, now - read_age)})
        cloud = ec2(instance("i-1", "g-1", lease=now + 7200), at=now)
        decisions.append(decide(at(view, now), cloud, state, POLICY, now))
        state = decisions[-1].state
    return decisions


TIMES = tuple(NOW + 30.0 * number for number in range(13))


def test_an_idle_node_is_replaced_after_its_check_has_failed_for_the_time_of_the_policy() -> None:
    acted = [now - NOW for now, d in zip(TIMES, impaired_decisions(idle(), TIMES), strict=True) if of(d, Down)]
    assert acted[0] == 300.0
    last = impaired_decisions(idle(), TIMES[:11])[-1]
    (down,) = of(last, Down)
    assert (down.code, down.text) == ("IMPAIRED", "EC2's status check of the system fails") and ended(last) == {"i-1"}


def test_a_running_job_keeps_an_impaired_node_until_it_ends() -> None:
    last = impaired_decisions(running(minutes=None), TIMES)[-1]
    assert of(last, PowerDown) and not of(last, Down)


def test_a_job_that_has_not_started_leaves_an_impaired_node() -> None:
    view = slurm(job(1, "g-1", "g-2"), states={"g-1": BUSY})
    assert of(impaired_decisions(view, TIMES)[-1], Down)


def test_an_old_read_proves_nothing() -> None:
    assert not any(of(d, Down) for d in impaired_decisions(idle(), TIMES, read_age=200.0))


def test_a_check_that_passes_between_starts_the_time_again() -> None:
    first = impaired_decisions(idle(), TIMES[:8])[-1].state
    healthy = replace(first, instance_statuses={})
    between = decide(at(idle(), NOW + 240), ec2(instance("i-1", "g-1"), at=NOW + 240), healthy, POLICY, NOW + 240)
    again = replace(between.state, instance_statuses=first.instance_statuses)
    later = decide(at(idle(), NOW + 330), ec2(instance("i-1", "g-1"), at=NOW + 330), again, POLICY, NOW + 330)
    assert not of(later, Down)


@given(
    words=st.sampled_from([IDLE, BUSY, RISING, OFF, LEAVING]),
    state=st.sampled_from(["RUNNING", "CONFIGURING", "COMPLETING", None]),
    minutes=st.sampled_from([None, 5, 600]),
    left=st.sampled_from([-60.0, 300.0, 3600.0, DAY, None]),
    batch=st.booleans(),
)
def test_after_a_pass_no_node_with_an_event_accepts_a_new_job(
    words: tuple[str, ...], state: str | None, minutes: int | None, left: float | None, batch: bool
) -> None:
    jobs = [job(1, "g-1", state=state, minutes=minutes, is_batch=batch)] if state else []
    decision = decided(
        slurm(*jobs, states={"g-1": words}), replace(RETIREMENT, event_at=None if left is None else NOW + left)
    )
    closed = {node for action in of(decision, PowerDown) + of(decision, Down) for node in action.nodes}
    assert "g-1" in closed or words in (OFF, LEAVING)
    assert not (of(decision, Down) and not batch and state in ("RUNNING", "CONFIGURING") and words in (IDLE, BUSY))
