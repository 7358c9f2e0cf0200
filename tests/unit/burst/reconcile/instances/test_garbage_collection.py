"""Instances without a node, nodes without an instance, two instances of a node: which are terminated, when, and which
are kept."""

from dataclasses import replace

import pytest

from landbridge.burst.model import (
    Attempt,
    Down,
    InstanceStatus,
    Launch,
    ResumeNodes,
    SlurmNode,
    SlurmOrder,
    State,
    Terminate,
)
from landbridge.burst.reconcile.changes import MAX_SECONDS_BETWEEN_PASSES
from landbridge.burst.reconcile.instances.garbage_collection import instance_to_keep
from landbridge.burst.reconcile.observed import observe
from tests.unit.burst.situations import (
    BUSY,
    IDLE,
    LEAVING,
    NOW,
    OFF,
    RISING,
    at,
    changes_of,
    decide,
    ec2,
    end,
    events,
    instance,
    job,
    launched,
    of,
    only_launch,
    site,
    slurm,
    success,
)


def ended(decision):
    return {id for action in of(decision, Terminate) for id in action.instances}


def decisions_at(view, cloud, times, state=None, policy=None):
    """Return the decisions at `times`, without their actions; passes of the daemon happen in between at its usual
    interval."""
    decisions, at = [], times[0]
    for now in times:
        while now - at > MAX_SECONDS_BETWEEN_PASSES:
            at += MAX_SECONDS_BETWEEN_PASSES
            state = decide(replace(view, at=at), replace(cloud, at=at), state, policy, at).state
        at = now
        decisions.append(decide(replace(view, at=now), replace(cloud, at=now), state, policy, now))
        state = decisions[-1].state
    return decisions


@pytest.mark.parametrize("away", [3600.0, 121.0, 45.0])
def test_time_without_passes_does_not_count_as_observation(away):
    """The controller was off, its host asleep, or its clock set: EC2 may have hidden an instance for a moment."""
    busy = slurm(job(1, "g-1", state="RUNNING"), states={"g-1": (*BUSY, "NOT_RESPONDING")})
    first = decide(busy, ec2())
    later = NOW + 20 + away
    decision = decide(replace(busy, at=later), ec2(at=later), first.state, now=later)
    assert not of(decision, Down) and decision.next_pass is not None
    # From then on passes observe it as usual, and the bound holds.
    _, after = decisions_at(busy, ec2(), (later, later + 61), decision.state)
    assert [down.nodes for down in of(after, Down)] == [("g-1",)]


@pytest.mark.parametrize("words", [LEAVING, OFF, ("DOWN", "CLOUD", "POWERED_DOWN")])
def test_instances_of_powered_down_nodes_are_terminated_at_once(words):
    assert ended(decide(slurm(states={"g-1": words}), ec2(instance("i-1", "g-1")))) == {"i-1"}


@pytest.mark.parametrize("node", ["", "g-99", "other-1"])
def test_an_instance_without_a_node_is_terminated_within_the_bound(node):
    first, before, after = decisions_at(slurm(), ec2(instance("i-1", node)), (NOW, NOW + 110, NOW + 121))
    assert not ended(first) and not ended(before) and ended(after) == {"i-1"}
    assert first.next_pass is not None and first.next_pass <= NOW + 120


@pytest.mark.parametrize("state", ["stopping", "stopped"])
def test_a_stopped_instance_is_terminated(state):
    assert ended(decide(slurm(states={"g-1": BUSY}), ec2(instance("i-1", "g-1", state=state)))) == {"i-1"}


def test_of_two_instances_the_registered_one_stays():
    view = slurm(nodes=[SlurmNode("g-1", frozenset(BUSY), address="10.0.0.2")])
    both = ec2(instance("i-1", "g-1", launched=NOW - 90), instance("i-2", "g-1"))
    assert ended(decide(view, both)) == {"i-1"}


