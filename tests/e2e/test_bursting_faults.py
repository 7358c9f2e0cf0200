"""Bursting in the sandbox's cluster with faults: controller killed, Slurm restarted, spot interruption, job cancelled."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.demo.bring_up import BringUp
from tests.e2e.support.burst_conditions import has
from tests.e2e.support.bursting import OBSERVATION_SECONDS, POOL, SERVICE, Bursting, fresh, scaled

pytestmark = [pytest.mark.lab, pytest.mark.engine]
#: Seconds by which EC2 delays an answer, so that a test can act meanwhile.
DELAY_SECONDS = 4.0


@pytest.fixture(scope="module")
def bursting(deployment: BringUp) -> Iterator[Bursting]:
    with scaled(deployment) as ready:
        yield ready


@pytest.fixture(autouse=True)
def _fresh(bursting: Bursting) -> Iterator[None]:
    yield from fresh(bursting)


def test_a_controller_killed_during_a_launch_launches_nothing_twice(bursting: Bursting) -> None:
    bursting.cloud.control(faults={"RunInstances": {"hold": DELAY_SECONDS}})
    number = bursting.submit("--nodes=2", script="sleep 1")
    bursting.wait_for("two launches", lambda: bursting.launched(number), has(2), every=0.02)
    first = bursting.pid()
    bursting.kill()
    bursting.wait_for("systemd to start the controller again", bursting.pid, lambda pid: pid not in (0, first))
    ended = bursting.ended(number)
    assert ended.restarts == 0, "the job was not restarted"
    assert len(bursting.launched(number)) == len(ended.nodes) == 2
    assert len({instance["tags"]["landbridge:launch"] for instance in bursting.launched(number)}) == 1


@pytest.mark.long
def test_a_controller_that_was_down_when_slurm_called_serves_the_job_later(bursting: Bursting) -> None:
    bursting.on_controller("systemctl", "stop", SERVICE)
    try:
        number = bursting.submit("--nodes=1", script="sleep 1")
        bursting.wait_for(
            "Slurm to start a node",
            bursting.states,
            lambda states: any("POWERING_UP" in state for state in states.values()),
        )
        assert bursting.launched(number) == []
    finally:
        bursting.on_controller("systemctl", "start", SERVICE)
    assert bursting.ended(number).restarts == 0
    assert len(bursting.launched(number)) == 1


@pytest.mark.long
def test_a_job_cancelled_while_its_nodes_boot_leaves_no_instance(bursting: Bursting) -> None:
    bursting.cloud.control(boot=5)
    number = bursting.submit("--nodes=3")
    bursting.wait_for("three instances", lambda: bursting.alive(number), has(3), every=0.02)
    bursting.on_controller("scancel", str(number))
    bursting.wait_until_off()
    assert len(bursting.launched(number)) == 3


def test_a_gang_stops_together_when_spot_takes_one_of_its_nodes(bursting: Bursting) -> None:
    def spot(content: dict[str, Any]) -> None:
        for offering in content["pools"][POOL]["offerings"]:
            offering.update(kind="spot", market="spot")

    bursting.create_spot_role()
    bursting.configure(spot)
    # The agent asks for a checkpoint with a signal that ends a program which does not handle it.
    patient = "trap : USR1; while :; do sleep 1; done"
    number = bursting.submit("--nodes=3", "--requeue", script=f"srun bash -c '{patient}'")
    gang = bursting.running(number)
    victim = bursting.launched(number)[0]["id"]
    # The agent gives a job until 30 s before the end to write its checkpoint.
    bursting.cloud.control(interrupt={victim: 38})
    bursting.wait_for(
        "the job to leave its nodes", lambda: bursting.job(number), lambda job: job.restarts == 1, every=0.3
    )
    ended = [instance["reason"] for instance in bursting.launched(number) if instance["id"] == victim]
    assert not any("SpotInstanceTermination" in reason for reason in ended), (
        "the gang left its nodes before EC2 terminated one"
    )
    restarted = bursting.running(number)
    assert len(restarted.nodes) == len(gang.nodes) == 3
    bursting.wait_for("the instance to end", bursting.alive, lambda instances: victim not in instances)
    # The node name may be used again, the instance may not.
    assert len(bursting.alive(number)) >= 1 and bursting.job(number).restarts == 1


@pytest.mark.long
def test_slurmctld_restarts_while_nodes_boot(bursting: Bursting) -> None:
    bursting.cloud.control(boot=5)
    number = bursting.submit("--nodes=2", script="sleep 1")
    bursting.wait_for("two instances", lambda: bursting.alive(number), has(2), every=0.02)
    bursting.on_controller("systemctl", "restart", "slurmctld")
    ended = bursting.ended(number)
    assert ended.restarts == 0
    assert len(bursting.launched(number)) == 2


@pytest.mark.long
def test_nodes_started_and_stopped_by_an_operator_are_launched_and_terminated(bursting: Bursting) -> None:
    bursting.on_controller("scontrol", "power", "up", "p5-[1-2]")
    bursting.wait_for("both nodes to be up", lambda: _up(bursting), lambda nodes: nodes == {"p5-1", "p5-2"})
    running = [instance for instance in bursting.launched() if instance["state"] == "running"]
    assert sorted(node for instance in running for node in instance["tags"]["landbridge:nodes"].split(","))
    bursting.on_controller("scontrol", "power", "down", "p5-1")
    bursting.wait_for("one instance to end", bursting.alive, has(1))
    bursting.on_controller("scontrol", "power", "down", "force", "p5-2")
    bursting.wait_until_off()


@pytest.mark.long
def test_with_a_lost_journal_running_jobs_keep_their_nodes(bursting: Bursting) -> None:
    number = bursting.submit("--nodes=2", script="sleep 45")
    bursting.running(number)
    bursting.reset_journal()
    time.sleep(OBSERVATION_SECONDS)
    assert len(bursting.alive(number)) == 2
    assert bursting.ended(number).restarts == 0
    bursting.wait_for("the idle nodes to go", bursting.alive, has(0))


def _up(bursting: Bursting) -> set[str]:
    off = {"POWERED_DOWN", "POWERING_UP", "POWERING_DOWN", "POWER_UP", "NOT_RESPONDING"}
    return {name for name, state in bursting.states().items() if not state & off}
