"""Instances that run and that EC2 does not show for minutes, in the simulated world."""

import functools
from pathlib import Path

import pytest

from landbridge.burst.daemon.passes import one_pass
from tests.unit.burst.world.policies import policy
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.world import World


@pytest.fixture
def world(tmp_path: Path):
    simulated = World(policy(), functools.partial(one_pass, workers=1, clock=lambda: simulated.clock.now), tmp_path)
    yield simulated
    simulated.calm()
    simulated.settle()
    simulated.journal.close()


def run_until(world: World, job: int, state: str) -> None:
    while world.slurm.jobs[job].state != state:
        world.run(5.0)


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_gang_does_not_wait_for_a_sibling_whose_zone_nobody_knows(world: World, is_lost: bool):
    """The journal does not know the instance of an idle node that slurmctld hears: it was lost, or Slurm had powered the
    node down. A gang gets the node: it must not keep its others starting until ResumeTimeout."""
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", 10, 60.0))
    run_until(world, 101, "RUNNING")
    (machine,) = world.ec2.alive()
    machine.hidden = world.clock.true + 1200.0
    if is_lost:
        world.lose_journal()
    else:
        run_until(world, 101, "COMPLETED")
        world.slurm.power_down_force(machine.node)
        world.run(60.0)  # it registers again: EC2 did not show what to terminate
    run_until(world, 101, "COMPLETED")
    assert world.slurm.nodes[machine.node].machine == machine.id
    world.slurm.submit(SimJob(102, "gpu", 3, "lab", 10, 60.0))
    world.run(60.0)
    assert machine.node in world.slurm.jobs[102].nodes
    run_until(world, 102, "PENDING")
    waited = world.clock.true - world.slurm.jobs[102].allocated
    world.run(10.0)
    assert waited < world.policy.settle_seconds + 60.0 and "GONE EC2 does" in world.slurm.jobs[102].admin_comment


@pytest.mark.parametrize("seconds", [100.0, 250.0, 600.0])
def test_an_instance_that_ec2_hides_while_its_node_powers_down_is_charged_once(world: World, seconds: float):
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", 10, 60.0))
    run_until(world, 101, "RUNNING")
    (machine,) = world.ec2.alive()
    machine.hidden = world.clock.true + seconds
    run_until(world, 101, "COMPLETED")
    world.slurm.power_down_force(machine.node)
    world.calm()
    world.settle()
    (usd,) = world.journal.keeper.load().spent.values()
    assert usd == pytest.approx(machine.cost(world.clock.true), abs=0.2)
