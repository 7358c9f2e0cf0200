"""Bursting in the sandbox's cluster with faults: controller killed, Slurm restarted, spot interruption, job cancelled."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import wait_for
from tests.e2e.bursting import LOOK, POOL, SERVICE, Bursting, fresh, scaled, watch

pytestmark = [pytest.mark.lab, pytest.mark.engine, pytest.mark.timeout(1500)]
#: Seconds for which EC2 keeps an answer to itself, so that something can happen meanwhile.
HELD = 4.0


@pytest.fixture(scope="module")
def bursting(going: BringUp) -> Iterator[Bursting]:
    with scaled(going) as ready:
        yield ready


@pytest.fixture(autouse=True)
def _fresh(bursting: Bursting) -> Iterator[None]:
    yield from fresh(bursting)


def test_a_controller_killed_while_it_launches_launches_nothing_twice(bursting: Bursting) -> None:
    bursting.cloud.control(faults={"RunInstances": {"hold": HELD}})
    number = bursting.submit("--nodes=2", script="sleep 1")
    watch(lambda: len(bursting.launched(number)) == 2, 30)
    first = bursting.pid()
    bursting.kill()
    wait_for("systemd to start it again", lambda: bursting.pid() not in (0, first), 20)
    ended = bursting.ended(number, 120)
    assert ended.restarts == 0, "the job never noticed"
    assert len(bursting.launched(number)) == len(ended.nodes) == 2
    assert len({one["tags"]["landbridge:launch"] for one in bursting.launched(number)}) == 1


@pytest.mark.long
def test_a_controller_that_was_down_when_slurm_called_serves_the_job_later(bursting: Bursting) -> None:
    bursting.on_controller("systemctl", "stop", SERVICE)
    try:
        number = bursting.submit("--nodes=1", script="sleep 1")
        wait_for("Slurm to start the node", lambda: any("POWERING_UP" in one for one in bursting.states().values()), 15)
        assert bursting.launched(number) == []
    finally:
        bursting.on_controller("systemctl", "start", SERVICE)
    assert bursting.ended(number, 90).restarts == 0
    assert len(bursting.launched(number)) == 1


@pytest.mark.long
def test_a_job_cancelled_while_its_nodes_boot_leaves_none(bursting: Bursting) -> None:
    bursting.cloud.control(boot=5)
    number = bursting.submit("--nodes=3")
    watch(lambda: len(bursting.alive(number)) == 3, 30)
    bursting.on_controller("scancel", str(number))
    # At the latest idle nodes go after Slurm's own SuspendTime.
    wait_for("its instances to end", lambda: not bursting.alive(), LOOK + 30, every=0.5)
    wait_for("its nodes to be off", lambda: all("POWERED_DOWN" in one for one in bursting.states().values()), 30)
    assert len(bursting.launched(number)) == 3


def test_a_gang_stops_together_when_spot_takes_one_of_its_nodes(bursting: Bursting) -> None:
    def spot(content: dict[str, Any]) -> None:
        for place in content["pools"][POOL]["offerings"]:
            place.update(kind="spot", market="spot")

    bursting.configure(spot)
    # The agent asks for a checkpoint with a signal that ends a program which does not handle it.
    patient = "trap : USR1; while :; do sleep 1; done"
    number = bursting.submit("--nodes=3", "--requeue", script=f"srun bash -c '{patient}'")
    gang = bursting.running(number, 90)
    victim = bursting.launched(number)[0]["id"]
    # The agent gives a job until 30 s before the end to write its checkpoint.
    bursting.cloud.control(interrupt={victim: 38})
    wait_for("the job to leave its nodes", lambda: bursting.job(number).restarts == 1, 30, every=0.3)
    ended = [one["reason"] for one in bursting.launched(number) if one["id"] == victim]
    assert not any("SpotInstanceTermination" in reason for reason in ended), "the gang went before EC2 took the node"
    again = bursting.running(number, 180)
    assert len(again.nodes) == len(gang.nodes) == 3
    wait_for("the instance to be gone", lambda: victim not in bursting.alive(), 40)
    # A name may be used again, the instance never.
    assert len(bursting.alive(number)) >= 1 and bursting.job(number).restarts == 1


@pytest.mark.long
def test_slurmctld_restarts_while_nodes_boot(bursting: Bursting) -> None:
    bursting.cloud.control(boot=5)
    number = bursting.submit("--nodes=2", script="sleep 1")
    watch(lambda: len(bursting.alive(number)) == 2, 30)
    bursting.on_controller("systemctl", "restart", "slurmctld")
    ended = bursting.ended(number, 120)
    assert ended.restarts == 0
    assert len(bursting.launched(number)) == 2


@pytest.mark.long
def test_nodes_started_and_stopped_by_hand_are_served_like_any(bursting: Bursting) -> None:
    bursting.on_controller("scontrol", "power", "up", "p5-[1-2]")
    wait_for("both to be up", lambda: _up(bursting) == {"p5-1", "p5-2"}, 60)
    assert sorted(one["tags"]["landbridge:nodes"] for one in bursting.launched() if one["state"] == "running")
    bursting.on_controller("scontrol", "power", "down", "p5-1")
    wait_for("one to go", lambda: len(bursting.alive()) == 1, 30)
    bursting.on_controller("scontrol", "power", "down", "force", "p5-2")
    wait_for("the other to go", lambda: not bursting.alive(), 30)
    wait_for("Slurm to know", lambda: all("POWERED_DOWN" in one for one in bursting.states().values()), 30)


@pytest.mark.long
def test_with_a_lost_journal_running_jobs_keep_their_nodes(bursting: Bursting) -> None:
    number = bursting.submit("--nodes=2", script="sleep 45")
    bursting.running(number, 90)
    bursting.forget()
    time.sleep(LOOK)
    assert len(bursting.alive(number)) == 2
    assert bursting.ended(number, 90).restarts == 0
    wait_for("the idle nodes to go", lambda: not bursting.alive(), 60)


def _up(bursting: Bursting) -> set[str]:
    off = {"POWERED_DOWN", "POWERING_UP", "POWERING_DOWN", "POWER_UP", "NOT_RESPONDING"}
    return {name for name, state in bursting.states().items() if not state & off}
