"""Draining and resuming by the health program: it leaves drains of operators and of Slurm unchanged."""

import json
import time
from pathlib import Path

import pytest

from tests.unit.health.standins import Standins, machine

__all__ = ["machine"]

from node_health import __main__ as program
from node_health import kernel, slurm
from node_health.problem import Problem, Result

GPU = Problem("gpu", "7 of 8 are there", "reboot")
XID = Problem("xid", "79 at 0000:1b:00", "reboot", event=True)
WORDS = "landbridge:gpu:7 of 8 are there; do: reboot"


def apply(machine: Standins, *problems: Problem) -> tuple[bool, str]:
    """One round; whether the node is drained then, and why."""
    program.apply("node", Result(time.time(), problems), machine.root / "state", machine.root / "mark.json")
    found = machine.slurm()
    drained = "DRAIN" in found["state"]
    return drained, found["reason"] if drained else ""


def test_a_problem_drains_once_and_its_end_resumes(machine: Standins) -> None:
    assert apply(machine, GPU) == (True, WORDS)
    assert apply(machine, GPU) == (True, WORDS)
    assert machine.slurm()["updates"] == 1
    assert apply(machine) == (False, "")
    apply(machine)
    assert machine.slurm()["updates"] == 2


def test_another_problem_rewords_our_own_drain(machine: Standins) -> None:
    apply(machine, Problem("mount", "/home is not mounted", "inspect"))
    assert apply(machine, Problem("mount", "/home is not mounted", "inspect"), GPU) == (True, f"{WORDS} (and 1 more)")


@pytest.mark.parametrize("reason", ["new fans, ask Kim", "Kill task failed", "landbridge: InsufficientCapacity", ""])
def test_what_a_person_or_slurm_drained_is_theirs(machine: Standins, reason: str) -> None:
    machine.slurm(state=["IDLE", "DRAIN"], reason=reason)
    assert apply(machine, GPU) == (True, reason)
    assert apply(machine) == (True, reason)
    assert "updates" not in machine.slurm()


def test_a_person_who_takes_over_our_drain_keeps_it(machine: Standins) -> None:
    apply(machine, GPU)
    machine.slurm(reason="in repair")
    assert apply(machine) == (True, "in repair")


def test_what_slurm_drains_under_a_reason_of_ours_that_stayed_behind_is_slurms(machine: Standins) -> None:
    apply(machine, GPU)
    apply(machine)
    machine.slurm(state=["IDLE", "DRAIN"])
    assert machine.slurm()["reason"] == WORDS
    assert apply(machine) == (True, WORDS)


def test_a_restart_brings_back_what_was_drained_before_it(machine: Standins) -> None:
    apply(machine, XID)
    for file in (machine.root / "state").glob("*"):
        file.unlink()
    assert apply(machine) == (False, "")


def test_resuming_says_that_events_are_dealt_with_and_facts_are_not(machine: Standins) -> None:
    state = machine.root / "state"
    machine.log.write_text("4,5,1,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1\n")
    kernel.check({"79": "reboot"}, state / "events.json", machine.log)
    apply(machine, XID)
    machine.slurm(state=["IDLE"])
    assert apply(machine, XID) == (False, ""), (
        "a reason that stayed behind would make Slurm's next drain look like ours"
    )
    assert kernel.check({"79": "reboot"}, state / "events.json", machine.log) == []
    assert apply(machine, XID)[0], "the next one counts again"
    machine.slurm(state=["IDLE"], reason="")
    assert apply(machine, XID, GPU) == (True, WORDS)


def test_a_controller_that_is_away_changes_nothing_and_is_told(
    machine: Standins, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.slurm(busy=True)
    with pytest.raises(slurm.SlurmError, match="Unable to contact"):
        apply(machine, GPU)


def test_a_drain_that_was_refused_is_no_drain_that_somebody_ended(machine: Standins) -> None:
    machine.slurm(refuses=True)
    with pytest.raises(slurm.SlurmError, match="Invalid user id"):
        apply(machine, XID)
    machine.slurm(refuses=False)
    assert apply(machine, XID)[0]


def test_the_program_from_end_to_end(machine: Standins, monkeypatch: pytest.MonkeyPatch) -> None:
    config = machine.root / "config.json"
    gpus = {"count": 8, "type": "h100", "name": "NVIDIA H100 80GB HBM3", "memory_mib": 81559, "errors": "row_remapping", "links": 18}  # fmt: skip
    config.write_text(json.dumps({"expected": {"gpus": gpus}, "xids": {"79": "reboot"}, "skip": ["thermal"]}))
    monkeypatch.setattr(program, "CONFIG", config)
    monkeypatch.setattr(program, "STATE", machine.root / "state")
    monkeypatch.setattr(program, "MARK", machine.root / "mark.json")
    monkeypatch.setattr(kernel.check, "__defaults__", (machine.log,))
    machine.inject(absent=[7], thermal=[0])
    # The first call finds no result, and looks for itself: a node that starts ill never gets a job.
    assert program.main(["apply"]) == 0
    assert machine.slurm()["reason"] == WORDS
    machine.inject()
    assert program.main(["apply"]) == 0, "what Slurm runs only reads"
    assert machine.slurm()["reason"] == WORDS
    assert program.main(["check"]) == 0
    assert machine.slurm()["state"] == ["IDLE"]
    machine.slurm(busy=True)
    machine.inject(absent=[7])
    assert program.main(["check"]) == 0
    assert program.main(["apply"]) == 1
    assert Path(machine.root / "state/result.json").exists()
