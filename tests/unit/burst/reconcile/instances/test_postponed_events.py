"""An event of an instance that EC2 postpones, in the simulated world: the controller may act on the earlier time until it
has read the later one, or had to."""

import functools

import pytest

from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.reconcile.clock_skew import STATUS_INTERVAL_SECONDS
from tests.unit.burst.world.money import Breach
from tests.unit.burst.world.policies import policy
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.watch import PASS
from tests.unit.burst.world.world import World

EVENT = "landbridge: EVENT EC2 has scheduled instance-stop"


@pytest.fixture
def world(tmp_path):
    """Return a world in which a long job runs, and the controller has read an event that is due soon."""
    world = World(policy(), functools.partial(one_pass, workers=1, clock=lambda: world.clock.now), tmp_path)
    world.slurm.submit(SimJob(world.job_id(), "gpu", 1, "lab", None, 7200.0))
    world.run(6 * PASS)
    assert world.slurm.jobs[101].state == "RUNNING"
    world.ec2.schedule(world.ec2.alive()[0], "instance-stop", 210 + 2 * STATUS_INTERVAL_SECONDS)
    world.run(STATUS_INTERVAL_SECONDS + PASS)
    assert world.ec2.alive()[0].is_event_read and world.slurm.jobs[101].state == "RUNNING"
    yield world
    world.journal.close()


def down(world):
    """Set the job's node down, as the controller does for an event."""
    (node,) = world.slurm.jobs[101].nodes
    world.slurm.down([node], EVENT)


def postpone(world):
    """Postpone the event when the margin before it has begun."""
    (machine,) = world.ec2.alive()
    world.advance(machine.event_at - world.policy.event_margin_seconds - world.clock.true)
    world.ec2.schedule(machine, "instance-stop", 86_400.0)
    return machine


def test_a_job_may_leave_for_the_earlier_time_until_the_later_one_is_read(world):
    postpone(world)
    down(world)


def test_a_job_may_not_leave_after_the_later_time_is_read(world):
    machine = postpone(world)
    world.advance(5.0)
    machine.read = world.clock.true
    with pytest.raises(Breach, match="EVENT"):
        down(world)


def test_a_job_may_not_leave_when_the_next_read_is_overdue(world):
    postpone(world)
    world.advance(STATUS_INTERVAL_SECONDS + PASS + 5)
    with pytest.raises(Breach, match="EVENT"):
        down(world)


def test_a_job_may_not_leave_for_a_time_that_was_never_read(world):
    (machine,) = world.ec2.alive()
    world.ec2.schedule(machine, "instance-stop", 30.0)
    world.ec2.schedule(machine, "instance-stop", 86_400.0)
    with pytest.raises(Breach, match="EVENT"):
        down(world)


def test_the_job_runs_on_if_the_event_is_postponed_in_time(world):
    world.ec2.schedule(world.ec2.alive()[0], "instance-stop", 86_400.0)
    world.run(20 * PASS)
    job = world.slurm.jobs[101]
    assert (job.state, job.restarts) == ("RUNNING", 0)


def test_a_controller_that_was_off_reads_the_event_again_before_a_job_leaves(world):
    postpone(world)
    world.advance(STATUS_INTERVAL_SECONDS + PASS + 5)
    world.run(2 * PASS)
    job = world.slurm.jobs[101]
    assert (job.state, job.restarts) == ("RUNNING", 0)


def test_a_controller_that_was_off_acts_on_an_event_that_stays(world):
    (machine,) = world.ec2.alive()
    world.advance(machine.event_at - world.policy.event_margin_seconds + 5 - world.clock.true)
    world.run(PASS)
    assert world.slurm.jobs[101].restarts == 1