@pytest.mark.parametrize(
    ("known", "retained"),
    [
        ({}, "i-1"),  # the oldest
        ({"token-i-2": ""}, "i-2"),  # the instance whose launch is known to have succeeded
        ({"token-i-1": "", "token-i-2": ""}, "i-2"),  # the latest of those
        ({"token-i-1": "", "token-i-2": "InsufficientInstanceCapacity"}, "i-1"),
    ],
)
def test_of_two_instances_without_a_registered_one_the_same_one_is_kept(known, retained):
    launched_at = {"token-i-1": NOW - 60, "token-i-2": NOW - 30}
    attempts = {
        token: Attempt(
            token,
            "7.0/gpu",
            "gpu",
            "p",
            ("g-1",),
            (7,),
            "lab",
            False,
            NOW,
            launched_at[token],
            0,
            0,
            ended=NOW,
            code=code,
        )
        for token, code in known.items()
    }
    pair = (instance("i-1", "g-1", launched=NOW - 60), instance("i-2", "g-1", launched=NOW - 30))
    observed = observe(slurm(states={"g-1": BUSY}), ec2(*pair), State(attempts=attempts), site(), NOW)
    assert instance_to_keep(observed, "g-1", pair).id == retained == instance_to_keep(observed, "g-1", pair[::-1]).id


def test_a_node_that_slurm_hears_stays_however_long_ec2_does_not_show_its_instance():
    first = decide(slurm(job(1, "g-1")), ec2())
    launch = only_launch(first)
    state, now = end(first, launch, success(launch)), NOW
    (item,) = launched(launch, success(launch))
    busy = slurm(job(1, "g-1", state="RUNNING"))
    while now < NOW + 1800:
        decision = decide(at(busy, now), ec2(), state, now=now)
        assert not changes_of(decision)
        state, now = decision.state, now + 30
    # Its cost is held all the time, and not twice when EC2 shows it again.
    state = decide(at(busy, now), ec2(item, at=now), state, now=now).state
    (hold,) = state.holds.values()
    assert hold.since == NOW and not state.spent
    off = slurm(states={"g-1": OFF}, at=now + 200)
    spent = decide(off, ec2(), replace(state, terminated_at={"i-1": now}), now=now + 200).state.spent
    assert sum(spent.values()) == pytest.approx(10 * (now - NOW) / 3600), "until the call that terminated it"


def test_a_node_without_its_instance_is_set_down_after_two_passes():
    view = slurm(job(1, "g-1", state="RUNNING"), states={"g-1": (*BUSY, "NOT_RESPONDING")})
    first, soon, later = decisions_at(view, ec2(), (NOW, NOW + 30, NOW + 61))
    assert not changes_of(first) and not changes_of(soon)
    (down,) = of(later, Down)
    assert (down.nodes, down.code) == (("g-1",), "GONE") and later.state.backoffs[1].code == "GONE"


def test_a_node_with_a_reclaimed_instance_is_set_down_at_the_next_pass():
    view = slurm(job(1, "g-1", state="RUNNING"))
    first, second = decisions_at(view, ec2(instance("i-1", "g-1", state="shutting-down")), (NOW, NOW + 30))
    assert not of(first, Down) and of(second, Down)


def test_a_new_instance_may_be_missing_from_ec2s_view():
    view = slurm(job(1, "g-1"))
    first = decide(view, ec2())
    state = end(first, only_launch(first), success(only_launch(first)))
    up = slurm(job(1, "g-1", state="RUNNING"))
    for now in (NOW + 5, NOW + 80):
        decision = decide(up, ec2(), state, now=now)
        assert not of(decision, Down) and not of(decision, Launch)
        state = decision.state


