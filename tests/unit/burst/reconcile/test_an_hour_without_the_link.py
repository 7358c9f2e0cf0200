"""An hour without the link, in the time of the simulated world: no job is lost, and no instance is paid for afterwards.

Instances run and slurmctld does not hear them, so that it sets their nodes down and puts their jobs back into the queue. EC2
answers (its API is on the internet) or does not (the site has one line for both).
"""

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.burst.daemon.passes import one_pass
from tests.unit.burst.world.policies import policy
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.slurmctld import LOCAL, SLURMD_TIMEOUT
from tests.unit.burst.world.watch import PASS
from tests.unit.burst.world.world import World

HOUR = 3600.0


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    worlds: list[World] = []
    a_pass = functools.partial(one_pass, workers=1, clock=lambda: worlds[0].clock.now)
    worlds.append(World(policy(), a_pass, tmp_path))
    yield worlds[0]
    worlds[0].journal.close()


def submit(world: World, pool: str, nodes: int, runs: float) -> SimJob:
    job = SimJob(world.job_id(), pool, nodes, "lab", None, runs)
    world.slurm.submit(job)
    return job


def outage(world: World, seconds: float) -> None:
    """Run without the link: also instances that are launched meanwhile do not reach slurmctld."""
    end = world.clock.true + seconds
    while world.clock.true < end:
        for machine in world.ec2.alive():
            machine.is_cut = True
        world.run(PASS)
    for machine in world.ec2.machines.values():
        machine.is_cut = False


@pytest.mark.parametrize("has_api", [True, False], ids=["EC2 answers", "EC2 does not answer"])
def test_no_job_is_lost_in_an_hour_without_the_link(world: World, has_api: bool) -> None:
    running = [submit(world, "gpu", 2, 1200.0), submit(world, "big", 1, 1200.0)]
    world.run(600.0)
    assert [job.state for job in running] == ["RUNNING", "RUNNING"]
    local = submit(world, LOCAL, 1, 240.0)
    waiting = submit(world, "gpu", 3, 90.0)
    world.ec2.reachable = has_api
    outage(world, HOUR)
    # The site's own job ended without AWS; those in AWS were put back or still wait.
    assert local.state == "COMPLETED"
    assert {job.state for job in (*running, waiting)} <= {"PENDING", "CONFIGURING"}
    world.ec2.reachable = True
    world.calm()
    world.settle()
    assert [job.state for job in (*running, waiting, local)] == ["COMPLETED"] * 4
    assert world.ec2.alive() == []


def test_a_short_outage_interrupts_no_job(world: World) -> None:
    job = submit(world, "gpu", 2, 1200.0)
    world.run(600.0)
    started = job.running
    outage(world, SLURMD_TIMEOUT - 2 * PASS)
    world.settle()
    assert job.state == "COMPLETED" and job.running == started
