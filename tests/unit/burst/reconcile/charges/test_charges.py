"""Charges of jobs, boot and idle time, against the exact use of each node over random schedules."""

from collections import Counter
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings

from landbridge.burst.model import BudgetHold, Charge, ChargeKind
from landbridge.burst.model.charges import add_up
from landbridge.burst.reconcile.budget import accrued, spend
from landbridge.timestamps import month_of, month_start
from tests.thorough import examples
from tests.unit.burst.reconcile.charges.test_money import BEFORE, PASS_SECONDS, STEPS, Cluster, policy, usd
from tests.unit.burst.situations import (
    BUSY,
    NOW,
    RISING,
    at,
    decide,
    ec2,
    end,
    instance,
    job,
    launched,
    only_launch,
    slurm,
    success,
)

DAY = 86_400.0


@dataclass
class MeteredCluster(Cluster):
    """Cluster that also meters the cost of each use of its nodes."""

    uses: Counter[tuple[ChargeKind, int]] = field(default_factory=Counter)

    def pay(self, seconds: float) -> None:
        for node in self.instances:
            shares = {job: share for job, (_, share) in self.shares(node).items()}
            for number, share in shares.items():
                kind = ChargeKind.JOB if number else ChargeKind.IDLE
                kind = ChargeKind.BOOT if self.states[node] == RISING else kind
                self.uses[kind, number] += usd(seconds) * share / sum(shares.values())  # type: ignore[assignment]
        super().pay(seconds)

    def step(self, kind: str, number: int, account: str, seconds: float) -> None:
        super().step(kind, number, account, seconds)
        self.a_pass("")  # sees the launches of the pass before: only then a job is on its instance

    def charged(self) -> list[Charge]:
        running = [charge for hold in self.state.holds.values() for charge in accrued(hold, self.now)]
        return [*self.state.charges, *running]


def sums(charges: list[Charge]) -> dict[tuple[str, str, str], float]:
    by_month: Counter[tuple[str, str, str]] = Counter()
    for charge in charges:
        by_month[charge.key.day[:7], charge.key.account, charge.key.pool] += charge.usd  # type: ignore[assignment]
    return dict(by_month)


@settings(deadline=None, max_examples=examples(20, 5_000))
@given(STEPS, BEFORE)
def test_charges_are_the_spending_and_each_use_of_a_node_has_its_own(steps, before):
    cluster = MeteredCluster(policy(capped=False), month_start("2027-02") - before)
    for step in steps:
        cluster.step(*step)
        assert sums(list(cluster.state.charges)) == pytest.approx(dict(cluster.state.spent))
        seconds = sum(charge.node_seconds for charge in cluster.charged())
        assert usd(seconds) == pytest.approx(sum(cluster.cost.values()), abs=usd(PASS_SECONDS))
        charged: Counter[tuple[ChargeKind, int]] = Counter()
        for charge in cluster.charged():
            charged[charge.key.kind, charge.key.job] += charge.usd  # type: ignore[assignment]
        if month_of(cluster.now) == "2027-01":
            assert charged == pytest.approx(cluster.uses, abs=1e-4)
            continue
        # A job that starts between the last pass of a month and its end pays from the first of the next month.
        for kind in ChargeKind:
            known = [sum(usd for (use, _), usd in of.items() if use is kind) for of in (charged, cluster.uses)]
            assert known[0] == pytest.approx(known[1], abs=usd(PASS_SECONDS)), kind


@settings(deadline=None, max_examples=examples(25, 2_000))
@given(STEPS, BEFORE)
def test_charges_are_the_spending_under_hard_caps(steps, before):
    cluster = MeteredCluster(policy(capped=True), month_start("2027-02") - before)
    for step in steps:
        cluster.step(*step)
    assert sums(list(cluster.state.charges)) == pytest.approx(dict(cluster.state.spent))