@pytest.mark.parametrize(
    ("words", "reason", "terminated"),
    [
        (("DOWN", "CLOUD"), "Not responding", True),
        (("DOWN", "CLOUD", "NOT_RESPONDING"), "Not responding [slurm@2027-01-15T08:00:00]", True),
        (("DOWN", "CLOUD"), "fan is broken, ann", False),
        (("IDLE", "CLOUD", "DRAIN"), "looking at it, ann", False),
        (("IDLE", "CLOUD", "DRAIN"), "landbridge:gpu:xid:79; do: replace", True),
        (("IDLE", "CLOUD", "DRAIN"), "Prolog error", True),
        (("IDLE", "CLOUD", "FAIL"), "ann replaces it", False),
        # Slurm powers it down itself, as soon as it has no job.
        (("IDLE", "CLOUD", "DRAIN", "POWER_DOWN"), "landbridge: SPOT EC2 takes the instance", False),
    ],
)
def test_a_node_without_jobs_is_started_again_unless_an_operator_holds_it(words, reason, terminated):
    view = slurm(nodes=[SlurmNode("g-1", frozenset(words), reason)])
    *_, before, after = decisions_at(view, ec2(instance("i-1", "g-1")), (NOW, NOW + 110, NOW + 125))
    assert not of(before, Down)
    assert bool(of(after, Down)) == terminated and ended(after) == ({"i-1"} if terminated else set())


@pytest.mark.parametrize("state", ["RUNNING", "COMPLETING"])
def test_a_node_that_a_program_has_drained_is_kept_until_its_jobs_end(state):
    drained = SlurmNode("g-1", frozenset({"MIXED", "CLOUD", "DRAIN"}), "landbridge:gpu:xid:79; do: replace")
    view = slurm(job(1, "g-1", state=state, minutes=None), nodes=[drained])
    for decision in decisions_at(view, ec2(instance("i-1", "g-1")), (NOW, NOW + 200, NOW + 400)):
        assert not of(decision, Down) and not ended(decision)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("DOWN", "CLOUD", "POWERED_DOWN"), "ResumeTimeout reached"),
        (("DOWN", "CLOUD", "POWERING_UP"), "landbridge: CAPACITY no room"),
    ],
)
def test_a_node_that_failed_to_start_is_set_down_again_soon(words, reason):
    view = slurm(nodes=[SlurmNode("g-1", frozenset(words), reason)])
    first, second = decisions_at(view, ec2(), (NOW, NOW + 16))
    assert not of(first, Down) and of(second, Down)


def test_a_node_that_is_down_is_left_until_its_completing_job_ends():
    view = slurm(
        job(1, "g-1", state="COMPLETING"), nodes=[SlurmNode("g-1", frozenset({"DOWN", "CLOUD"}), "Not responding")]
    )
    for decision in decisions_at(view, ec2(instance("i-1", "g-1")), (NOW, NOW + 400, NOW + 800)):
        assert not changes_of(decision)


def test_a_failed_node_that_slurm_does_not_power_down_is_set_down_again():
    words = frozenset({"DOWN", "CLOUD", "POWERED_DOWN", "POWER_DOWN"})
    view = slurm(nodes=[SlurmNode("g-1", words, "ResumeTimeout reached")])
    _, before, after = decisions_at(view, ec2(), (NOW, NOW + 110, NOW + 121))
    assert not of(before, Down) and of(after, Down)


def test_a_busy_node_that_does_not_respond_keeps_its_job_and_instance():
    silent = (*BUSY, "NOT_RESPONDING")
    view = slurm(job(1, "g-1", state="RUNNING"), states={"g-1": silent})
    for decision in decisions_at(view, ec2(instance("i-1", "g-1")), (NOW, NOW + 600, NOW + 3600)):
        assert not of(decision, Down) and not ended(decision)


def test_an_idle_node_that_does_not_respond_is_terminated_after_its_lease():
    view = slurm(states={"g-1": (*IDLE, "NOT_RESPONDING")})
    cloud = ec2(instance("i-1", "g-1", lease=NOW + 300))
    *_, before, after = decisions_at(view, cloud, (NOW, NOW + 400, NOW + 421))
    assert not ended(before) and ended(after) == {"i-1"}


