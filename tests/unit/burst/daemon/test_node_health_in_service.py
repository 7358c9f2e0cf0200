"""Nodes with a scheduled event, and kept nodes: the real daemon and commands with the emulated AWS and a simulated Slurm."""
# ruff: noqa: F811 - fixtures are imported

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest

from landbridge.burst.journal.store import Store
from landbridge.burst.model import DecisionRecord
from landbridge.burst.operator.edits import edit
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.embedded.slurm import SimulatedSlurm, socket_path
from tests.unit.burst.operator.test_commands_in_service import Command, landbridge_of
from tests.unit.burst.service import emulator, instances, records, slurm_folder, start, submit  # noqa: F401


def read_statuses_at_once(slurm: SimulatedSlurm) -> None:
    """Make the next read of the statuses due, and wake the daemon."""
    with closing(Store(slurm.directory / "burst.db")) as store:
        record = DecisionRecord(time.time(), "test")
        edit(store, socket_path(slurm.directory, "burst"), lambda state: replace(state, status_reads={}), record)


@pytest.mark.slow
def test_a_node_with_a_scheduled_event_is_replaced_before_the_next_job(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start(suspend_time=600.0)
    first = slurm.wait(submit(slurm))
    ((node, (before,)),) = instances(cloud).items()
    cloud.control(statuses={before["id"]: {"events": [{"code": "instance-retirement", "seconds": 86_400}]}})
    read_statuses_at_once(slurm)
    slurm.wait_for(lambda: records(slurm, "power-down"), "the event was not seen")
    (record,) = records(slurm, "power-down")
    assert (record.code, record.nodes) == ("EVENT", (node,)) and "instance-retirement at " in record.text
    slurm.wait_for(lambda: not instances(cloud), "its instance is not terminated")
    slurm.wait_for(lambda: "POWERED_DOWN" in slurm.nodes[node].flags, "the node is not powered down")
    second = slurm.wait(submit(slurm))
    assert (first.state, second.state) == ("COMPLETED", "COMPLETED")
    (after,) = instances(cloud)[node]
    assert after["id"] != before["id"]


@pytest.mark.slow
def test_a_kept_node_outlives_its_suspend_time_and_a_restart_until_it_is_released(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start(suspend_time=3600.0)
    landbridge: Command = landbridge_of(slurm)
    slurm.wait(submit(slurm))
    (node,) = instances(cloud)
    code, output = landbridge("keep", node, "--for", "1h", "--reason", "debug")
    assert code == 0 and "not suspended before" in output
    slurm.wait_for(lambda: slurm.suspend_exc_nodes == f"{node}:1", "Slurm may suspend it")
    assert "debug" in landbridge("status")[1] and "debug" in landbridge("why", node)[1]
    slurm.nodes[node].idle_since -= 4000.0  # longer than the suspend time
    scans = slurm.idle_scans
    slurm.wait_for(lambda: slurm.idle_scans > scans + 1, "Slurm does not look for idle nodes")
    assert node in instances(cloud) and slurm.nodes[node].up
    slurm.daemon.kill()
    slurm.daemon.wait()
    slurm.nodes[node].idle_since += 4000.0
    slurm.suspend_exc_nodes = ""  # as after a restart of slurmctld
    slurm.daemon = slurm.programs.daemon()
    slurm.wait_for(lambda: slurm.suspend_exc_nodes == f"{node}:1", "the keep was forgotten")
    assert Store(slurm.directory / "burst.db").load().keeps.keys() == {node}
    slurm.nodes[node].idle_since -= 4000.0
    assert landbridge("keep", "--release", node)[0] == 0
    slurm.wait_for(lambda: not instances(cloud), "the released node is not suspended")
    assert slurm.suspend_exc_nodes == ""
