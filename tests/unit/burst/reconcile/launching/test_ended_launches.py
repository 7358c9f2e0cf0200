"""Launches that EC2 accepts and whose instances it ends seconds later, in the simulated world and in single passes."""

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest

from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.model import InstanceEnd, State
from landbridge.burst.reconcile.launching.ended_launches import expected_instances
from tests.unit.burst.situations import (
    NOW,
    OFF,
    decide,
    ec2,
    end,
    job,
    launched,
    offering,
    only_launch,
    site,
    slurm,
    success,
)
from tests.unit.burst.world.faults import LaunchEnd
from tests.unit.burst.world.policies import policy
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.world import World

HOUR = 3600.0
KEY = InstanceEnd("Client.InternalError", "Client error on launch")
NO_CAPACITY = InstanceEnd("Server.InsufficientInstanceCapacity", "There was insufficient capacity")
VOLUMES = InstanceEnd("Client.VolumeLimitExceeded", "Volume limit exceeded")
SHUTDOWN = InstanceEnd("Client.UserInitiatedShutdown", "User initiated")


def world(*faults: tuple[str, LaunchEnd], offerings: slice = slice(None)) -> World:
    """Return a world in which EC2 ends instances of the offerings whose keys contain a text."""
    rules = replace(policy(), breaker_seconds=600.0, insufficient_capacity_seconds=(120.0, 1800.0))
    pool = rules.pools["gpu"]
    pool = replace(pool, offerings=pool.offerings[offerings], resume_timeout=900.0)
    rules = replace(rules, pools={**rules.pools, "gpu": pool})
    simulated = World(rules, partial(one_pass, workers=1, clock=lambda: simulated.clock.now))
    for offer in rules.pools["gpu"].offerings:
        for text, fault in faults:
            if text in offer.key:
                simulated.faults.ends[offer.key] = fault
    return simulated


def submit(simulated: World, count: int, nodes: int) -> list[SimJob]:
    jobs = [SimJob(simulated.job_id(), "gpu", nodes, "lab", 10, 90.0) for _ in range(count)]
    for member in jobs:
        simulated.slurm.submit(member)
    return jobs


def launches(simulated: World) -> Counter[str]:
    return Counter(machine.offering.key for machine in simulated.ec2.machines.values())


@pytest.mark.parametrize("seconds", [8.0, 100.0])
@pytest.mark.parametrize("reason", [NO_CAPACITY, VOLUMES, KEY], ids=lambda reason: reason.code)
@pytest.mark.parametrize(("count", "nodes"), [(1, 2), (6, 1)])
def test_the_next_launch_is_at_another_offering(count: int, nodes: int, reason: InstanceEnd, seconds: float) -> None:
    simulated = world(("/a/", LaunchEnd(reason, seconds)))
    simulated.ec2.boot = 120.0
    jobs = submit(simulated, count, nodes)
    simulated.run(HOUR)
    assert [member.state for member in jobs] == ["COMPLETED"] * count
    assert all(number <= count * nodes for number in launches(simulated).values()), launches(simulated)


@pytest.mark.parametrize(("count", "nodes"), [(1, 4), (6, 1)])
def test_a_key_that_no_launch_may_use_stops_the_pool_with_the_words_of_ec2(count: int, nodes: int) -> None:
    simulated = world(("", LaunchEnd(KEY)))
    jobs = submit(simulated, count, nodes)
    simulated.run(2 * HOUR)
    breaker = simulated.journal.keeper.load().breakers["gpu"]
    assert "Client.InternalError: Client error on launch" in breaker.message
    for member in jobs:
        assert member.state == "PENDING" and "Client.InternalError: Client error on launch" in member.admin_comment
    # Three launches, and after that one probe every ten minutes.
    assert len(simulated.ec2.launches) <= 3 * count + 12, simulated.ec2.launches
    simulated.faults.ends.clear()
    simulated.run(HOUR)
    assert [member.state for member in jobs] == ["COMPLETED"] * count
    assert not simulated.journal.keeper.load().breakers


def test_the_wait_for_the_only_offering_increases_although_ec2_accepts_each_launch() -> None:
    simulated = world(("", LaunchEnd(VOLUMES)), offerings=slice(1))
    (member,) = submit(simulated, 1, 2)
    simulated.run(3 * HOUR)
    state = simulated.journal.keeper.load()
    (shortage,) = state.insufficient_capacity.values()
    assert shortage.tries >= 4 and not state.breakers
    assert "QUOTA" in member.admin_comment and "Client.VolumeLimitExceeded" in member.admin_comment
    assert "Volume limit exceeded" in member.admin_comment


def test_one_bad_launch_of_four_opens_no_breaker() -> None:
    simulated = world(("", LaunchEnd(InstanceEnd("Server.InternalError", "x"), each=4)))
    jobs = submit(simulated, 4, 2)
    simulated.run(2 * HOUR)
    assert [member.state for member in jobs] == ["COMPLETED"] * 4
    assert not simulated.journal.keeper.load().breakers


