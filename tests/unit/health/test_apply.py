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
    """Apply a result; return whether the node is drained afterwards, and the reason."""
    program.apply("node", Result(time.time(), problems), machine.root / "state", machine.root / "mark.json")
    record = machine.slurm()
    drained = "DRAIN" in record["state"]
    return drained, record["reason"] if drained else ""


def test_a_problem_drains_once_and_its_end_resumes(machine: Standins) -> None:
    assert apply(machine, GPU) == (True, WORDS)
    assert apply(machine, GPU) == (True, WORDS)
    assert machine.slurm()["updates"] == 1
    assert apply(machine) == (False, "")
    apply(machine)
    assert machine.slurm()["updates"] == 2


def test_another_problem_changes_the_reason_of_the_programs_drain(machine: Standins) -> None:
    apply(machine, Problem("mount", "/home is not mounted", "inspect"))
    assert apply(machine, Problem("mount", "/home is not mounted", "inspect"), GPU) == (True, f"{WORDS} (and 1 more)")


@pytest.mark.parametrize("reason", ["new fans, ask Kim", "Kill task failed", "landbridge: InsufficientCapacity", ""])
def test_a_drain_by_an_operator_or_slurm_is_unchanged(machine: Standins, reason: str) -> None:
    machine.slurm(state=["IDLE", "DRAIN"], reason=reason)
    assert apply(machine, GPU) == (True, reason)
    assert apply(machine) == (True, reason)
    assert "updates" not in machine.slurm()


def test_a_drain_whose_reason_an_operator_changed_is_kept(machine: Standins) -> None:
    apply(machine, GPU)
    machine.slurm(reason="in repair")
    assert apply(machine) == (True, "in repair")


def test_a_drain_by_slurm_with_an_old_reason_of_the_program_is_kept(machine: Standins) -> None:
    apply(machine, GPU)
    apply(machine)
    machine.slurm(state=["IDLE", "DRAIN"])
    assert machine.slurm()["reason"] == WORDS
    assert apply(machine) == (True, WORDS)


def test_a_node_drained_before_a_restart_is_resumed_after_it(machine: Standins) -> None:
    apply(machine, XID)
    for file in (machine.root / "state").glob("*"):
        file.unlink()
    assert apply(machine) == (False, "")


def test_a_manual_resume_acknowledges_events_and_not_persistent_problems(machine: Standins) -> None:
    state = machine.root / "state"
    machine.log.write_text("4,5,1,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1\n")
    kernel.check({"79": "reboot"}, state / "events.json", machine.log)
    apply(machine, XID)
    machine.slurm(state=["IDLE"])
    assert apply(machine, XID) == (False, ""), (
        "an old reason would make the next drain by Slurm look like one of the program"
    )
    assert kernel.check({"79": "reboot"}, state / "events.json", machine.log) == []
    assert apply(machine, XID)[0], "the next event counts again"
    machine.slurm(state=["IDLE"], reason="")
    assert apply(machine, XID, GPU) == (True, WORDS)


def test_an_unreachable_controller_is_an_error(machine: Standins, capsys: pytest.CaptureFixture[str]) -> None:
    machine.slurm(busy=True)
    with pytest.raises(slurm.SlurmError, match="Unable to contact"):
        apply(machine, GPU)


def test_a_refused_drain_is_not_taken_for_a_resumed_one(machine: Standins) -> None:
    machine.slurm(refuses=True)
    with pytest.raises(slurm.SlurmError, match="Invalid user id"):
        apply(machine, XID)
    machine.slurm(refuses=False)
    assert apply(machine, XID)[0]


def test_the_program_drains_and_resumes_a_node(machine: Standins, monkeypatch: pytest.MonkeyPatch) -> None:
    config = machine.root / "config.json"
    gpus = {"count": 8, "type": "h100", "name": "NVIDIA H100 80GB HBM3", "memory_mib": 81559, "errors": "row_remapping", "links": 18}  # fmt: skip
    config.write_text(json.dumps({"expected": {"gpus": gpus}, "xids": {"79": "reboot"}, "skip": ["thermal"]}))
    monkeypatch.setattr(program, "CONFIG", config)
    monkeypatch.setattr(program, "STATE", machine.root / "state")
    monkeypatch.setattr(program, "MARK", machine.root / "mark.json")
    monkeypatch.setattr(kernel.check, "__defaults__", (machine.log,))
    machine.inject(absent=[7], thermal=[0])
    # Without a result the first call runs the checks: a node that starts unhealthy gets no job.
    assert program.main(["apply"]) == 0
    assert machine.slurm()["reason"] == WORDS
    machine.inject()
    assert program.main(["apply"]) == 0, "the call by Slurm only reads the last result"
    assert machine.slurm()["reason"] == WORDS
    assert program.main(["check"]) == 0
    assert machine.slurm()["state"] == ["IDLE"]
    machine.slurm(busy=True)
    machine.inject(absent=[7])
    assert program.main(["check"]) == 0
    assert program.main(["apply"]) == 1
    assert Path(machine.root / "state/result.json").exists()
