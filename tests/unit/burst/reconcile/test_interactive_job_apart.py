"""An interactive job on idle nodes of two zones, in the simulated world: it starts there after the controller has reported
it."""

import functools

import pytest

from landbridge.burst.daemon.passes import one_pass
from tests.unit.burst.world.money import Breach
from tests.unit.burst.world.policies import policy
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.watch import PASS
from tests.unit.burst.world.world import World


@pytest.fixture
def world(tmp_path):
    """Return a world with an idle node in each of two zones."""
    world = World(policy(), functools.partial(one_pass, workers=1, clock=lambda: world.clock.now), tmp_path)
    world.slurm.excepted = {"g-1", "g-2"}  # Slurm does not suspend them
    world.slurm.power_up("g-1")
    world.run(PASS)
    world.ec2.room = {offering.key: 0 for offering in policy().pools["gpu"].offerings if offering.zone == "a"}
    world.slurm.power_up("g-2")
    world.run(6 * PASS)
    assert {machine.offering.zone for machine in world.ec2.alive()} == {"a", "b"}
    yield world
    world.journal.close()


def start(world, batch):
    world.slurm.submit(SimJob(world.job_id(), "gpu", 2, "lab", 10, 90.0, batch=batch))
    world.advance(5.0)
    world.slurm.excepted = set()
    world.run(3 * PASS)
    return world.slurm.jobs[101]


def test_it_starts_there_and_is_reported(world):
    job = start(world, batch=False)
    assert job.state == "RUNNING" and world.slurm.left_apart(job)


def test_it_may_not_start_there_without_a_report(world):
    world.slurm.left_apart = lambda job: False
    with pytest.raises(Breach, match="runs in"):
        start(world, batch=False)


def test_a_batch_job_may_not_start_there_with_a_report(world):
    world.slurm.left_apart = lambda job: True
    with pytest.raises(Breach, match="runs in"):
        start(world, batch=True)
