"""Jobs whose data may not be in AWS, on nodes that were launched for another account, in the simulated world."""

import functools
from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.burst.daemon.passes import one_pass
from tests.unit.burst.world.policies import policy
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.world import World


@pytest.mark.parametrize(
    ("account", "code"),
    [("secret", "RESIDENCY"), ("poor", "REGION")],
)
def test_the_warm_node_of_another_account_outlives_them(account: str, code: str, tmp_path: Path):
    """Lab's node is idle; a job that may not be in AWS, or in the node's region, gets it, and lab's next job runs there."""
    rules = policy(poor_usd=100.0, far=True)
    if code == "REGION":
        gpu = rules.pools["gpu"]
        rules = replace(
            rules, pools={**rules.pools, "gpu": replace(gpu, offerings=gpu.offerings[-1:])}
        )  # only the other region
    world = World(rules, functools.partial(one_pass, workers=1, clock=lambda: world.clock.now), tmp_path)
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", 10, 30.0))
    while world.slurm.jobs[101].state != "COMPLETED":
        world.run(5.0)
    (machine,) = world.ec2.alive()
    world.slurm.submit(SimJob(102, "gpu", 1, account, 10, 60.0))
    world.run(40.0)
    restricted = world.slurm.jobs[102]
    assert restricted.restarts == 1 and code in restricted.admin_comment and restricted.state == "PENDING"
    world.slurm.cancel(102)
    world.slurm.submit(SimJob(103, "gpu", 1, "lab", 10, 30.0))
    world.run(10.0)
    assert [m.id for m in world.ec2.alive()] == [machine.id] and world.slurm.jobs[103].nodes == (machine.node,)
    world.calm()
    world.settle()
    world.journal.close()
