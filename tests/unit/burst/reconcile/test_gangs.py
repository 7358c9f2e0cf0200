"""Gangs: nodes that start together are read from Slurm, independent of ResumeProgram's arguments."""

import pytest

from landbridge.burst.model import Launch, SlurmOrder, State
from tests.unit.burst.situations import BUSY, IDLE, NOW, RISING, WARMING, decide, ec2, instance, job, of, slurm


def launches(*jobs, states=None, state=None, cloud=None):
    decision = decide(slurm(*jobs, states=states), cloud or ec2(), state)
    return {launch.gang.nodes: launch for launch in of(decision, Launch)}


def test_a_job_of_several_nodes_is_a_gang():
    (launch,) = launches(job(1, "g-1", "g-2", "g-3")).values()
    assert launch.gang.all_or_nothing and launch.gang.jobs == (1,) and launch.gang.nodes == ("g-1", "g-2", "g-3")


def test_jobs_of_one_node_share_a_call_if_they_have_the_same_account():
    poor = job(3, "g-3", account="poor")
    by_nodes = launches(job(1, "g-1"), job(2, "g-2", minutes=240), poor)
    assert set(by_nodes) == {("g-1", "g-2"), ("g-3",)}
    batch = by_nodes["g-1", "g-2"]
    assert not batch.gang.all_or_nothing and batch.gang.jobs == (1, 2) and batch.gang.minutes == 240


def test_jobs_of_an_array_are_separate_gangs():
    array = [job(n, f"g-{2 * n - 1}", f"g-{2 * n}", array_job=1) for n in (1, 2)]
    by_nodes = launches(*array)
    assert {launch.gang.job_key for launch in by_nodes.values()} == {"1.0", "2.0"}


def test_components_of_a_het_job_are_launched_all_or_none():
    by_nodes = launches(job(1, "g-1", het_job=1), job(2, "b-1", "b-2", het_job=1))
    assert {launch.gang.pool: launch.gang.job_key for launch in by_nodes.values()} == {"gpu": "1.0", "big": "1.0"}
    assert all(launch.gang.all_or_nothing for launch in by_nodes.values())


def test_components_in_other_pools_have_their_own_instance_types():
    jobs = (job(1, "g-1", "g-2", het_job=1), job(2, "b-1", het_job=1))
    cloud = ec2(*(instance(f"i-{n}", f"g-{n}", jobs=(1,)) for n in (1, 2)))
    assert list(launches(*jobs, cloud=cloud)) == [("b-1",)]


def test_a_node_launched_later_for_a_gang_has_the_type_and_zone_of_the_gang():
    cloud = ec2(instance("i-1", "g-1", jobs=(1,), type="p5e", subnet="subnet-b"))
    (launch,) = launches(job(1, "g-1", "g-2"), cloud=cloud).values()
    assert (launch.offering.instance_type, launch.offering.zone) == ("p5e", "b")


def test_a_node_that_two_components_share_is_started_once():
    by_nodes = launches(job(1, "g-1", "g-2", het_job=1), job(2, "g-2", "g-3", het_job=1), job(3, "g-3", het_job=1))
    assert sorted(by_nodes) == [("g-1", "g-2"), ("g-3",)]


def test_powered_up_nodes_without_a_job_are_launched_for_no_account():
    by_nodes = launches(states={"g-1": WARMING, "g-2": WARMING, "b-1": WARMING})
    assert {(launch.gang.pool, nodes, launch.gang.account) for nodes, launch in by_nodes.items()} == {
        ("gpu", ("g-1", "g-2"), ""),
        ("big", ("b-1",), ""),
    }


@pytest.mark.parametrize(
    "words",
    [
        {"ALLOCATED", "CLOUD", "POWERED_DOWN"},  # Slurm has not called ResumeProgram yet
        {"ALLOCATED", "CLOUD", "POWERED_DOWN", "POWER_UP"},
        {"IDLE", "CLOUD", "POWERING_DOWN"},
        {"DOWN", "CLOUD", "POWERING_UP"},
        {"DOWN", "CLOUD", "POWERED_DOWN"},
        {"IDLE", "CLOUD", "POWERING_UP", "POWER_DOWN"},  # it has no job, and is to be powered down again
    ],
)
def test_only_nodes_that_slurm_waits_for_are_launched(words):
    assert not launches(states={"g-1": words})


def test_only_the_missing_nodes_of_a_job_are_launched_and_in_the_zone_of_the_others():
    up = instance("i-1", "g-1", subnet="subnet-b")
    by_nodes = launches(job(1, "g-1", "g-2", "g-3"), states={"g-1": BUSY}, cloud=ec2(up))
    (launch,) = by_nodes.values()
    assert launch.gang.nodes == ("g-2", "g-3") and launch.gang.zones == {"b"} and launch.offering.zone == "b"


def test_a_job_with_on_prem_nodes_is_a_gang_too():
    (launch,) = launches(job(1, "onprem-1", "g-1")).values()
    assert launch.gang.all_or_nothing and launch.gang.nodes == ("g-1",)


def test_the_gang_of_a_node_that_two_jobs_share_is_started_once():
    by_nodes = launches(job(1, "g-1", "g-2"), job(2, "g-2", "g-3"))
    assert set(by_nodes) == {("g-1", "g-2")}  # the other job joins once the zone of g-2 is known


def test_jobs_that_share_one_node_start_it_once():
    (launch,) = launches(job(1, "g-1"), job(2, "g-1")).values()
    assert launch.gang.jobs == (1, 2) and launch.attempts[0].nodes == ("g-1",)


@pytest.mark.parametrize("known", [True, False])
def test_a_node_started_for_an_ended_job_is_given_up(known):
    order = SlurmOrder(1, "resume", ("g-1",), NOW - 30, {7: ("g-1",)} if known else {})
    decision = decide(slurm(states={"g-1": WARMING}), ec2(), State(orders=(order,)))
    # Without a job in the resume file an operator powered up the node.
    assert len(of(decision, Launch)) == (0 if known else 1)
    if known:
        later = decide(slurm(states={"g-1": WARMING}, at=NOW + 15), ec2(), decision.state, now=NOW + 15)
        assert [type(action).__name__ for action in later.actions] == ["Down"]
        assert later.actions[0].code == "GONE"


def test_orders_are_removed_when_slurm_shows_their_result():
    orders = (
        SlurmOrder(1, "resume", ("g-1",), NOW - 30, {}),
        SlurmOrder(2, "resume", ("g-2",), NOW - 30, {}),
        SlurmOrder(3, "suspend", ("g-3",), NOW - 30),
        SlurmOrder(4, "suspend", ("g-4",), NOW - 30),
        SlurmOrder(5, "wake", (), NOW - 30),
    )
    view = slurm(job(1, "g-1"), states={"g-2": IDLE, "g-4": RISING})
    remaining = decide(view, ec2(instance("i-4", "g-4", launched=NOW - 400)), State(orders=orders)).state.orders
    # g-1 is still powering up; the instance of g-4 from before its suspend order is still to be terminated.
    assert [order.seq for order in remaining] == [1, 4]
