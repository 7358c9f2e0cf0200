"""Return of a node after a power loss: only from Slurm's own reason, only without problems, and once a day."""

import json
import os
from pathlib import Path
from types import ModuleType

import pytest

from tests.roles.jobs.program_module import ROLES, loaded

PROGRAM = ROLES / "slurm_node/files/landbridge-node-return"
DOWN = "NodeName=dgx01 State=DOWN ThreadsPerCore=2 Reason=Node unexpectedly rebooted [slurm@2026-11-25T10:00:00]"
# Answers one line of the file after the other, and then the last one; records updates.
SCONTROL = """#!/bin/sh
if [ "$1" = update ]; then echo "$*" >> "$LAB/updates"; exit; fi
head -1 "$LAB/answers"
[ "$(wc -l < "$LAB/answers")" = 1 ] || sed -i 1d "$LAB/answers"
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the program, with stand-ins of scontrol and of the health checks."""
    module = loaded(PROGRAM, "landbridge_node_return")
    monkeypatch.setenv("LAB", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name, text in {"scontrol": SCONTROL, "health": '#!/bin/sh\n[ "$1" = check ] || cat "$LAB/result"\n'}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "result").write_text(json.dumps({"problems": []}))
    monkeypatch.setattr(module, "HEALTH", tmp_path / "health")
    monkeypatch.setattr(module, "MARK", tmp_path / "state/resumed")
    monkeypatch.setattr(module, "PAUSE", 0)
    return module


def run(program: ModuleType, folder: Path, *answers: str) -> tuple[int, str]:
    """Run the program on these answers of scontrol; return its exit status, and the updates in Slurm."""
    (folder / "answers").write_text("".join(f"{answer}\n" for answer in answers))
    (folder / "updates").write_text("")
    return program.main("dgx01"), (folder / "updates").read_text()


def test_a_node_returns_by_itself_after_a_power_loss_once_a_day(
    program: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # It has not registered yet at first.
    unregistered = "NodeName=dgx01 State=IDLE* ThreadsPerCore=2"
    assert run(program, tmp_path, unregistered, DOWN) == (0, "update nodename=dgx01 state=resume\n")
    assert run(program, tmp_path, DOWN) == (1, "")
    assert "for the second time within a day" in capsys.readouterr().out
    os.utime(tmp_path / "state/resumed", (0, 0))
    assert run(program, tmp_path, DOWN) == (0, "update nodename=dgx01 state=resume\n")


@pytest.mark.parametrize(
    "answer",
    [
        "NodeName=dgx01 State=IDLE ThreadsPerCore=2",
        DOWN.replace("State=DOWN", "State=DOWN+DRAIN"),
        DOWN.replace("Node unexpectedly rebooted", "burns"),
        "NodeName=dgx01 State=IDLE+DRAIN ThreadsPerCore=2 Reason=landbridge: configure: driver 580 is installed [root@x]",
    ],
)
def test_every_other_state_is_left_alone(program: ModuleType, tmp_path: Path, answer: str) -> None:
    assert run(program, tmp_path, answer) == (0, "")


def test_a_node_with_a_problem_stays_down(
    program: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "result").write_text(json.dumps({"problems": [{"detail": "GPU 3 is off the bus"}]}))
    assert run(program, tmp_path, DOWN) == (1, "")
    assert "GPU 3 is off the bus" in capsys.readouterr().out
    (tmp_path / "result").write_text("null")
    assert run(program, tmp_path, DOWN) == (1, "")