def test_instances_that_an_operator_terminates_say_nothing_about_their_offering() -> None:
    simulated = world(("", LaunchEnd(SHUTDOWN)), offerings=slice(1))
    (member,) = submit(simulated, 1, 2)
    simulated.run(HOUR)
    state = simulated.journal.keeper.load()
    assert not state.breakers and not state.insufficient_capacity
    assert "GONE" in member.admin_comment and "Client.UserInitiatedShutdown: User initiated" in member.admin_comment


def test_a_loss_is_seen_in_the_next_pass_and_costs_nothing_after_it() -> None:
    rules, view = site(settle_seconds=90.0), slurm(job(1, "g-1", "g-2"))
    first = decide(view, ec2(), policy=rules)
    launch = only_launch(first)
    state = end(first, launch, success(launch), rules)
    assert expected_instances(state) == {"i-1", "i-2"}
    left = launched(launch, success(launch))[1:]
    cloud = replace(ec2(*left), ended={"i-1": NO_CAPACITY})
    later = decide(slurm(job(1, "g-1", "g-2"), at=NOW + 10), cloud, state, rules, NOW + 10)
    (down,) = [action for action in later.actions if type(action).__name__ == "Down"]
    assert down.code == "GONE" and down.text.endswith(NO_CAPACITY.text)
    assert list(later.state.insufficient_capacity) == [launch.offering.key]
    assert "i-1" not in later.state.holds and expected_instances(later.state) == {"i-2"}
    assert sum(later.state.spent.values()) == pytest.approx(10.0 * 10 / 3600)
    (record,) = [record for record in later.records if record.event == "ended"]
    assert (record.code, record.nodes, record.jobs) == (NO_CAPACITY.code, ("g-1",), (1,))


@pytest.mark.parametrize("nodes", [("g-1",), ("g-1", "g-2")])
def test_nodes_whose_instances_all_ended_for_lack_of_capacity_start_elsewhere_at_once(nodes: tuple[str, ...]) -> None:
    view, state, offerings = slurm(job(1, *nodes)), None, list[str]()
    for number in range(3):
        ended = dict.fromkeys(launch_ids(state), VOLUMES) if state else {}
        decision = decide(view, replace(ec2(), ended=ended), state, now=NOW + 20 * number)
        launch = only_launch(decision)
        offerings.append(launch.offering.key)
        state = end(decision, launch, success(launch, 10 * number + 1), now=NOW + 20 * number)
    assert offerings == [offer.key for offer in site().pools["gpu"].offerings]
    decision = decide(view, replace(ec2(), ended=dict.fromkeys(launch_ids(state), VOLUMES)), state, now=NOW + 60)
    (down,) = [action for action in decision.actions if type(action).__name__ == "Down"]
    assert down.code == "QUOTA" and "Client.VolumeLimitExceeded (Volume limit exceeded)" in down.text


def launch_ids(state: State) -> list[str]:
    return [instance for attempt in state.attempts.values() for instance in attempt.instances.values()]


def test_an_ending_of_two_launches_at_once_is_one_failure_of_their_offering() -> None:
    rules = site((offering("a"),))
    view = slurm(*(job(number, f"g-{2 * number}", f"g-{2 * number - 1}") for number in (1, 2)))
    first = decide(view, ec2(), policy=rules)
    state, ids = first.state, list[str]()
    for number, launch in enumerate(action for action in first.actions if type(action).__name__ == "Launch"):
        outcome = success(launch, 1 + 2 * number)
        state = end(replace(first, state=state), launch, outcome, rules)
        ids += outcome.instances.values()
    later = decide(view, replace(ec2(), ended=dict.fromkeys(ids, KEY)), state, rules, NOW + 10)
    assert [shortage.tries for shortage in later.state.insufficient_capacity.values()] == [1]
    assert len(later.state.registration_failures) == 2


def test_an_end_is_expected_of_instances_that_the_controller_has_not_terminated() -> None:
    first = decide(slurm(job(1, "g-1", "g-2")), ec2())
    launch = only_launch(first)
    state = end(first, launch, success(launch))
    assert expected_instances(replace(state, terminated_at={"i-2": NOW})) == {"i-1"}
    assert expected_instances(first.state) == frozenset(), "the result of the call is not known yet"


def test_the_end_of_an_instance_whose_node_was_up_is_no_failed_launch() -> None:
    first = decide(slurm(job(1, "g-1")), ec2())
    launch = only_launch(first)
    state = end(first, launch, success(launch))
    up = {key: replace(hold, registered=NOW) for key, hold in state.holds.items()}
    view = replace(ec2(), ended={"i-1": InstanceEnd("Server.SpotInstanceTermination")})
    after = decide(slurm(states={"g-1": OFF}), view, replace(state, holds=up), now=NOW + 600).state
    assert not (after.insufficient_capacity or after.registration_failures or after.holds)