def test_a_hold_of_several_days_and_jobs_is_charged_by_day_and_by_use():
    start = month_start("2027-02") - DAY / 2
    hold = BudgetHold("lab", "gpu", 10.0, start, start + 9 * DAY, registered=start + 3600, instance_type="p5")
    hold = replace(hold, claims=((7, "lab", start + DAY), (8, "poor", start + 2 * DAY)))
    spent: dict[tuple[str, str, str], float] = {}
    charges = spend(spent, hold, start + 3 * DAY)
    rows = {
        (c.key.day, c.key.kind, c.key.job): (c.key.account, round(c.node_seconds), round(c.usd, 2))
        for c in add_up(charges)
    }
    assert rows == {
        ("2027-01-31", "boot", 7): ("lab", 1800, 5.0),
        ("2027-01-31", "boot", 8): ("poor", 1800, 5.0),
        ("2027-01-31", "job", 7): ("lab", 19800, 55.0),
        ("2027-01-31", "job", 8): ("poor", 19800, 55.0),
        ("2027-02-01", "job", 7): ("lab", 21600, 60.0),
        ("2027-02-01", "job", 8): ("poor", 64800, 180.0),  # alone from noon on
        ("2027-02-02", "job", 8): ("poor", 43200, 120.0),
        ("2027-02-02", "idle", 0): ("lab", 43200, 120.0),
        ("2027-02-03", "idle", 0): ("lab", 43200, 120.0),
    }
    assert sums(charges) == pytest.approx(spent)
    assert {charge.key.instance_type for charge in charges} == {"p5"}
    assert sum(charge.node_seconds for charge in charges) == pytest.approx(3 * DAY)


def booted() -> tuple:
    """Return the state and the instance of g-1 after a launch for job 1."""
    decision = decide(slurm(job(1, "g-1")), ec2())
    launch = only_launch(decision)
    return end(decision, launch, success(launch)), launched(launch, success(launch))[0]


def test_the_boot_ends_in_the_pass_that_sees_the_node_up_and_is_charged_to_its_job():
    state, item = booted()
    for seconds, known in ((30, job(1, "g-1")), (90, job(1, "g-1", state="RUNNING"))):
        state = decide(at(slurm(known), NOW + seconds), ec2(item), state, now=NOW + seconds).state
    state = decide(slurm(at=NOW + 390), ec2(replace(item, state="shutting-down")), state, now=NOW + 390).state
    charges = {(c.key.kind, c.key.job, c.key.account): c.node_seconds for c in state.charges}
    assert charges == {("boot", 1, "lab"): 90.0, ("job", 1, "lab"): 300.0}


def test_an_instance_that_ends_before_its_node_registers_has_only_boot_time():
    state, item = booted()
    state = decide(slurm(job(1, "g-1"), at=NOW + 30), ec2(item), state, now=NOW + 30).state
    state = decide(slurm(at=NOW + 60), ec2(replace(item, state="shutting-down")), state, now=NOW + 60).state
    assert {charge.key.kind for charge in state.charges} == {"boot"}


def test_a_running_instance_of_an_unknown_launch_has_no_boot_time_and_its_own_type():
    item = instance("i-1", "g-1", type="p5e", subnet="subnet-b", launched=NOW - 3600)
    state = decide(slurm(states={"g-1": BUSY}), ec2(item)).state
    (hold,) = state.holds.values()
    assert {(c.key.kind, c.key.instance_type) for c in accrued(hold, NOW)} == {("idle", "p5e")}


def test_node_seconds_without_a_price_are_counted_as_such():
    hold = BudgetHold("lab", "gpu", 0.0, NOW, NOW + 3600)
    (charge,) = accrued(hold, NOW + 60)
    assert (charge.usd, charge.node_seconds, charge.unpriced_seconds) == (0.0, 60.0, 60.0)


@pytest.mark.parametrize(
    "claims",
    [
        (),
        ((1, "lab", None),),
        ((1, "lab", NOW + 60), (2, "lab", NOW + 600)),
        ((1, "poor", None),),
        ((1, "lab", NOW + 60), (2, "poor", NOW + 600)),
    ],
)
@pytest.mark.parametrize("stop", [NOW - 1, NOW, NOW + 30, NOW + 3600])
def test_charges_by_account_are_the_sums_of_the_shares(claims: tuple[tuple[int, str, float | None], ...], stop: float):
    hold = BudgetHold("lab", "gpu", 10.0, NOW, NOW + 7200, claims=claims)
    sums: Counter[str] = Counter()
    for share in hold.shares(NOW, stop):
        sums[share.account] += share.usd
    assert hold.charges(NOW, stop) == pytest.approx(dict(sums))
