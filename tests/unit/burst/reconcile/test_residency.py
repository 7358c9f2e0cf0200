"""Residency, denied by default: which jobs get instances whatever Slurm accepted, and how forbidden jobs are stopped."""

import pytest

from landbridge.burst.model import Down, Launch, RequeueJobs, Terminate
from landbridge.burst.reconcile.residency import reject_if_restricted
from tests.unit.burst.situations import BUSY, decide, ec2, events, instance, job, of, site, slurm


@pytest.mark.parametrize(
    ("account", "wckey", "allowed"),
    [
        ("lab", "", True),
        ("lab", "*", True),
        ("lab", "*internal", True),
        ("lab", "anything", True),
        ("lab", "patients", False),  # the key names a data class that may not leave the site
        ("lab", "*ward", False),
        ("ward", "", False),
        ("ward", "internal", False),  # a key cannot override the account
        ("nobody", "", False),
        ("", "", False),
        ("root", "", True),  # the operators' own tests
    ],
)
def test_the_account_decides_and_a_key_can_only_deny(account, wckey, allowed):
    assert (reject_if_restricted(site(), account, wckey) is None) is allowed


@pytest.mark.parametrize("account", ["ward", "nobody", ""])
@pytest.mark.parametrize("nodes", [("g-1",), ("g-1", "g-2")])
def test_a_restricted_job_gets_no_instance_and_a_backoff(account, nodes):
    decision = decide(slurm(job(1, *nodes, account=account)), ec2())
    (down,) = of(decision, Down)
    assert not of(decision, Launch) and down.nodes == nodes and down.code == "RESIDENCY"
    assert decision.state.backoffs[1].code == "RESIDENCY" and not decision.state.holds


def test_a_restricted_job_is_refused_without_a_view_of_ec2():
    assert of(decide(slurm(job(1, "g-1", account="ward")), None), Down)


@pytest.mark.parametrize("state", ["CONFIGURING", "RUNNING", "SUSPENDED"])
def test_a_restricted_job_on_its_own_instance_ends_with_it(state):
    view = slurm(job(1, "g-1", account="ward", state=state), states={"g-1": BUSY})
    decision = decide(view, ec2(instance("i-1", "g-1", account="ward")))
    assert [down.code for down in of(decision, Down)] == ["RESIDENCY"]
    assert [action.instances for action in of(decision, Terminate)] == [("i-1",)]


@pytest.mark.parametrize("state", ["CONFIGURING", "RUNNING", "SUSPENDED"])
@pytest.mark.parametrize("owner", ["lab", ""])
def test_a_restricted_job_leaves_the_instance_of_another_account_or_of_no_job(state, owner):
    restricted = job(1, "g-1", account="ward", state=state)
    decision = decide(slurm(restricted, states={"g-1": BUSY}), ec2(instance("i-1", "g-1", account=owner)))
    (requeue,) = of(decision, RequeueJobs)
    assert (requeue.jobs, requeue.code) == ((restricted,), "RESIDENCY")
    assert not of(decision, Down) and not of(decision, Terminate) and decision.state.backoffs[1].code == "RESIDENCY"


def test_a_restricted_job_leaves_its_instance_if_another_accounts_job_runs_there():
    jobs = job(1, "g-1", account="ward", state="RUNNING"), job(2, "g-1", state="RUNNING")
    decision = decide(slurm(*jobs, states={"g-1": BUSY}), ec2(instance("i-1", "g-1", account="ward")))
    assert [requeue.jobs for requeue in of(decision, RequeueJobs)] == [jobs[:1]] and not of(decision, Down)


def test_a_restricted_job_leaves_a_node_whose_account_is_not_known():
    """EC2 does not answer, and the journal does not know the instance."""
    decision = decide(slurm(job(1, "g-1", account="ward", state="RUNNING"), states={"g-1": BUSY}), None)
    assert of(decision, RequeueJobs) and not of(decision, Down)


def test_a_restricted_gang_ends_with_its_own_instance_and_leaves_that_of_another_account():
    view = slurm(job(1, "g-1", "g-2", account="ward", state="RUNNING"), states={"g-1": BUSY, "g-2": BUSY})
    decision = decide(view, ec2(instance("i-1", "g-1"), instance("i-2", "g-2", account="ward")))
    assert [down.nodes for down in of(decision, Down)] == [("g-2",)] and not of(decision, RequeueJobs)
    assert [action.instances for action in of(decision, Terminate)] == [("i-2",)]


def test_a_restricted_job_that_is_completing_is_not_stopped():
    view = slurm(job(1, "g-1", account="ward", state="COMPLETING"), states={"g-1": BUSY})
    assert not of(decide(view, ec2(instance("i-1", "g-1"))), Down)


def test_one_restricted_component_refuses_the_whole_het_job():
    view = slurm(job(1, "g-1", "g-2", het_job=1), job(2, "b-1", account="ward", het_job=1))
    decision = decide(view, ec2())
    assert not of(decision, Launch)
    assert {node for down in of(decision, Down) for node in down.nodes} == {"g-1", "g-2", "b-1"}
    assert set(decision.state.backoffs) == {1, 2}


def test_a_restricted_job_does_not_prevent_the_launch_of_others():
    decision = decide(slurm(job(1, "g-1"), job(2, "g-2", account="ward")), ec2())
    assert [launch.gang.nodes for launch in of(decision, Launch)] == [("g-1",)]
    assert [down.nodes for down in of(decision, Down)] == [("g-2",)]


def test_a_manual_power_up_of_a_restricted_jobs_node_is_refused():
    view = slurm(job(1, "g-1", account="ward"), states={"g-1": ("ALLOCATED", "CLOUD", "POWERING_UP", "POWER_UP")})
    decision = decide(view, ec2())
    assert not of(decision, Launch) and of(decision, Down) and events(decision, "down")[0].code == "RESIDENCY"
