"""Instances that do not register with Slurm: after several in a row the circuit breaker of their pool opens until a
reset or a successful launch."""

from dataclasses import replace

import pytest

from landbridge.burst.model import (
    ActionOutcome,
    CloudInstance,
    CommentJobs,
    Down,
    Launch,
    SlurmNode,
    SlurmOrder,
    State,
    Terminate,
)
from landbridge.burst.operator.edits import EditError, reset_breaker
from landbridge.burst.reconcile.instances.registration import BOOT_CODE, FAILURES_TO_OPEN_BREAKER
from tests.unit.burst.situations import (
    BUSY,
    NOW,
    decide,
    ec2,
    end,
    events,
    job,
    launched,
    of,
    only_launch,
    site,
    slurm,
    success,
)

LATE = "ResumeTimeout reached"
POLICY = site()


def start(state: State, number: int, now: float) -> tuple[State, tuple[CloudInstance, ...]]:
    """Launch the node of a job; return the journal state and the instances."""
    decision = decide(slurm(job(number, f"g-{number}", started=now - 5), at=now), ec2(at=now), state, now=now)
    launch = only_launch(decision)
    outcome = success(launch, first=10 * number)
    return end(decision, launch, outcome, now=now), launched(launch, outcome, at=now)


def fail_registration(state: State, number: int, now: float) -> State:
    """Return the state after one more launch whose node does not register in time."""
    state, instances = start(state, number, now)
    down = SlurmNode(f"g-{number}", frozenset({"DOWN", "CLOUD", "POWERED_DOWN"}), LATE)
    decision = decide(slurm(nodes=[down], at=now + 600), ec2(*instances, at=now + 600), state, now=now + 600)
    (terminate,) = of(decision, Terminate)
    return end(decision, terminate, ActionOutcome(), now=now + 600)


def failed(count: int, state: State | None = None, since: float = NOW) -> tuple[State, float]:
    current = state or State()
    for number in range(1, count + 1):
        current = fail_registration(current, number, since)
        since += 700
    return current, since


def test_several_registration_failures_in_a_row_open_the_breaker_with_the_node_name() -> None:
    state, now = failed(FAILURES_TO_OPEN_BREAKER - 1)
    assert not state.breakers
    state, now = failed(1, state, now)
    breaker = state.breakers["gpu"]
    assert (
        breaker.code == BOOT_CODE and "g-1" in breaker.message and breaker.until == now - 100 + POLICY.breaker_seconds
    )
    refused = decide(slurm(job(7, "g-7", started=now), at=now), ec2(at=now), state, now=now)
    assert not of(refused, Launch)
    (down,) = of(refused, Down)
    assert down.code == "BREAKER" and "did not register" in down.text


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("landbridge: image: gpus: 7 of 8 GPUs answer", "its check before slurmd failed: gpus: 7 of 8 GPUs answer"),
        (
            "landbridge: action: node_start setup.sh: exit status 3",
            "a script of its pool failed before slurmd: node_start setup.sh: exit status 3",
        ),
    ],
)
def test_a_node_that_refuses_itself_counts_and_its_reason_is_in_the_breaker(reason: str, text: str) -> None:
    state, now = State(), NOW
    for number in range(1, FAILURES_TO_OPEN_BREAKER + 1):
        state, instances = start(state, number, now)
        down = SlurmNode(f"g-{number}", frozenset({"DOWN", "CLOUD"}), reason)
        ending = tuple(replace(instance, state="shutting-down") for instance in instances)
        pending = slurm(job(number, state="PENDING", started=None), nodes=[down], at=now + 60)
        decision = decide(pending, ec2(*ending, at=now + 60), state, now=now + 60)
        state, now = decision.state, now + 700
    assert state.breakers["gpu"].message.endswith(text)


UNHEALTHY = "landbridge:model:GPU 0 at 0000:1b:00.0 is a NVIDIA B200, not a NVIDIA H100; do: inspect"


def drain(state: State, number: int, now: float, age: float) -> tuple[State, float]:
    """Launch a node that its health checks drain `age` seconds later; return the state after that."""
    state, instances = start(state, number, now)
    sick = SlurmNode(f"g-{number}", frozenset({"IDLE", "CLOUD", "DRAIN"}), UNHEALTHY)
    later = now + age
    return decide(slurm(nodes=[sick], at=later), ec2(*instances, at=later), state, now=later).state, later + 700


def test_nodes_that_are_unhealthy_after_their_boot_open_the_breaker_with_the_reason() -> None:
    state, now = State(), NOW
    for number in range(1, FAILURES_TO_OPEN_BREAKER + 1):
        assert not state.breakers
        state, now = drain(state, number, now, 90.0)
    assert state.breakers["gpu"].message.endswith(
        "did not join, such as g-3: its health checks drained it: model:GPU 0 at 0000:1b:00.0 is a NVIDIA B200, not a"
        " NVIDIA H100; do: inspect"
    )


def test_nodes_that_become_unhealthy_later_do_not_open_the_breaker() -> None:
    state, now = State(), NOW
    for number in range(1, FAILURES_TO_OPEN_BREAKER + 2):
        state, now = drain(state, number, now, POLICY.pools["gpu"].resume_timeout + 1)
    assert not state.breakers and not state.registration_failures


