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


def test_a_gang_does_not_wait_for_a_sibling_whose_zone_nobody_knows(world: World):
    """The journal was lost, and does not know the instance of an idle node that slurmctld hears. A gang gets the node: it
    must not keep its others starting until ResumeTimeout."""
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", 10, 60.0))
    run_until(world, 101, "RUNNING")
    (machine,) = world.ec2.alive()
    machine.hidden = world.clock.true + 1200.0
    world.lose_journal()
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


def test_the_lease_of_an_instance_that_ec2_hides_is_renewed_while_its_job_runs(world: World):
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", None, 3000.0))
    run_until(world, 101, "RUNNING")
    (machine,) = world.ec2.alive()
    machine.hidden = world.clock.true + 3000.0
    run_until(world, 101, "COMPLETED")
    assert world.slurm.jobs[101].restarts == 0


def test_a_hidden_instance_is_charged_to_the_job_that_begins_on_it(world: World):
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", 10, 20.0))
    run_until(world, 101, "RUNNING")
    (machine,) = world.ec2.alive()
    machine.hidden = world.clock.true + 600.0
    run_until(world, 101, "COMPLETED")
    world.slurm.submit(SimJob(102, "gpu", 1, "poor", 4, 200.0))
    run_until(world, 102, "RUNNING")
    world.run(60.0)
    hold = world.journal.keeper.load().holds[machine.id]
    assert world.slurm.nodes[machine.node].machine == machine.id
    assert [(claim.job, claim.account) for claim in hold.claims] == [(102, "poor")]


def test_no_job_begins_on_a_hidden_instance_with_an_event_that_was_read_before(world: World):
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", 10, 300.0))
    run_until(world, 101, "RUNNING")
    (machine,) = world.ec2.alive()
    world.ec2.schedule(machine, "instance-stop", 900.0)
    while not world.journal.keeper.load().instance_statuses:
        world.run(5.0)
    machine.hidden = world.clock.true + 600.0
    world.run(30.0)
    assert world.slurm.nodes[machine.node].off and world.slurm.jobs[101].state == "RUNNING"


def test_a_hidden_instance_stays_held_until_slurm_gives_up_its_node(world: World):
    """Its node does not answer either, and EC2 does not show that it has ended: it may run and cost money."""
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", 4, 600.0))
    run_until(world, 101, "RUNNING")
    (machine,) = world.ec2.alive()
    world.run(90.0)
    machine.died, machine.hidden = True, world.clock.true + 200.0
    while world.slurm.nodes[machine.node].power == "UP":
        assert machine.id in world.journal.keeper.load().holds
        world.run(5.0)


@pytest.mark.parametrize("calls", range(8))
def test_an_instance_that_ec2_hides_is_terminated_by_its_id_when_slurm_powers_its_node_down(world: World, calls: int):
    """Whichever call of the pass EC2 refuses. Else its slurmd registers the powered-down node again, with an instance that
    the journal does not know any more."""
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", 10, 100.0))
    run_until(world, 101, "RUNNING")
    (machine,) = world.ec2.alive()
    machine.hidden = world.clock.true + 1200.0
    while world.slurm.nodes[machine.node].power == "UP":
        world.advance(5.0)
        world.a_pass() if world.slurm.nodes[machine.node].power == "UP" else None
    world.faults.script.extend([*["ok"] * calls, "throttle"])
    world.a_pass()
    world.faults.script.clear()
    world.run(30.0)
    assert not machine.alive and world.slurm.nodes[machine.node].power != "UP"


def test_an_instance_that_ended_while_the_controller_was_away_costs_nothing_more(world: World):
    """EC2 shows a terminated instance by its id alone."""
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", None, 600.0))
    run_until(world, 101, "RUNNING")
    (machine,) = world.ec2.alive()
    world.run(120.0)
    world.ec2.end(machine, "reclaimed")
    world.advance(65.0)
    world.a_pass()
    state = world.journal.keeper.load()
    assert world.slurm.nodes[machine.node].power == "UP" and not state.holds
    assert not state.insufficient_capacity and not state.registration_failures


@pytest.mark.parametrize("calls", range(9))
def test_a_renewal_without_an_answer_is_repeated_for_a_hidden_instance(world: World, calls: int):
    """Whichever call of the pass has no answer. EC2 does not show whether it has renewed the lease."""
    world.slurm.submit(SimJob(101, "gpu", 1, "lab", 4, 20.0))
    run_until(world, 101, "COMPLETED")
    (machine,) = world.ec2.alive()
    machine.hidden = world.clock.true + 3600.0
    world.slurm.submit(SimJob(102, "gpu", 1, "lab", 30, 1500.0))
    while world.slurm.jobs[102].state != "RUNNING":
        world.advance(5.0)
    assert world.slurm.nodes[machine.node].machine == machine.id
    world.faults.script.extend([*["ok"] * calls, "timeout-before"])
    world.a_pass()
    world.faults.script.clear()
    run_until(world, 102, "COMPLETED")
    assert world.slurm.jobs[102].restarts == 0
