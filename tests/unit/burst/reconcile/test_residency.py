"""Default deny: whose jobs get instances, whatever Slurm let through, and what happens to those that slipped in."""

import pytest

from landbridge.burst.model import Down, Launch, Terminate
from landbridge.burst.reconcile.residency import reject_if_restricted
from tests.unit.burst.situations import BUSY, decide, ec2, events, instance, job, of, site, slurm


@pytest.mark.parametrize(
    ("account", "wckey", "allowed"),
    [
        ("lab", "", True),
        ("lab", "*", True),
        ("lab", "*internal", True),
        ("lab", "anything", True),
        ("lab", "patients", False),  # the key names a class of data that stays
        ("lab", "*ward", False),
        ("ward", "", False),
        ("ward", "internal", False),  # a key cannot lift what the account says
        ("nobody", "", False),
        ("", "", False),
        ("root", "", True),  # the operators' own tests
    ],
)
def test_the_account_decides_and_a_key_can_only_deny(account, wckey, allowed):
    assert (reject_if_restricted(site(), account, wckey) is None) is allowed


@pytest.mark.parametrize("account", ["ward", "nobody", ""])
@pytest.mark.parametrize("nodes", [("g-1",), ("g-1", "g-2")])
def test_a_restricted_job_gets_no_instance_and_is_told(account, nodes):
    decision = decide(slurm(job(1, *nodes, account=account)), ec2())
    (down,) = of(decision, Down)
    assert not of(decision, Launch) and down.nodes == nodes and down.code == "RESIDENCY"
    assert decision.state.backoffs[1].code == "RESIDENCY" and not decision.state.holds


def test_it_does_not_matter_that_aws_cannot_be_seen():
    assert of(decide(slurm(job(1, "g-1", account="ward")), None), Down)


@pytest.mark.parametrize("state", ["CONFIGURING", "RUNNING", "SUSPENDED"])
def test_a_restricted_job_on_a_machine_that_was_up_is_stopped(state):
    view = slurm(job(1, "g-1", account="ward", state=state), states={"g-1": BUSY})
    decision = decide(view, ec2(instance("i-1", "g-1")))
    assert [down.code for down in of(decision, Down)] == ["RESIDENCY"]
    assert [action.instances for action in of(decision, Terminate)] == [("i-1",)]


def test_a_job_that_has_ended_is_left_alone():
    view = slurm(job(1, "g-1", account="ward", state="COMPLETING"), states={"g-1": BUSY})
    assert not of(decide(view, ec2(instance("i-1", "g-1"))), Down)


def test_one_restricted_component_refuses_the_whole_het_job():
    view = slurm(job(1, "g-1", "g-2", het_job=1), job(2, "b-1", account="ward", het_job=1))
    decision = decide(view, ec2())
    assert not of(decision, Launch)
    assert {node for down in of(decision, Down) for node in down.nodes} == {"g-1", "g-2", "b-1"}
    assert set(decision.state.backoffs) == {1, 2}


def test_a_restricted_job_does_not_spoil_the_batch_of_others():
    decision = decide(slurm(job(1, "g-1"), job(2, "g-2", account="ward")), ec2())
    assert [launch.gang.nodes for launch in of(decision, Launch)] == [("g-1",)]
    assert [down.nodes for down in of(decision, Down)] == [("g-2",)]


def test_a_person_s_power_up_of_a_restricted_job_s_node_is_refused_too():
    view = slurm(job(1, "g-1", account="ward"), states={"g-1": ("ALLOCATED", "CLOUD", "POWERING_UP", "POWER_UP")})
    decision = decide(view, ec2())
    assert not of(decision, Launch) and of(decision, Down) and events(decision, "down")[0].code == "RESIDENCY"
