"""Budget: holds before spending, spending once it is known, and refusal of launches above a hard cap."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.burst.model import AccountPolicy, ActionOutcome, BudgetHold, Down, Launch, State, Terminate
from landbridge.burst.reconcile.budget import Ledger, hold_usd
from landbridge.timestamps import month_of, month_start
from tests.unit.burst.situations import (
    BUSY,
    NOW,
    OFF,
    decide,
    ec2,
    end,
    events,
    instance,
    job,
    launched,
    of,
    offering,
    only_launch,
    site,
    slurm,
    success,
)

MONTH = "2027-01"


def committed(state):
    return sum(hold.usd for hold in state.holds.values()) + sum(state.spent.values())


def test_a_launch_is_held_until_the_end_of_its_lease():
    decision = decide(slurm(job(1, "g-1", "g-2")), ec2())
    (hold,) = decision.state.holds.values()
    assert hold == BudgetHold("lab", "gpu", 10.0, NOW, NOW + 71 * 60, nodes=2, registered=None)


def test_a_refused_launch_holds_nothing():
    decision = decide(slurm(job(1, "g-1", "g-2")), ec2())
    state = end(decision, only_launch(decision), ActionOutcome("InsufficientInstanceCapacity", "none"))
    assert not state.holds and not state.spent


def test_a_partly_launched_batch_holds_money_for_its_instances_only():
    decision = decide(slurm(job(1, "g-1"), job(2, "g-2")), ec2())
    state = end(decision, only_launch(decision), ActionOutcome(instances={"g-1": "i-1"}))
    (hold,) = state.holds.values()
    assert hold.usd == pytest.approx(10 * 71 / 60)


def test_a_terminated_item_is_spent_and_not_held():
    decision = decide(slurm(job(1, "g-1", "g-2")), ec2())
    launch = only_launch(decision)
    state = end(decision, launch, success(launch))
    both = launched(launch, success(launch))
    later = NOW + 1800
    decision = decide(slurm(states={"g-1": BUSY, "g-2": OFF}), ec2(both[0]), state, now=later)
    (terminate,) = of(decision, Terminate)
    assert terminate.instances == ("i-2",) and not decision.state.spent, "EC2 does not show it, and it may run"
    terminated = end(decision, terminate, ActionOutcome(), now=later)
    half = decide(slurm(states={"g-1": BUSY, "g-2": OFF}), ec2(both[0]), terminated, now=later).state
    assert half.spent == {(MONTH, "lab", "gpu"): pytest.approx(5.0)}
    assert sum(hold.usd for hold in half.holds.values()) == pytest.approx(10 * 71 / 60)
    half = replace(half, terminated_at={"i-1": later + 1800})
    done = decide(slurm(), ec2(), half, now=later + 1800).state
    assert done.spent == {(MONTH, "lab", "gpu"): pytest.approx(15.0)} and not done.holds


@pytest.mark.parametrize(("seen", "usd"), [(True, 50.0), (False, 10 * 71 / 60)])
def test_a_termination_that_no_pass_saw_costs_at_most_its_hold(seen, usd):
    decision = decide(slurm(job(1, "g-1")), ec2())
    launch = only_launch(decision)
    state = end(decision, launch, success(launch))
    shown = [replace(item, state="shutting-down") for item in launched(launch, success(launch))] if seen else []
    after = decide(slurm(), ec2(*shown), state, now=NOW + 5 * 3600).state
    assert after.spent == {(MONTH, "lab", "gpu"): pytest.approx(usd)}


def test_an_empty_journal_gets_holds_for_running_instances():
    instances = [instance(f"i-{n}", f"g-{n}", token="lb-1", launched=NOW - 3600, lease=NOW + 3600) for n in (1, 2)]
    state = decide(slurm(states={"g-1": BUSY, "g-2": BUSY}), ec2(*instances)).state
    hold = BudgetHold("lab", "gpu", 10.0, NOW - 3600, NOW + 3600, instance_type="p5")
    assert state.holds == {"i-1": hold, "i-2": hold}
    assert state.attempts["lb-1"].offering == "p5/a/on-demand"


def test_costs_before_the_end_of_a_month_are_spent_in_that_month():
    start = month_start("2027-02")
    running = instance("i-1", "g-1", launched=start - 3600, lease=start + 7200)
    before = decide(slurm(states={"g-1": BUSY}), ec2(running), now=start - 60).state
    state = decide(slurm(states={"g-1": BUSY}), ec2(running), before, now=start + 60).state
    assert state.spent == {("2027-01", "lab", "gpu"): pytest.approx(10.0)}
    (hold,) = state.holds.values()
    assert hold.since == start and hold.usd == pytest.approx(20.0)


def test_the_cost_of_an_instance_that_ended_after_a_month_is_spent_in_both_months():
    start = month_start("2027-02")
    running = instance("i-1", "g-1", launched=start - 3600, lease=start + 7200)
    before = decide(slurm(states={"g-1": BUSY}), ec2(running), now=start - 60).state
    state = decide(slurm(), ec2(replace(running, state="shutting-down")), before, now=start + 360).state
    assert state.spent == {
        ("2027-01", "lab", "gpu"): pytest.approx(10.0),
        ("2027-02", "lab", "gpu"): pytest.approx(1.0),
    }
    assert not state.holds


@pytest.mark.parametrize(
    ("policy", "account", "refused"),
    [
        (site(), "poor", True),
        (site(), "lab", False),
        (site(monthly_usd=150.0, hard=True), "lab", True),
        (site(monthly_usd=150.0), "lab", False),
        (site(pool_monthly_usd={"gpu": 150.0}, hard=True), "lab", True),
        (site(pool_monthly_usd={"big": 150.0}, hard=True), "lab", False),
    ],
)
def test_a_hard_cap_refuses_and_a_soft_cap_is_reported(policy, account, refused):
    big = job(1, *(f"g-{n}" for n in range(1, 9)), account=account, minutes=130)
    decision = decide(slurm(big), ec2(), policy=policy)
    assert [down.code for down in of(decision, Down)] == (["BUDGET"] if refused else [])
    if not refused:
        (record,) = events(decision, "launch")
        assert ("over" in record.details) == (policy.monthly_usd is not None)


def test_launches_of_one_pass_count_together():
    jobs = [job(n, f"g-{2 * n - 1}", f"g-{2 * n}", account="poor", minutes=100) for n in (1, 2, 3)]
    decision = decide(slurm(*jobs), ec2())  # 37 USD each, of 100
    assert len(of(decision, Launch)) == 2 and [down.code for down in of(decision, Down)] == ["BUDGET"]


def test_a_part_of_a_batch_is_within_a_cap_with_its_own_lease():
    # The lease of a batch begins with its oldest job, that of a part with the oldest of the part.
    jobs = [job(n, f"g-{n}", account="poor", started=NOW - 25 if n == 3 else NOW + 25) for n in (1, 2, 3)]
    policy = site(accounts={"poor": AccountPolicy("poor", "internal", True, monthly_usd=23.6, hard=True)})
    decision = decide(slurm(*jobs), ec2(), policy=policy, now=NOW + 30)
    assert 0 < committed(decision.state) <= 23.6


def test_a_batch_starts_as_many_nodes_as_the_budget_allows():
    jobs = [job(n, f"g-{n}", account="poor", minutes=169) for n in range(1, 6)]  # 30 USD each
    decision = decide(slurm(*jobs), ec2(), policy=site((offering("a"),)))
    assert only_launch(decision).gang.nodes == ("g-1", "g-2", "g-3")
    (down,) = of(decision, Down)
    assert down.nodes == ("g-4", "g-5") and down.code == "BUDGET" and set(decision.state.backoffs) == {4, 5}


def test_an_offering_without_cost_is_never_refused():
    ledger = Ledger.of(State(spent={(MONTH, "poor", "gpu"): 500.0}), site(), NOW)
    assert ledger.refusal("poor", "gpu", 0.0) is None and ledger.refusal("poor", "gpu", 0.01)


def test_other_months_do_not_count():
    ledger = Ledger.of(State(spent={("2026-12", "poor", "gpu"): 500.0}), site(), NOW)
    assert ledger.refusal("poor", "gpu", 99.0) is None


@given(st.floats(0, 4e9))
def test_months_begin_and_end_in_utc(now):
    month = month_of(now)
    assert month == datetime.fromtimestamp(now, UTC).strftime("%Y-%m") and month_start(month) <= now


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["go", "ice", "end", "wait"]), st.integers(1, 4), st.integers(5, 300)), max_size=25
    )
)
def test_a_hard_cap_is_never_broken(steps):
    """Spending and holds stay within the cap after any sequence of requests, launches, refusals and terminations."""
    policy, state, now = site(), State(), NOW
    alive: list = []
    for number, (step, count, minutes) in enumerate(steps, 1):
        now += 60
        if step == "wait":
            now += minutes * 60
        if step == "end":
            alive = alive[count:]
        alive = [
            instance for instance in alive if instance.lease > now
        ]  # leases are enforced also without the controller
        busy = {instance.node: BUSY for instance in alive}
        free = [f"g-{n}" for n in range(1, 9) if f"g-{n}" not in busy]
        requested = free[:count] if step in ("go", "ice") else []
        jobs = [job(number, *requested, account="poor", minutes=minutes, started=now)] if requested else []
        decision = decide(slurm(*jobs, states=busy, at=now), ec2(*alive, at=now), state, policy, now)
        assert committed(decision.state) <= 100.0 + 1e-6
        state = decision.state
        for launch in of(decision, Launch):
            outcome = (
                ActionOutcome("InsufficientInstanceCapacity") if step == "ice" else success(launch, 1 + 10 * number)
            )
            state = end(replace(decision, state=state), launch, outcome, policy, now)
            alive += launched(launch, outcome, now)
        assert committed(state) <= 100.0 + 1e-6


def test_a_hold_for_an_expired_lease_is_zero():
    assert hold_usd(3, 10.0, NOW, NOW - 60) == 0.0
