"""Instances without a node, nodes without their instance, two for one: what ends, when, and what is left alone."""

from dataclasses import replace

import pytest

from landbridge.burst.model import Attempt, Down, Launch, SlurmNode, SlurmOrder, State, Terminate
from landbridge.burst.reconcile.changes import MAX_SECONDS_BETWEEN_PASSES
from landbridge.burst.reconcile.garbage_collection import instance_to_keep
from landbridge.burst.reconcile.observed import observe
from tests.unit.burst.situations import (
    BUSY,
    IDLE,
    LEAVING,
    NOW,
    OFF,
    RISING,
    decide,
    ec2,
    end,
    instance,
    job,
    of,
    only_launch,
    site,
    slurm,
    success,
)


def ended(decision):
    return {one for action in of(decision, Terminate) for one in action.instances}


def looks(view, cloud, times, state=None, policy=None):
    """The decisions at these moments, nothing of them carried out; between them the daemon looks as often as it does."""
    found, at = [], times[0]
    for now in times:
        while now - at > MAX_SECONDS_BETWEEN_PASSES:
            at += MAX_SECONDS_BETWEEN_PASSES
            state = decide(replace(view, at=at), replace(cloud, at=at), state, policy, at).state
        at = now
        found.append(decide(replace(view, at=now), replace(cloud, at=now), state, policy, now))
        state = found[-1].state
    return found


@pytest.mark.parametrize("away", [3600.0, 121.0, 45.0])
def test_time_in_which_nobody_looked_proves_nothing(away):
    """The controller was off, its machine was asleep, or its clock was set: EC2 may have hidden an instance for a moment."""
    busy = slurm(job(1, "g-1", state="RUNNING"))
    first = decide(busy, ec2())
    later = NOW + 20 + away
    decision = decide(replace(busy, at=later), ec2(at=later), first.state, now=later)
    assert not of(decision, Down) and decision.next_pass is not None
    # From then on it is looked at as ever, and the bound holds.
    _, after = looks(busy, ec2(), (later, later + 61), decision.state)
    assert [down.nodes for down in of(after, Down)] == [("g-1",)]


@pytest.mark.parametrize("words", [LEAVING, OFF, ("DOWN", "CLOUD", "POWERED_DOWN")])
def test_instances_of_powered_down_nodes_are_terminated_at_once(words):
    assert ended(decide(slurm(states={"g-1": words}), ec2(instance("i-1", "g-1")))) == {"i-1"}


@pytest.mark.parametrize("node", ["", "g-99", "other-1"])
def test_an_instance_without_a_node_ends_within_the_bound(node):
    first, before, after = looks(slurm(), ec2(instance("i-1", node)), (NOW, NOW + 110, NOW + 121))
    assert not ended(first) and not ended(before) and ended(after) == {"i-1"}
    assert first.next_pass is not None and first.next_pass <= NOW + 120


@pytest.mark.parametrize("state", ["stopping", "stopped"])
def test_a_stopped_instance_ends(state):
    assert ended(decide(slurm(states={"g-1": BUSY}), ec2(instance("i-1", "g-1", state=state)))) == {"i-1"}


def test_of_two_instances_the_registered_one_stays():
    view = slurm(nodes=[SlurmNode("g-1", frozenset(BUSY), address="10.0.0.2")])
    both = ec2(instance("i-1", "g-1", launched=NOW - 90), instance("i-2", "g-1"))
    assert ended(decide(view, both)) == {"i-1"}


@pytest.mark.parametrize(
    ("known", "kept"),
    [
        ({}, "i-1"),  # the oldest
        ({"token-i-2": ""}, "i-2"),  # the one whose launch is known to have succeeded
        ({"token-i-1": "", "token-i-2": ""}, "i-2"),  # the latest of those
        ({"token-i-1": "", "token-i-2": "InsufficientInstanceCapacity"}, "i-1"),
    ],
)
def test_of_two_instances_that_slurm_does_not_know_one_stays(known, kept):
    made = {"token-i-1": NOW - 60, "token-i-2": NOW - 30}
    attempts = {
        token: Attempt(
            token, "7.0/gpu", "gpu", "p", ("g-1",), (7,), "lab", False, NOW, made[token], 0, 0, ended=NOW, code=code
        )
        for token, code in known.items()
    }
    pair = (instance("i-1", "g-1", launched=NOW - 60), instance("i-2", "g-1", launched=NOW - 30))
    found = observe(slurm(states={"g-1": BUSY}), ec2(*pair), State(attempts=attempts), site(), NOW)
    assert instance_to_keep(found, "g-1", pair).id == kept == instance_to_keep(found, "g-1", pair[::-1]).id


def test_a_node_without_its_instance_goes_down_after_two_looks():
    view = slurm(job(1, "g-1", state="RUNNING"))
    first, soon, later = looks(view, ec2(), (NOW, NOW + 30, NOW + 61))
    assert not first.actions and not soon.actions
    (down,) = of(later, Down)
    assert (down.nodes, down.code) == (("g-1",), "GONE") and later.state.backoffs[1].code == "GONE"


