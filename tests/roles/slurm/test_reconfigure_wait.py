"""Handler of the role slurm_controller that waits for launches before a reconfiguration, with stand-ins of squeue and sleep."""

import subprocess
from pathlib import Path

import pytest

from landbridge import yaml_text

HANDLERS = Path(__file__).parents[3] / "ansible/roles/slurm_controller/handlers/main.yml"


def waited(folder: Path, *answers: str) -> int:
    """Run the handler's command while squeue gives these answers, the last one for ever; return the number of its calls."""
    (task,) = [
        task
        for task in yaml_text.load(HANDLERS.read_text())
        if task["name"].startswith("Wait until no job has started")
    ]
    for number, answer in enumerate(answers):
        (folder / f"answer-{number}").write_text(answer)
    programs = {
        "squeue": f"n=$(cat {folder}/calls); [ -e {folder}/answer-$n ] || n={len(answers) - 1}\n"
        f"cat {folder}/answer-$n; echo $(($(cat {folder}/calls) + 1)) > {folder}/calls\n",
        "sleep": "exit 0\n",
    }
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}")
        (folder / name).chmod(0o755)
    (folder / "calls").write_text("0")
    words = task["ansible.builtin.command"]["argv"]
    done = subprocess.run(words, env={"PATH": f"{folder}:/usr/bin:/bin"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int((folder / "calls").read_text())


@pytest.mark.parametrize("time", ["0:00", "0:09", "0:14", "      0:03"])
def test_a_job_that_has_just_started_is_waited_for(tmp_path: Path, time: str) -> None:
    assert waited(tmp_path, f"1-02:03:04\n{time}\n", f"{time}\n", "0:15\n") == 3


@pytest.mark.parametrize("time", ["", "0:15", "0:59", "10:05", "1:00:03", "2-00:00:01"])
def test_older_jobs_are_not_waited_for(tmp_path: Path, time: str) -> None:
    assert waited(tmp_path, f"{time}\n") == 1
