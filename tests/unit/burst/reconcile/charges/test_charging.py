"""Charges: each job pays for the time that it has on a node, and a renewal is held once, also when it fails."""

from dataclasses import replace

import pytest

from landbridge.burst.model import ActionOutcome, Down, Renew, RequeueJobs, State
from landbridge.burst.reconcile.outcome_state import apply_outcome
from tests.unit.burst.situations import (
    BUSY,
    IDLE,
    NOW,
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

MONTH = "2027-01"
HOUR = 3600.0


def held(state: State) -> float:
    return sum(hold.usd for hold in state.holds.values())


@pytest.mark.parametrize("code", ["UnauthorizedOperation", "RequestLimitExceeded", "ReadTimeoutError"])
@pytest.mark.parametrize("minutes", [None, 120])
def test_a_renewal_that_fails_in_every_pass_is_held_once(code, minutes):
    busy = job(1, "g-1", state="RUNNING", account="poor", minutes=minutes)
    item = instance("i-1", "g-1", account="poor", lease=NOW + 900)
    state, now, renewals = State(), NOW, 0
    while now < NOW + 800:
        decision = decide(at(slurm(busy), now), ec2(item, at=now), state, now=now)
        assert not of(decision, Down)
        state = decision.state
        for action in of(decision, Renew):
            renewals += 1
            state = apply_outcome(state, action, ActionOutcome(code, "no"), site(), now)
        # 10 USD an hour: until now, and at most one renewal ahead.
        ahead = (20 + 1) * 60 if minutes is None else (minutes + 10) * 60 - (now - NOW)
        assert held(state) <= 10 * (now - NOW + ahead + 60) / HOUR
        now += 15
    assert renewals > 10


def spent(state: State, account: str) -> float:
    return sum(usd for (_, name, _), usd in state.spent.items() if name == account)


def held_by(state: State, account: str, now: float) -> float:
    holds = (hold.charges(hold.since, hold.end) for hold in state.holds.values())
    return sum(charges.get(account, 0.0) for charges in holds)


def warm(account: str, minutes: int = 60, policy=None, state: State | None = None):
    """Return the journal and the instance of g-1 after its launch for a job of the account."""
    decision = decide(slurm(job(1, "g-1", account=account, minutes=minutes)), ec2(), state, policy)
    launch = only_launch(decision)
    return end(decision, launch, success(launch), policy), launched(launch, success(launch))[0]


def test_a_job_on_another_accounts_warm_node_is_held_and_renewed_as_its_own():
    state, item = warm("poor")
    lab = job(2, "g-1", state="RUNNING", account="lab", minutes=24 * 60, started=NOW + 300)
    decision = decide(at(slurm(lab), NOW + 310), ec2(item, at=NOW + 310), state, now=NOW + 310)
    (renewal,) = of(decision, Renew)
    assert renewal.until >= NOW + 300 + 24 * HOUR and not of(decision, Down)
    assert spent(decision.state, "poor") == pytest.approx(10 * 300 / HOUR)
    assert held_by(decision.state, "poor", NOW + 310) == 0
    assert held_by(decision.state, "lab", NOW + 310) == pytest.approx(10 * (24 + 1 / 6), abs=0.5)


def test_a_job_above_its_own_cap_does_not_run_on_another_accounts_warm_node():
    state, item = warm("lab", state=State(spent={(MONTH, "poor", "gpu"): 100.0}))
    poor = job(2, "g-1", state="RUNNING", account="poor", minutes=24 * 60, started=NOW + 60)
    decision = decide(at(slurm(poor), NOW + 60), ec2(item, at=NOW + 60), state, now=NOW + 60)
    (requeue,) = changes_of(decision)  # the node stays
    assert requeue == RequeueJobs((poor,), "BUDGET", requeue.text) and "account poor" in requeue.text
    assert decision.state.backoffs[2].code == "BUDGET" and spent(decision.state, "poor") == 100.0
    (record,) = events(decision, "requeue")
    assert (record.jobs, record.nodes, record.code, record.pool) == ((2,), ("g-1",), "BUDGET", "gpu")
    # The next pass renews the node for the account that launched it.
    later = NOW + 60 + 71 * 60
    idle = decide(slurm(states={"g-1": IDLE}, at=later), ec2(item, at=later), decision.state, now=later)
    assert [type(action) for action in changes_of(idle)] == [Renew]


def test_idle_time_belongs_to_the_launching_account_again():
    state, item = warm("lab")
    first = job(2, "g-1", state="RUNNING", account="poor", minutes=10, started=NOW + 60)
    state = decide(at(slurm(first), NOW + 60), ec2(item, at=NOW + 60), state, now=NOW + 60).state
    assert held_by(state, "poor", NOW + 60) == pytest.approx(10 * 20 / 60)  # its limit and the grace time
    leaving = job(2, "g-1", state="COMPLETING", account="poor", minutes=10, started=NOW + 60)
    state = decide(at(slurm(leaving), NOW + 360), ec2(item, at=NOW + 360), state, now=NOW + 360).state
    state = decide(slurm(states={"g-1": IDLE}, at=NOW + 420), ec2(item, at=NOW + 420), state, now=NOW + 420).state
    assert spent(state, "poor") == pytest.approx(10 * 360 / HOUR) and held_by(state, "poor", NOW + 420) == 0
    assert spent(state, "lab") + held_by(state, "lab", NOW + 420) == pytest.approx(10 * (71 * 60 - 360) / HOUR)


@pytest.mark.parametrize(
    ("mine", "theirs", "share"),
    [
        ({"gpus": 1, "cpus": 90}, {"gpus": 7, "cpus": 6}, 7 / 8),
        ({"gpus": 4}, {"cpus": 64}, 1 / 5),  # a job without a GPU pays as one with one
        ({"cpus": 24}, {"cpus": 72}, 3 / 4),
        ({}, {}, 1 / 2),
    ],
)
def test_jobs_that_share_a_node_pay_by_their_gpus_on_it(mine, theirs, share):
    state, item = warm("lab")
    lab = job(1, "g-1", state="RUNNING", started=NOW, **mine)
    # Two nodes: half of its resources are on this one.
    both = {name: 2 * count for name, count in theirs.items()}
    other = job(2, "g-1", "g-2", state="RUNNING", account="ward", started=NOW, **both)
    policy = site(accounts={**site().accounts, "ward": replace(site().accounts["lab"], name="ward")})
    state = decide(slurm(lab, other), ec2(item), state, policy).state
    assert held_by(state, "ward", NOW) == pytest.approx(share * 10 * 70 / 60)


def test_jobs_that_share_a_node_pay_until_each_ends():
    state, item = warm("lab")
    two = (job(1, "g-1", state="RUNNING", minutes=50), job(2, "g-1", state="RUNNING", account="poor", minutes=20))
    state = decide(at(slurm(*two), NOW + 60), ec2(item, at=NOW + 60), state, now=NOW + 60).state
    shared = 20 * 60 + 600 - 5  # until the second job's limit and grace time
    assert held_by(state, "poor", NOW + 60) == pytest.approx(10 * shared / HOUR / 2)
    assert held(state) == pytest.approx(10 * 71 / 60)


def test_a_job_above_its_cap_leaves_the_node_of_a_job_of_another_account():
    state, item = warm("lab", state=State(spent={(MONTH, "poor", "gpu"): 100.0}))
    two = (job(1, "g-1", state="RUNNING"), job(2, "g-1", state="RUNNING", account="poor", minutes=24 * 60))
    decision = decide(slurm(*two), ec2(item), state)
    (requeue,) = changes_of(decision)
    assert isinstance(requeue, RequeueJobs) and requeue.jobs == (two[1],)
    assert spent(decision.state, "poor") + held_by(decision.state, "poor", NOW) == 100.0
    assert held_by(decision.state, "lab", NOW) == pytest.approx(10 * 71 / 60)


def test_a_job_that_cannot_pay_alone_leaves_the_node_when_the_other_job_ends():
    policy = site(accounts={**site().accounts, "poor": replace(site().accounts["poor"], monthly_usd=6.0)})
    state, item = warm("lab", policy=policy)
    two = (job(1, "g-1", state="RUNNING", started=NOW), job(2, "g-1", state="RUNNING", account="poor", started=NOW))
    decision = decide(slurm(*two), ec2(item), state, policy)
    assert not changes_of(decision)  # a half of 70 minutes is 5.83 USD
    decision = decide(at(slurm(two[1]), NOW + 60), ec2(item, at=NOW + 60), decision.state, policy, NOW + 60)
    (requeue,) = changes_of(decision)
    assert isinstance(requeue, RequeueJobs) and requeue.code == "BUDGET"


def test_a_job_above_its_cap_leaves_when_the_lease_that_it_can_pay_has_ended():
    """A longer lease is for the other job on the node: this one does not run there at its cost."""
    policy = site(accounts={**site().accounts, "poor": replace(site().accounts["poor"], monthly_usd=6.5)})
    state, item = warm("lab", policy=policy)
    lab = job(1, "g-1", state="RUNNING", minutes=24 * 60, started=NOW)
    poor = job(2, "g-1", state="RUNNING", account="poor", minutes=24 * 60, started=NOW)
    now, requeued = NOW, []
    while now < NOW + 5 * HOUR and not requeued:
        decision = decide(at(slurm(lab, poor), now), ec2(item, at=now), state, policy, now)
        state, requeued = decision.state, of(decision, RequeueJobs)
        for renewal in of(decision, Renew):
            state, item = end(decision, renewal, ActionOutcome(), policy, now), replace(item, lease=renewal.until)
        now += 60
    assert [action.jobs for action in requeued] == [(poor,)] and NOW + 70 * 60 <= now <= NOW + 75 * 60
    assert 0 < spent(state, "poor") + held_by(state, "poor", now) <= 6.5


def test_a_job_of_several_nodes_is_requeued_once_and_one_that_slurm_does_not_requeue_is_cancelled():
    spent_all = State(spent={(MONTH, "poor", "gpu"): 100.0})
    items = [instance(f"i-{n}", f"g-{n}") for n in (1, 2)]
    poor = job(2, "g-1", "g-2", state="RUNNING", account="poor")
    shell = job(3, "g-1", state="RUNNING", account="poor", is_batch=False)
    decision = decide(slurm(poor, shell), ec2(*items), spent_all)
    (requeue,) = changes_of(decision)
    assert requeue.jobs == (poor, shell)
    assert [record.jobs for record in events(decision, "job-ends")] == [(3,)]


def test_nothing_is_launched_for_a_job_that_the_pass_requeues():
    policy = site(accounts={**site().accounts, "poor": replace(site().accounts["poor"], monthly_usd=11.5)})
    poor = job(2, "g-1", "g-2", account="poor")
    view = slurm(poor, states={"g-1": BUSY})
    (requeue,) = changes_of(
        decide(view, ec2(instance("i-1", "g-1")), State(spent={(MONTH, "poor", "gpu"): 0.1}), policy)
    )
    assert isinstance(requeue, RequeueJobs)


def test_a_longer_job_above_its_cap_does_not_follow_a_job_of_the_same_account():
    policy = site(accounts={**site().accounts, "poor": replace(site().accounts["poor"], monthly_usd=5.0)})
    state, item = warm("lab", policy=policy)
    short = job(2, "g-1", state="RUNNING", account="poor", minutes=10, started=NOW)
    state = decide(slurm(short), ec2(item), state, policy).state
    assert held_by(state, "poor", NOW) == pytest.approx(10 * 20 / 60)
    long = job(3, "g-1", state="RUNNING", account="poor", minutes=300, started=NOW + 60)
    (requeue,) = changes_of(decide(at(slurm(long), NOW + 60), ec2(item, at=NOW + 60), state, policy, NOW + 60))
    assert isinstance(requeue, RequeueJobs) and requeue.code == "BUDGET"


def test_an_idle_node_that_its_launching_account_cannot_pay_ends_at_once():
    state, item = warm("poor", minutes=10)
    lab = job(2, "g-1", state="RUNNING", account="lab", minutes=24 * 60, started=NOW + 60)
    decision = decide(at(slurm(lab), NOW + 60), ec2(item, at=NOW + 60), state, now=NOW + 60)
    (renewal,) = of(decision, Renew)
    state = end(decision, renewal, ActionOutcome())
    longer = replace(item, lease=renewal.until)
    decision = decide(slurm(states={"g-1": IDLE}, at=NOW + 120), ec2(longer, at=NOW + 120), state, now=NOW + 120)
    (down,) = of(decision, Down)
    assert down.code == "BUDGET" and not decision.state.backoffs
    assert spent(decision.state, "poor") + held_by(decision.state, "poor", NOW + 120) <= 100


@pytest.mark.parametrize(
    ("code", "until"), [("", "asked"), ("RequestLimitExceeded", "before"), ("ReadTimeoutError", "asked")]
)
def test_a_hold_ends_with_the_lease_that_a_renewal_may_have_bought(code, until):
    state, item = warm("lab", minutes=10)
    longer = job(1, "g-1", state="RUNNING", minutes=600, started=NOW)
    decision = decide(at(slurm(longer), NOW + 60), ec2(item, at=NOW + 60), state, now=NOW + 60)
    (renewal,) = of(decision, Renew)
    (hold,) = decision.state.holds.values()
    assert hold.end == renewal.until
    (hold,) = end(decision, renewal, ActionOutcome(code, "")).holds.values()
    assert hold.end == (renewal.until if until == "asked" else item.lease)


def test_a_longer_lease_than_the_hold_is_held():
    state, item = warm("lab")
    busy = job(1, "g-1", state="RUNNING", started=NOW)
    state = decide(slurm(busy), ec2(replace(item, lease=NOW + 9000)), state).state
    (hold,) = state.holds.values()
    assert hold.end == NOW + 9000


def test_a_job_does_not_end_for_the_rest_of_a_minute_that_the_launching_account_cannot_pay():
    """A lease ends with a whole minute, after the job's end: the launching account, which is above its cap, pays nothing
    of it."""
    over = {(MONTH, "poor", "gpu"): 100.0}
    state, item = warm("poor", minutes=10)
    state = replace(state, spent=over)
    lab = job(2, "g-1", state="RUNNING", minutes=30, started=NOW + 10)
    now = NOW + 25
    while now < item.lease + 60:
        decision = decide(at(slurm(lab), now), ec2(item, at=now), state, now=now)
        assert not of(decision, Down)
        state, now = decision.state, now + 30
        for renewal in of(decision, Renew):
            state, item = (
                apply_outcome(state, renewal, ActionOutcome(), site(), now),
                replace(item, lease=renewal.until),
            )
    assert item.lease >= NOW + 10 + 40 * 60
    assert held_by(state, "poor", now) == 0
    # Without a job the rest of the lease is the launching account's, which cannot pay it.
    (down,) = of(decide(slurm(states={"g-1": IDLE}, at=now), ec2(item, at=now), state, now=now), Down)
    assert down.code == "BUDGET"
