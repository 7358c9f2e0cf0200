"""Test fixtures of a controller in service: the real programs and daemon, the emulated AWS, a simulated Slurm."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.journal.store import Store
from landbridge.burst.model import DecisionRecord
from landbridge.hostlist import expand
from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.embedded.slurm import EmbeddedJob, EmbeddedNode, SimulatedSlurm, socket_path

#: An offering without capacity is tried again after one second, so that the tests are short.
SHORT = {"insufficient_capacity_seconds": [1, 2], "settle_seconds": 5, "orphan_seconds": 5}


@pytest.fixture(scope="module")
def slurm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slurm")


@pytest.fixture(scope="module")
def emulator(slurm_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    """Start an emulator whose instances are processes that register with the simulated Slurm in `slurm_folder`."""
    node = f"{sys.executable} -m sandbox.embedded.node {socket_path(slurm_folder)}"
    options = ["--imds", "127.0.0.1:0", "--require-credentials", "--boot-delay", "0", "--launcher", "process"]
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", *options, "--process-command", node) as cloud:
        yield cloud


@pytest.fixture
def start(slurm_folder: Path, burst: dict[str, Any]) -> Iterator[Callable[..., SimulatedSlurm]]:
    """Return a function that starts the simulated Slurm and the daemon, with a changed burst.json or other times."""
    shutil.rmtree(slurm_folder)
    opened: list[SimulatedSlurm] = []

    def begin(change: dict[str, Any] | None = None, **times: float) -> SimulatedSlurm:
        nodes = [
            *EmbeddedNode.many("dgx[01-02]", gpus=8),
            *EmbeddedNode.many("p5-[1-4]", gpus=8, cloud=True, weight=1000),
        ]
        slurm = SimulatedSlurm(slurm_folder, nodes, burst_config={**burst, **SHORT, **(change or {})}, **times)
        opened.append(slurm.__enter__())
        return slurm

    yield begin
    for slurm in opened:
        slurm.__exit__()
        print(log(slurm))
        for job in slurm.jobs.values():
            print(job.id, [f"{when % 1000:.1f} {state} {reason}" for when, state, reason in job.history])
        if (decisions := slurm.directory / "decisions.jsonl").exists():
            print(decisions.read_text())


def submit(slurm: SimulatedSlurm, nodes: int = 1, script: str = "true", **options: Any) -> EmbeddedJob:
    return slurm.submit(nodes=nodes, script=script, **{"partition": "p5", "account": "vision", **options})


def instances(cloud: EmulatorProcess) -> dict[str, list[dict[str, Any]]]:
    """Return the pending and running instances by the name of their node."""
    by_node: dict[str, list[dict[str, Any]]] = {}
    for instance in cloud.control()["instances"]:
        if instance["state"] in ("pending", "running"):
            by_node.setdefault(expand(instance["tags"]["landbridge:nodes"])[instance["launch_index"]], []).append(
                instance
            )
    return by_node


def records(slurm: SimulatedSlurm, event: str, job: EmbeddedJob | None = None) -> list[DecisionRecord]:
    recorded = Store(slurm.directory / "burst.db").records(job.id if job else None, 10_000)
    return [record for record in recorded if record.event == event]


def wait_for_no_instances(slurm: SimulatedSlurm, cloud: EmulatorProcess) -> None:
    slurm.wait_for(lambda: not instances(cloud), f"instances are left: {instances(cloud)}")


def log(slurm: SimulatedSlurm) -> str:
    return (slurm.directory / "programs.log").read_text()
