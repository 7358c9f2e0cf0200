"""Leases of instances: written at launch, renewed while Slurm keeps the node and the budget permits it."""

import pytest

from landbridge.burst.model import Down, Renew, RequeueJobs, SlurmNode, State, Terminate
from landbridge.burst.reconcile.instances.leases import lease_at_launch
from tests.unit.burst.situations import (
    BUSY,
    IDLE,
    LEAVING,
    NOW,
    RISING,
    changes_of,
    decide,
    ec2,
    instance,
    job,
    of,
    site,
    slurm,
)

HOUR = 3600.0


def renewed(decision):
    return {id: action.until for action in of(decision, Renew) for id in action.instances}


@pytest.mark.parametrize(("minutes", "length"), [(60, 1 + 60 + 10), (None, 1 + 20)])
def test_the_first_lease_covers_boot_limit_and_grace(minutes, length):
    assert lease_at_launch(site(), site().pools["gpu"], minutes, NOW) == NOW + length * 60


@pytest.mark.parametrize(
    ("states", "lease", "until"),
    [
        (BUSY, NOW + 4000, NOW + 4200),  # start of the job + its limit + grace: 60 + 10 minutes
        (BUSY, NOW + 4200, None),
        (IDLE, NOW + 590, NOW + 1200),  # less than half of 20 minutes left
        (IDLE, NOW + 610, None),
        (IDLE, None, NOW + 1200),
        (("IDLE", "CLOUD", "DRAIN"), NOW + 1, NOW + 1200),  # an operator drained it
        (LEAVING, NOW + 1, None),
        (("IDLE", "CLOUD", "POWER_DOWN"), NOW + 1, None),
        (("IDLE", "CLOUD", "NOT_RESPONDING"), NOW + 1, None),  # not renewed while the node does not respond
    ],
)
def test_a_lease_is_renewed_if_it_is_too_short(states, lease, until):
    jobs = [job(1, "g-1", state="RUNNING", started=NOW)] if states is BUSY else []
    decision = decide(slurm(*jobs, states={"g-1": states}), ec2(instance("i-1", "g-1", lease=lease)))
    assert renewed(decision) == ({"i-1": until} if until else {})


@pytest.mark.parametrize(
    ("reason", "until"),
    [("ann looks at the GPU", {"i-1": NOW + 1200}), ("Not responding", {}), ("landbridge: GONE", {})],
)
def test_the_lease_of_a_node_that_an_operator_has_set_down_is_renewed(reason, until):
    view = slurm(nodes=[SlurmNode("g-1", frozenset({"DOWN", "CLOUD", "NOT_RESPONDING"}), reason)])
    assert renewed(decide(view, ec2(instance("i-1", "g-1", lease=NOW + 60)))) == until


def test_the_lease_of_a_job_without_a_limit_is_renewed_while_its_node_responds():
    endless = job(1, "g-1", state="RUNNING", minutes=None)
    old = ec2(instance("i-1", "g-1", lease=NOW + 60))
    assert renewed(decide(slurm(endless), old)) == {"i-1": NOW + 1200}
    assert renewed(decide(slurm(endless, states={"g-1": (*BUSY, "NOT_RESPONDING")}), old)) == {}


def test_one_action_renews_the_leases_of_many_instances():
    many = [instance(f"i-{n}", f"g-{n}", lease=NOW + n) for n in range(1, 9)]
    decision = decide(slurm(states={f"g-{n}": IDLE for n in range(1, 9)}), ec2(*many))
    (action,) = of(decision, Renew)
    assert len(action.instances) == 8


def test_the_lease_of_a_booting_node_covers_its_job():
    assert renewed(decide(slurm(job(1, "g-1")), ec2(instance("i-1", "g-1", lease=NOW + 600)))) == {"i-1": NOW + 4200}


def test_a_lease_above_a_hard_cap_is_not_renewed():
    # 100 USD for account poor, 10 USD an hour; the job needs 600 more minutes on an instance that was up.
    long = job(1, "g-1", state="RUNNING", account="poor", minutes=600)
    cloud = ec2(instance("i-1", "g-1", account="poor", lease=NOW + HOUR))
    decision = decide(slurm(long), cloud)
    assert not changes_of(decision) and decision.next_pass == NOW + HOUR - 60
    state, now = decision.state, NOW + HOUR - 59
    decision = decide(slurm(long), cloud, state, now=now)
    (requeue,) = of(decision, RequeueJobs)
    assert (requeue.jobs, requeue.code) == ((long,), "BUDGET") and not of(decision, Down) + of(decision, Terminate)
    # The idle node costs less, and is renewed before its lease ends.
    assert renewed(decide(slurm(states={"g-1": IDLE}), cloud, decision.state, now=now + 2))


def test_a_renewal_adds_its_cost_to_the_hold():
    idle = slurm(states={"g-1": IDLE})
    first = decide(idle, ec2(instance("i-1", "g-1", launched=NOW, lease=NOW + 540)))
    assert renewed(first) == {"i-1": NOW + 1200}
    assert first.state.holds["i-1"].usd == pytest.approx(1200 / 3600 * 10)


def test_a_job_over_its_limit_causes_no_action():
    over = job(1, "g-1", state="RUNNING", started=NOW - 9000)
    decision = decide(slurm(over), ec2(instance("i-1", "g-1", lease=NOW - 4000, launched=NOW - 9000)))
    assert not changes_of(decision)


def test_nothing_is_renewed_without_a_view_of_ec2():
    assert not decide(slurm(states={"g-1": IDLE, "g-2": RISING}), None, State()).actions
