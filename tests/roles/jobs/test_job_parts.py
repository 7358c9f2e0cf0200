"""The program around a job where GPUs are in parts, and what it tells of jobs to a program for statistics."""

import json
from pathlib import Path

import pytest

from tests.roles.jobs.test_job_program import Node, module, node

__all__ = ["module", "node"]


@pytest.fixture
def cut(node: Node) -> Node:
    """GPUs 2 and 3 in two parts each; this process may open those of GPU 3 alone, as far as files can say so."""
    parts = [{"gpu": gpu, "number": number, "uuid": f"MIG-{gpu}{number}"} for gpu in (2, 3) for number in (0, 1)]
    (node.folder / "mig.json").write_text(json.dumps({"parts": parts}))
    for part in parts:
        folder = node.folder / "mig" / str(part["gpu"]) / str(part["number"])
        folder.mkdir(parents=True)
        if part["gpu"] == 3:
            (folder / "ci").touch()
    node.settings["mig"] = str(node.folder / "mig.json")
    return node


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if "CUDA" in line]


def test_cuda_is_told_which_parts_are_the_tasks(cut: Node, capsys: pytest.CaptureFixture[str]) -> None:
    cut.run("prolog_task", SLURM_STEP_GPUS="4,5")
    assert said(capsys) == ["export CUDA_VISIBLE_DEVICES=MIG-30,MIG-31"]


@pytest.mark.parametrize("gpus", ["0,4,5", "", None], ids=["with a whole one", "none", "nothing said"])
def test_what_slurm_says_stays_where_it_is_not_all_parts(
    cut: Node, capsys: pytest.CaptureFixture[str], gpus: str | None
) -> None:
    cut.run("prolog_task", SLURM_STEP_GPUS=gpus)
    assert said(capsys) == []


def test_nothing_is_restored_on_gpus_in_parts_and_whole_ones_get_their_clocks_back(cut: Node) -> None:
    cut.smi()
    # Slurm numbers parts after the whole GPUs: 2 is a part here, although there is a GPU 2.
    assert cut.run("epilog_slurmd", SLURM_JOB_GPUS="2") == 0 and cut.asked == []
    assert cut.run("epilog_slurmd", SLURM_JOB_GPUS="5") == 0 and cut.asked == []
    assert cut.run("epilog_slurmd", SLURM_JOB_GPUS="0,1") == 0 and len(cut.asked) == 2
    assert all("5D:00.0" in line and "1B:00.0" in line for line in cut.asked)


@pytest.fixture
def statistics(node: Node) -> Path:
    """A program that writes down what it is told, and ends as the file `code` says."""
    program, told = node.folder / "statistics", node.folder / "told"
    program.write_text(
        f'#!/bin/sh\necho "$*" >> {told}\necho no engine >&2\nexit $(cat {node.folder}/code 2>/dev/null || echo 0)\n'
    )
    program.chmod(0o755)
    node.settings["statistics"] = str(program)
    return told


def test_jobs_start_and_end_are_told_with_gpus_by_their_place_on_the_bus(node: Node, statistics: Path) -> None:
    node.smi()
    node.run("prolog_slurmd", SLURM_JOB_GID="0", SLURM_JOB_GPUS="0,1")
    node.run("epilog_slurmd", SLURM_JOB_GPUS="0,1")
    # Device files 0 and 1 are at 5D and 1B: the last and the first of 1B, 43, 52, 5D.
    assert statistics.read_text().splitlines() == ["start 7 3,0", "stop 7 3,0"]


def test_a_job_without_gpus_or_with_parts_is_not_told(cut: Node, statistics: Path) -> None:
    cut.smi()
    for gpus in ("", "2", "5"):
        cut.run("prolog_slurmd", SLURM_JOB_GID="0", SLURM_JOB_GPUS=gpus)
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