def test_an_instance_from_before_a_suspend_order_is_terminated_and_replaced():
    order = SlurmOrder(1, "suspend", ("g-1",), NOW - 60)
    old = instance("i-1", "g-1", launched=NOW - 300, jobs=(1,))
    decision = decide(slurm(job(1, "g-1")), ec2(old), State(orders=(order,)))
    assert ended(decision) == {"i-1"} and only_launch(decision).gang.nodes == ("g-1",)


@pytest.mark.parametrize(
    ("fields", "belongs"),
    [
        ({"launched": NOW - 3}, True),
        ({"launched": NOW - 100}, False),
        ({"launched": NOW - 100, "jobs": (1,)}, True),
    ],
)
def test_without_a_journal_launch_time_and_tags_decide_to_which_job_an_instance_belongs(fields, belongs):
    first, later = decisions_at(slurm(job(1, "g-1")), ec2(instance("i-1", "g-1", **fields)), (NOW, NOW + 60))
    assert bool(of(first, Launch)) != belongs and not ended(first)
    assert ended(later) == (set() if belongs else {"i-1"})


def test_a_termination_is_requested_once_and_repeated_if_it_has_no_effect():
    view, cloud = slurm(states={"g-1": LEAVING}), ec2(instance("i-1", "g-1"))
    first = decide(view, cloud)
    (action,) = of(first, Terminate)
    state = end(first, action, empty_outcome())
    quiet = decide(view, cloud, state, now=NOW + 30)
    assert not ended(quiet)
    assert ended(decide(view, cloud, quiet.state, now=NOW + 100)) == {"i-1"}


def empty_outcome():
    from landbridge.burst.model import ActionOutcome

    return ActionOutcome()


def test_an_instance_with_a_requested_termination_does_not_serve_its_node():
    state = State(terminated_at={"i-1": NOW - 3})
    assert only_launch(decide(slurm(job(1, "g-1")), ec2(instance("i-1", "g-1")), state)).gang.nodes == ("g-1",)


def test_nothing_is_terminated_without_a_view_of_ec2():
    decision = decide(slurm(states={"g-1": LEAVING, "g-2": RISING}), None)
    assert not changes_of(decision)


@pytest.mark.parametrize("kind", ["suspend", "resume-fail"])
def test_an_order_from_the_future_is_ignored(kind):
    state = State(orders=(SlurmOrder(1, kind, ("g-1",), NOW + 3600),))
    decision = decide(slurm(job(1, "g-1")), ec2(instance("i-1", "g-1")), state)
    assert not decision.state.orders and not ended(decision)


@pytest.mark.parametrize(
    ("reason", "registered", "is_resumed"),
    [
        ("Node unexpectedly rebooted", None, True),
        ("Node unexpectedly rebooted", NOW - 60, False),  # it was up before: the machine has really booted again
        ("Not responding", None, False),
    ],
)
def test_a_node_whose_first_boot_slurmctld_does_not_know_is_resumed_at_once(reason, registered, is_resumed):
    first = decide(slurm(job(1, "g-1")), ec2())
    launch = only_launch(first)
    state = end(first, launch, success(launch))
    state = replace(state, holds={"i-1": replace(state.holds["i-1"], registered=registered)})
    down = slurm(nodes=[SlurmNode("g-1", frozenset({"DOWN", "CLOUD"}), reason)], at=NOW + 60)
    shown = ec2(*launched(launch, success(launch)), at=NOW + 60)
    decision = decide(down, shown, state, now=NOW + 60)
    assert changes_of(decision) == ([ResumeNodes(("g-1",))] if is_resumed else [])
    assert bool(events(decision, "resume")) is is_resumed
    # With an event of its instance it would get jobs that the event ends.
    status = InstanceStatus((), "instance-retirement", NOW + 900)
    announced = replace(state, instance_statuses={launched(launch, success(launch))[0].id: status})
    assert not of(decide(down, shown, announced, now=NOW + 60), ResumeNodes)
    # An instance that no launch of the journal has made is not known to have booted once.
    assert not of(decide(down, shown, now=NOW + 60), ResumeNodes)
