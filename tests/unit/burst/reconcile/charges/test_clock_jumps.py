"""Jumps of the clock of the controller's host: the bills are those of the time that has passed."""

import functools
from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.journal.store import Store
from landbridge.burst.model import BudgetHold, HostClock, State
from landbridge.burst.reconcile.clock_jumps import correct_holds
from tests.unit.burst.launches import attempt
from tests.unit.burst.world.ec2 import REAPER_EVERY
from tests.unit.burst.world.policies import policy
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.world import World

HOLD = BudgetHold("lab", "gpu", 10.0, 1000.0, 5000.0, registered=1060.0)
STATE = State(
    clock=HostClock("b", 100.0),
    holds={"i-1": HOLD, "lb-2": replace(HOLD, registered=None), "i-3": replace(HOLD, registered=0.0)},
    terminated_at={"i-1": 1500.0},
    attempts={"lb-1": attempt("g-1", ended=1060.0), "lb-2": attempt("g-2")},
)


def test_the_times_of_holds_move_with_the_clock_and_leases_stay():
    moved = correct_holds(STATE, HostClock("b", 700.0))
    assert moved.clock == HostClock("b", 700.0, jump=600.0) and moved.terminated_at == {"i-1": 2100.0}
    assert [(hold.since, hold.until, hold.registered) for hold in moved.holds.values()] == [
        (1600.0, 5000.0, 1660.0),
        (1600.0, 5000.0, None),
        (1600.0, 5000.0, 0.0),
    ]
    still = correct_holds(moved, HostClock("b", 700.0))
    assert {token: attempt.ended for token, attempt in moved.attempts.items()} == {"lb-1": 1660.0, "lb-2": None}
    assert still == replace(moved, clock=HostClock("b", 700.0)) and correct_holds(still, HostClock("b", 700.4)) is still


def test_small_differences_add_up_to_a_jump():
    state = STATE
    for step in range(1, 5):
        state = correct_holds(state, HostClock("b", 100.0 + 0.4 * step))
    assert state.holds["i-1"].since == pytest.approx(1001.2)


def test_after_a_boot_no_jump_is_known():
    after = correct_holds(STATE, HostClock("c", 9999.0))
    assert after == replace(STATE, clock=HostClock("c", 9999.0))
    assert correct_holds(State(), HostClock("b", 5.0)).clock == HostClock("b", 5.0)


def test_the_clock_is_in_the_journal(store: Store):
    store.save(State(), STATE)
    assert store.load().clock == STATE.clock


def test_an_instance_that_ec2_does_not_show_yet_stays_held_after_a_jump(tmp_path: Path):
    world = World(policy(), functools.partial(one_pass, workers=1, clock=lambda: world.clock.now), tmp_path)
    world.ec2.lag = 60.0
    world.slurm.submit(SimJob(1, "gpu", 2, "lab", None, 60.0))
    world.run(10.0)
    instances = {machine.id for machine in world.ec2.alive()}
    world.jump(600.0)
    world.run(10.0)
    assert world.journal.keeper.load().holds.keys() == instances and len(instances) == 2
    world.calm()
    world.settle()
    world.journal.close()


@pytest.mark.parametrize("jump", [600.0, -600.0, 45.0, -45.0, 3600.0, -3600.0])
@pytest.mark.parametrize("stays", [True, False])
def test_a_jump_changes_no_bill(jump: float, stays: bool, tmp_path: Path):
    """Two accounts use a node one after the other; during each job the clock jumps, to stay or to come back."""
    world = World(
        policy(poor_usd=40.0), functools.partial(one_pass, workers=1, clock=lambda: world.clock.now), tmp_path
    )
    for number, account in ((1, "lab"), (2, "poor")):
        world.slurm.submit(SimJob(number, "gpu", 1, account, None, 600.0))
        world.run(200.0)
        world.jump(jump if number == 1 or not stays else -jump)
        world.run(120.0)
        if not stays:
            world.jump(-jump)
        world.run(300.0)
    world.calm()
    world.settle()
    cost = sum(machine.cost(world.clock.true) for machine in world.ec2.machines.values())
    assert sum(world.journal.keeper.load().spent.values()) == pytest.approx(cost, abs=0.2)
    world.journal.close()


def test_a_job_that_cannot_pay_leaves_before_the_reaper_ends_its_node_although_the_clock_is_slow(tmp_path: Path):
    world = World(policy(), functools.partial(one_pass, workers=1, clock=lambda: world.clock.now), tmp_path)
    world.jump(-90.0)
    world.slurm.submit(SimJob(1, "gpu", 1, "poor", None, 3000.0))
    while world.slurm.jobs[1].state != "RUNNING":
        world.run(5.0)
    (machine,) = world.ec2.alive()
    while world.slurm.jobs[1].state == "RUNNING":
        world.ec2.swept = machine.lease + 10.0 - REAPER_EVERY
        world.run(5.0)
    world.run(5.0)
    assert "BUDGET" in world.slurm.jobs[1].admin_comment
    world.calm()
    world.settle()
    world.journal.close()