@pytest.mark.parametrize("size", [1, 2])
def test_a_job_whose_node_did_not_register_is_commented_and_delayed_longer_each_time(size: int) -> None:
    nodes = ("g-1", "g-2")[:size]
    state, now, waits = State(), NOW, []
    for restarts in range(2):
        order = SlurmOrder(restarts + 1, "resume", nodes, now - 1, {1: nodes})
        starting = slurm(job(1, *nodes, started=now - 5, restarts=restarts), at=now)
        launching = decide(starting, ec2(at=now), replace(state, orders=(order,)), now=now)
        outcome = success(launch := only_launch(launching), first=10 * (restarts + 1))
        state, now = end(launching, launch, outcome, now=now), now + 600
        failed_node = SlurmNode("g-1", frozenset({"DOWN", "CLOUD", "POWERED_DOWN"}), LATE)
        pending = slurm(job(1, state="PENDING", started=None, restarts=restarts + 1), nodes=[failed_node], at=now)
        instances = launched(launch, outcome, at=now - 600)
        decision = decide(pending, ec2(*instances, at=now), state, now=now)
        (comment,) = of(decision, CommentJobs)[0].comments
        assert comment.job == 1 and "BOOT node g-1 did not register with slurmctld in time" in comment.text
        assert comment.until is not None
        waits.append(comment.until - now)
        repeated = decide(replace(pending, at=now + 15), ec2(*instances, at=now + 15), decision.state, now=now + 15)
        (again,) = of(repeated, CommentJobs)[0].comments
        assert again.until == comment.until, "one failure, one wait"
        state, now = repeated.state, now + 700
    assert waits == [60.0, 120.0]


def test_a_failed_node_is_counted_once_over_several_passes() -> None:
    state, instances = start(State(), 1, NOW)
    down = SlurmNode("g-1", frozenset({"DOWN", "CLOUD", "POWERED_DOWN"}), LATE)
    for second in range(600, 700, 20):
        state = decide(slurm(nodes=[down]), ec2(*instances), state, now=NOW + second).state
    assert not state.breakers


def test_a_registered_node_resets_the_count_of_failures() -> None:
    state, now = failed(FAILURES_TO_OPEN_BREAKER - 1)
    state, instances = start(state, 6, now)
    up = slurm(job(6, "g-6", state="RUNNING", started=now), states={"g-6": BUSY}, at=now + 60)
    state = decide(up, ec2(*instances, at=now + 60), state, now=now + 60).state
    state, _ = failed(FAILURES_TO_OPEN_BREAKER - 1, state, now + 100)
    assert not state.breakers


def test_after_the_time_of_the_breaker_one_launch_is_made_and_the_others_wait() -> None:
    state, now = failed(FAILURES_TO_OPEN_BREAKER)
    now = state.breakers["gpu"].until + 1
    gang = job(5, "g-4", "g-5", started=now)
    single = job(6, "g-6", started=now)
    first = decide(slurm(gang, single, at=now), ec2(at=now), state, now=now)
    launch = only_launch(first)
    assert launch.gang.jobs == (5,)
    outcome = success(launch)
    state = end(first, launch, outcome, now=now)
    assert state.breakers["gpu"].code == BOOT_CODE, "a launch by EC2 does not close the breaker"
    instances = launched(launch, outcome, at=now)
    second = decide(slurm(gang, single, at=now + 10), ec2(*instances, at=now + 10), state, now=now + 10)
    assert not of(second, Launch)
    assert [down.nodes for down in of(second, Down)] == [("g-6",)]
    running = replace(gang, state="RUNNING")
    joined = decide(
        slurm(running, states={"g-4": BUSY, "g-5": BUSY}, at=now + 60),
        ec2(*instances, at=now + 60),
        second.state,
        now=now + 60,
    )
    assert not joined.state.breakers


def test_after_the_time_of_the_breaker_one_of_several_single_nodes_is_launched() -> None:
    state, _ = failed(FAILURES_TO_OPEN_BREAKER)
    now = state.breakers["gpu"].until + 1
    jobs = [job(number, f"g-{number}", started=now) for number in (4, 5, 6)]
    assert len(only_launch(decide(slurm(*jobs, at=now), ec2(at=now), state, now=now)).gang.nodes) == 1


def test_a_further_registration_failure_opens_the_breaker_again() -> None:
    state, _ = failed(FAILURES_TO_OPEN_BREAKER)
    before = state.breakers["gpu"]
    reopened, _ = failed(1, state, before.until + 1)
    after = reopened.breakers["gpu"]
    assert after.until == before.until + 601 + POLICY.breaker_seconds
    assert (after.since, after.count) == (before.since, before.count + 1)


def test_an_operator_resets_the_breaker() -> None:
    state, now = failed(FAILURES_TO_OPEN_BREAKER)
    reset = reset_breaker(POLICY, "gpu")(state)
    decision = decide(slurm(job(7, "g-7", started=now), at=now), ec2(at=now), reset, now=now)
    assert only_launch(decision) and not events(decision, "breaker")
    with pytest.raises(EditError):
        reset_breaker(POLICY, "gpu")(reset)


def test_failed_nodes_without_a_launch_are_not_counted() -> None:
    nodes = [SlurmNode(f"g-{n}", frozenset({"DOWN", "CLOUD", "POWERED_DOWN"}), LATE) for n in range(1, 6)]
    assert not decide(slurm(nodes=nodes), ec2()).state.breakers