def test_a_reclaimed_instance_takes_its_node_down_at_the_next_look():
    view = slurm(job(1, "g-1", state="RUNNING"))
    first, second = looks(view, ec2(instance("i-1", "g-1", state="shutting-down")), (NOW, NOW + 30))
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
    ("words", "reason", "goes"),
    [
        (("DOWN", "CLOUD"), "Not responding", True),
        (("DOWN", "CLOUD", "NOT_RESPONDING"), "Not responding [slurm@2027-01-15T08:00:00]", True),
        (("DOWN", "CLOUD"), "fan is broken, ann", False),
        (("IDLE", "CLOUD", "DRAIN"), "looking at it, ann", False),
    ],
)
def test_a_node_that_is_down_is_started_afresh_unless_a_person_wants_it_so(words, reason, goes):
    view = slurm(nodes=[SlurmNode("g-1", frozenset(words), reason)])
    *_, before, after = looks(view, ec2(instance("i-1", "g-1")), (NOW, NOW + 110, NOW + 125))
    assert not of(before, Down)
    assert bool(of(after, Down)) == goes and ended(after) == ({"i-1"} if goes else set())


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("DOWN", "CLOUD", "POWERED_DOWN"), "ResumeTimeout reached"),
        (("DOWN", "CLOUD", "POWERING_UP"), "landbridge: CAPACITY no room"),
    ],
)
def test_a_node_that_failed_to_start_comes_back_soon(words, reason):
    view = slurm(nodes=[SlurmNode("g-1", frozenset(words), reason)])
    first, second = looks(view, ec2(), (NOW, NOW + 16))
    assert not of(first, Down) and of(second, Down)


def test_a_node_that_is_down_waits_for_its_last_job_to_be_taken_away():
    view = slurm(
        job(1, "g-1", state="COMPLETING"), nodes=[SlurmNode("g-1", frozenset({"DOWN", "CLOUD"}), "Not responding")]
    )
    for decision in looks(view, ec2(instance("i-1", "g-1")), (NOW, NOW + 400, NOW + 800)):
        assert not decision.actions


def test_a_failed_node_that_slurm_was_to_power_down_and_does_not_is_helped():
    words = frozenset({"DOWN", "CLOUD", "POWERED_DOWN", "POWER_DOWN"})
    view = slurm(nodes=[SlurmNode("g-1", words, "ResumeTimeout reached")])
    _, before, after = looks(view, ec2(), (NOW, NOW + 110, NOW + 121))
    assert not of(before, Down) and of(after, Down)


def test_a_node_that_does_not_answer_keeps_its_job_and_its_instance():
    silent = (*BUSY, "NOT_RESPONDING")
    view = slurm(job(1, "g-1", state="RUNNING"), states={"g-1": silent})
    for decision in looks(view, ec2(instance("i-1", "g-1")), (NOW, NOW + 600, NOW + 3600)):
        assert not of(decision, Down) and not ended(decision)


def test_an_idle_node_that_does_not_answer_ends_with_its_lease():
    view = slurm(states={"g-1": (*IDLE, "NOT_RESPONDING")})
    cloud = ec2(instance("i-1", "g-1", lease=NOW + 300))
    *_, before, after = looks(view, cloud, (NOW, NOW + 400, NOW + 421))
    assert not ended(before) and ended(after) == {"i-1"}


def test_an_instance_of_an_earlier_power_up_is_not_the_node_s():
    order = SlurmOrder(1, "suspend", ("g-1",), NOW - 60)
    old = instance("i-1", "g-1", launched=NOW - 300, jobs=(1,))
    decision = decide(slurm(job(1, "g-1")), ec2(old), State(orders=(order,)))
    assert ended(decision) == {"i-1"} and only_launch(decision).gang.nodes == ("g-1",)


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ({"launched": NOW - 3}, True),
        ({"launched": NOW - 100}, False),
        ({"launched": NOW - 100, "jobs": (1,)}, True),
    ],
)
def test_without_a_journal_the_moment_and_the_tags_tell_whose_an_instance_is(more, counts):
    first, later = looks(slurm(job(1, "g-1")), ec2(instance("i-1", "g-1", **more)), (NOW, NOW + 60))
    assert bool(of(first, Launch)) != counts and not ended(first)
    assert ended(later) == (set() if counts else {"i-1"})


def test_ec2_is_asked_once_and_again_when_it_does_not_do_it():
    view, cloud = slurm(states={"g-1": LEAVING}), ec2(instance("i-1", "g-1"))
    first = decide(view, cloud)
    (action,) = of(first, Terminate)
    state = end(first, action, success_of_nothing())
    quiet = decide(view, cloud, state, now=NOW + 30)
    assert not ended(quiet)
    assert ended(decide(view, cloud, quiet.state, now=NOW + 100)) == {"i-1"}


def success_of_nothing():
    from landbridge.burst.model import ActionOutcome

    return ActionOutcome()


def test_an_instance_that_was_ended_does_not_serve_its_node_any_more():
    state = State(terminated_at={"i-1": NOW - 3})
    assert only_launch(decide(slurm(job(1, "g-1")), ec2(instance("i-1", "g-1")), state)).gang.nodes == ("g-1",)


def test_nothing_ends_while_ec2_cannot_be_seen():
    decision = decide(slurm(states={"g-1": LEAVING, "g-2": RISING}), None)
    assert not decision.actions


@pytest.mark.parametrize("kind", ["suspend", "resume-fail"])
def test_an_order_from_the_future_speaks_against_nothing(kind):
    state = State(orders=(SlurmOrder(1, kind, ("g-1",), NOW + 3600),))
    decision = decide(slurm(job(1, "g-1")), ec2(instance("i-1", "g-1")), state)
    assert not decision.state.orders and not ended(decision)
