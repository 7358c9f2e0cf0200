"""A termination-protected instance in the simulated world: it shields no other one, and ends when it may."""

import functools

import pytest

from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.reconcile.clock_skew import TERMINATION_RETRY_SECONDS
from tests.unit.burst.world.policies import policy
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.watch import PASS
from tests.unit.burst.world.world import World


@pytest.fixture
def world(tmp_path):
    """Return a world in which four jobs of one node have ended, and one of their instances is protected."""
    world = World(policy(), functools.partial(one_pass, workers=1, clock=lambda: world.clock.now), tmp_path)
    for _ in range(4):
        world.slurm.submit(SimJob(world.job_id(), "gpu", 1, "lab", 10, 60.0))
    world.run(2 * PASS)
    world.ec2.protect(world.ec2.alive("g-2")[0])
    world.run(20 * PASS)
    assert all(job.over for job in world.slurm.jobs.values())
    yield world
    world.journal.close()


def test_the_others_end_and_the_protected_one_is_requested_again_until_it_ends(world):
    assert [machine.node for machine in world.ec2.alive()] == ["g-2"]
    calls = world.faults.calls.count("ec2.terminate")
    world.run(10 * TERMINATION_RETRY_SECONDS)
    assert world.faults.calls.count("ec2.terminate") - calls <= 11
    (machine,) = world.ec2.alive()
    state = world.journal.keeper.load()
    held, spent = sum(hold.usd for hold in state.holds.values()), sum(state.spent.values())
    assert held + spent >= sum(each.cost(world.clock.true) for each in world.ec2.machines.values())
    world.ec2.protect(machine)
    world.run(TERMINATION_RETRY_SECONDS + 2 * PASS)
    assert not world.ec2.alive()
    world.settle()


def test_a_job_for_the_node_of_the_protected_instance_gets_another_one(world):
    """Slurm may also use the protected instance itself, if it registers again while the node is powered down."""
    world.slurm.submit(SimJob(world.job_id(), "gpu", 8, "lab", 10, 60.0))
    world.run(20 * PASS)
    assert all(job.over for job in world.slurm.jobs.values())
