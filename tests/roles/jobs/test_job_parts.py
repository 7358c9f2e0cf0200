"""The job program with MIG instances, and its calls of the statistics program."""

import json
from pathlib import Path

import pytest

from tests.roles.jobs.job_node import Node
from tests.roles.jobs.job_program import module, node

__all__ = ["module", "node"]


@pytest.fixture
def partitioned(node: Node) -> Node:
    """Return a node whose GPUs 2 and 3 have two MIG instances each; this process may open only those of GPU 3."""
    parts = [{"gpu": gpu, "number": number, "uuid": f"MIG-{gpu}{number}"} for gpu in (2, 3) for number in (0, 1)]
    (node.folder / "mig.json").write_text(json.dumps({"parts": parts}))
    for part in parts:
        folder = node.folder / "mig" / str(part["gpu"]) / str(part["number"])
        folder.mkdir(parents=True)
        if part["gpu"] == 3:
            (folder / "ci").touch()
    node.settings["mig"] = str(node.folder / "mig.json")
    return node


def exports(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if "CUDA" in line]


def test_cuda_gets_the_mig_instances_of_the_task(partitioned: Node, capsys: pytest.CaptureFixture[str]) -> None:
    partitioned.run("prolog_task", SLURM_STEP_GPUS="4,5")
    assert exports(capsys) == ["export CUDA_VISIBLE_DEVICES=MIG-30,MIG-31"]


@pytest.mark.parametrize("gpus", ["0,4,5", "", None], ids=["with a whole one", "none", "not set"])
def test_slurms_variable_stays_unless_all_devices_are_mig_instances(
    partitioned: Node, capsys: pytest.CaptureFixture[str], gpus: str | None
) -> None:
    partitioned.run("prolog_task", SLURM_STEP_GPUS=gpus)
    assert exports(capsys) == []


def test_clocks_are_restored_only_on_whole_gpus(partitioned: Node) -> None:
    partitioned.smi()
    # Slurm numbers MIG instances after the whole GPUs: 2 is a MIG instance here, although a GPU 2 exists.
    assert partitioned.run("epilog_slurmd", SLURM_JOB_GPUS="2") == 0 and partitioned.calls == []
    assert partitioned.run("epilog_slurmd", SLURM_JOB_GPUS="5") == 0 and partitioned.calls == []
    assert partitioned.run("epilog_slurmd", SLURM_JOB_GPUS="0,1") == 0 and len(partitioned.calls) == 2
    assert all("5D:00.0" in line and "1B:00.0" in line for line in partitioned.calls)


@pytest.fixture
def statistics(node: Node) -> Path:
    """Configure a program that records its arguments and exits with the status in `code`; return its record."""
    program, calls = node.folder / "statistics", node.folder / "statistics-calls"
    program.write_text(
        f'#!/bin/sh\necho "$*" >> {calls}\necho no engine >&2\nexit $(cat {node.folder}/code 2>/dev/null || echo 0)\n'
    )
    program.chmod(0o755)
    node.settings["statistics"] = str(program)
    return calls


def test_start_and_end_of_a_job_are_reported_with_gpus_in_bus_order(node: Node, statistics: Path) -> None:
    node.smi()
    node.run("prolog_slurmd", SLURM_JOB_GID="0", SLURM_JOB_GPUS="0,1")
    node.run("epilog_slurmd", SLURM_JOB_GPUS="0,1")
    # Device files 0 and 1 are at 5D and 1B: the last and the first of 1B, 43, 52, 5D.
    assert statistics.read_text().splitlines() == ["start 7 3,0", "stop 7 3,0"]


def test_a_job_without_whole_gpus_is_not_reported(partitioned: Node, statistics: Path) -> None:
    partitioned.smi()
    for gpus in ("", "2", "5"):
        partitioned.run("prolog_slurmd", SLURM_JOB_GID="0", SLURM_JOB_GPUS=gpus)
    assert not statistics.exists()


@pytest.mark.parametrize("broken", ["code", "program"])
def test_statistics_that_fail_drain_nothing(node: Node, statistics: Path, broken: str) -> None:
    node.smi()
    if broken == "code":
        (node.folder / "code").write_text("3")
    else:
        node.settings["statistics"] = "/nosuch/program"
    assert node.run("prolog_slurmd", SLURM_JOB_GID="0") == 0 == node.run("epilog_slurmd")
    assert node.failed == ""
