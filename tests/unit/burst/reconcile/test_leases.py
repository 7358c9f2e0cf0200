"""Until when instances live: written at launch, moved while Slurm keeps the node and the budget allows."""

import pytest

from landbridge.burst.model import Down, Renew, State
from landbridge.burst.reconcile.leases import lease_at_launch
from tests.unit.burst.situations import (
    BUSY,
    IDLE,
    LEAVING,
    NOW,
    RISING,
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
        (BUSY, NOW + 4000, NOW + 4200),  # the job's start, its limit, the grace: 60 + 10 minutes
        (BUSY, NOW + 4200, None),
        (IDLE, NOW + 590, NOW + 1200),  # less than half of 20 minutes left
        (IDLE, NOW + 610, None),
        (IDLE, None, NOW + 1200),
        (("IDLE", "CLOUD", "DRAIN"), NOW + 1, NOW + 1200),  # a person looks at it
        (LEAVING, NOW + 1, None),
        (("DOWN", "CLOUD"), NOW + 1, None),
        (("IDLE", "CLOUD", "POWER_DOWN"), NOW + 1, None),
        (("IDLE", "CLOUD", "NOT_RESPONDING"), NOW + 1, None),  # renewed over the link, or not at all
    ],
)
def test_a_lease_is_moved_when_it_is_too_short(states, lease, until):
    jobs = [job(1, "g-1", state="RUNNING", started=NOW)] if states is BUSY else []
    decision = decide(slurm(*jobs, states={"g-1": states}), ec2(instance("i-1", "g-1", lease=lease)))
    assert renewed(decision) == ({"i-1": until} if until else {})


def test_a_job_without_a_limit_is_renewed_as_long_as_it_answers():
    endless = job(1, "g-1", state="RUNNING", minutes=None)
    old = ec2(instance("i-1", "g-1", lease=NOW + 60))
    assert renewed(decide(slurm(endless), old)) == {"i-1": NOW + 1200}
    assert renewed(decide(slurm(endless, states={"g-1": (*BUSY, "NOT_RESPONDING")}), old)) == {}


def test_one_call_renews_many():
    many = [instance(f"i-{n}", f"g-{n}", lease=NOW + n) for n in range(1, 9)]
    decision = decide(slurm(states={f"g-{n}": IDLE for n in range(1, 9)}), ec2(*many))
    (action,) = of(decision, Renew)
    assert len(action.instances) == 8


def test_a_rising_node_outlives_its_boot():
    assert renewed(decide(slurm(job(1, "g-1")), ec2(instance("i-1", "g-1", lease=NOW + 600)))) == {"i-1": NOW + 4200}


def test_a_lease_over_the_cap_is_not_renewed():
    # 100 USD for account poor, 10 USD an hour; the job wants 600 minutes more on a machine that was up.
    long = job(1, "g-1", state="RUNNING", account="poor", minutes=600)
    cloud = ec2(instance("i-1", "g-1", account="poor", lease=NOW + HOUR))
    decision = decide(slurm(long), cloud)
    assert not renewed(decision) and not of(decision, Down) and decision.next_pass == NOW + HOUR
    (down,) = of(decide(slurm(long), cloud, decision.state, now=NOW + HOUR + 1), Down)
    assert down.code == "BUDGET"


def test_a_renewal_is_held_before_it_is_made():
    idle = slurm(states={"g-1": IDLE})
    first = decide(idle, ec2(instance("i-1", "g-1", launched=NOW, lease=NOW + 540)))
    assert renewed(first) == {"i-1": NOW + 1200}
    assert first.state.holds["token-i-1"].usd == pytest.approx(1200 / 3600 * 10)


def test_a_job_over_its_limit_is_left_to_those_who_enforce_leases():
    over = job(1, "g-1", state="RUNNING", started=NOW - 9000)
    decision = decide(slurm(over), ec2(instance("i-1", "g-1", lease=NOW - 4000, launched=NOW - 9000)))
    assert not decision.actions


def test_nothing_is_renewed_in_the_dark():
    assert not decide(slurm(states={"g-1": IDLE, "g-2": RISING}), None, State()).actions
