"""Draining and resuming by the health program: it leaves drains of operators and of Slurm unchanged."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from landbridge.ops.nodes import node_rows, why
from landbridge.plan.site.health import TIMEOUT_SECONDS
from tests.unit.health.standins import ROOT, Standins, machine

__all__ = ["machine"]

from node_health import __main__ as program
from node_health import kernel, slurm
from node_health.problem import Problem, Result, save

GPU = Problem("gpu", "7 of 8 are there", "reboot")
XID = Problem("xid", "79 at 0000:1b:00", "reboot", event=True)
WORDS = "landbridge:gpu:7 of 8 are there; do: reboot"


def apply(machine: Standins, *problems: Problem, budget: int = 0) -> tuple[bool, str]:
    """Apply a result; return whether the node is drained afterwards, and the reason."""
    program.apply("node", Result(time.time(), problems), machine.root / "state", machine.root / "mark.json", budget)
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


MOUNT = Problem("mount", "/home is not mounted", "inspect")


@pytest.fixture
def job_failed(machine: Standins, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file in which a job's Prolog or Epilog leaves its error."""
    path = machine.root / "job.failed"
    monkeypatch.setattr(program, "JOB_FAILED", path)
    return path


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("landbridge:epilog:process: 4711 'python' cannot be killed\n", "Epilog error: process: 4711  python  cannot be killed"),
        ("landbridge:prolog:scratch: nothing is mounted on /scratch\n", "Prolog error: scratch: nothing is mounted on /scratch"),
        ("", "Epilog error"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("budget", [0, 1])
def test_soperator_398_slurms_drain_during_that_of_a_check_is_kept(
    machine: Standins, job_failed: Path, error: str, reason: str, budget: int
) -> None:
    assert apply(machine, MOUNT, budget=budget)[0]
    assert apply(machine, MOUNT, GPU, budget=budget)[0]
    # Slurm drains no node that is drained, and writes no reason.
    job_failed.write_text(error)
    # The problem ends, or another node's drain needs the budget.
    machine.slurm(others=[drained("dgx01", 5)] if budget else [])
    assert apply(machine, *([GPU] if budget else []), budget=budget) == (True, reason)
    assert not machine.slurm().get("comment")
    assert apply(machine) == (True, reason), "it is Slurm's drain now"
    machine.slurm(state=["IDLE"], others=[])
    os.utime(job_failed, (time.time() - 60, time.time() - 60))
    assert apply(machine, GPU)[0] and apply(machine) == (False, ""), "the error is older than this drain"


def test_an_error_of_a_job_before_the_drain_does_not_keep_the_node(machine: Standins, job_failed: Path) -> None:
    job_failed.write_text("landbridge:epilog:gpu: nvidia-smi ended with 15\n")
    an_hour_ago = time.time() - 3600
    os.utime(job_failed, (an_hour_ago, an_hour_ago))
    assert apply(machine, MOUNT)[0] and apply(machine) == (False, "")


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


def test_soperator_1316_a_drain_without_a_record_is_named_as_such_once(machine: Standins) -> None:
    apply(machine, GPU)
    # The mark was on the system disk.
    (machine.root / "mark.json").unlink()
    assert apply(machine) == apply(machine, GPU) == (True, WORDS)
    (node,) = node_rows({"nodes": [{"name": "node", **machine.slurm()}]})
    assert "no record of this drain" in why(node).meaning and "landbridge node resume node" in why(node).step
    assert machine.slurm()["updates"] == 2
    machine.slurm(state=["IDLE"])
    assert apply(machine) == (False, "") and machine.slurm()["comment"] == ""


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


def drained(name: str, at: int, reason: str = WORDS) -> dict[str, Any]:
    """Return Slurm's record of another node that is drained since `at`."""
    return {"name": name, "state": ["IDLE", "DRAIN"], "reason": reason, "reason_changed_at": {"number": at}}


def test_a_node_beyond_the_failure_budget_stays_in_service_with_the_problem_as_comment(machine: Standins) -> None:
    machine.slurm(others=[drained("dgx01", 5), drained("dgx02", 6)])
    assert apply(machine, GPU, budget=2) == (False, "")
    text = f"{WORDS} (not drained: health checks have drained 2 nodes, the failure budget)"
    assert machine.slurm()["comment"] == text
    updates = machine.slurm()["updates"]
    assert apply(machine, GPU, budget=2) == (False, "")
    assert machine.slurm()["updates"] == updates, "the comment is written once"
    machine.slurm(others=[drained("dgx01", 5)])
    assert apply(machine, GPU, budget=2) == (True, WORDS)
    assert machine.slurm()["comment"] == ""


def test_a_repaired_node_loses_its_comment_and_an_operators_comment_is_kept(machine: Standins) -> None:
    machine.slurm(others=[drained("dgx01", 5)])
    apply(machine, GPU, budget=1)
    assert machine.slurm()["comment"]
    apply(machine, budget=1)
    assert machine.slurm()["comment"] == ""
    machine.slurm(comment="on loan")
    apply(machine, GPU, budget=1)
    apply(machine, budget=1)
    assert machine.slurm()["comment"] == "on loan"


def test_drained_cloud_nodes_do_not_use_the_failure_budget(machine: Standins) -> None:
    cloud = {**drained("p5-1", 5), "state": ["IDLE", "CLOUD", "DRAIN"]}
    machine.slurm(others=[cloud])
    assert apply(machine, GPU, budget=1) == (True, WORDS)


def test_repairs_use_the_failure_budget_and_no_check_ends_their_drain(machine: Standins) -> None:
    repair = "landbridge: health: resetting; xid 48 at 0000:1b:00; do: reset"
    machine.slurm(others=[drained("dgx01", 5, repair)])
    assert apply(machine, GPU, budget=1) == (False, "")
    machine.slurm(others=[])
    assert apply(machine, GPU, budget=1) == (True, WORDS)
    machine.slurm(state=["IDLE", "DRAIN"], reason=repair)
    assert apply(machine, budget=1) == (True, repair)


def test_drains_by_operators_and_by_slurm_do_not_use_the_failure_budget(machine: Standins) -> None:
    machine.slurm(
        others=[drained("dgx01", 5, "new fans"), drained("dgx02", 6, "Kill task failed"), drained("dgx03", 7, "")]
    )
    assert apply(machine, GPU, budget=1) == (True, WORDS)


@pytest.mark.parametrize(
    ("name", "at", "is_drained"),
    [("dgx01", 99, False), ("dgx01", 100, False), ("zeta", 100, True), ("dgx01", 101, True)],
)
def test_of_two_nodes_that_drain_at_the_same_time_the_earlier_one_remains(
    machine: Standins, name: str, at: int, is_drained: bool
) -> None:
    machine.slurm(clock=100, meanwhile=[drained(name, at)])
    assert apply(machine, GPU, budget=1)[0] is is_drained
    assert bool(machine.slurm()["comment"]) is not is_drained
    # The next round finds the same.
    assert apply(machine, GPU, budget=1)[0] is is_drained


def test_an_interruption_between_the_drain_and_its_record_loses_nothing(machine: Standins) -> None:
    state = machine.root / "state"
    machine.log.write_text("4,5,1,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1\n")
    kernel.check({"79": "reboot"}, state / "events.json", machine.log)
    reason = "landbridge:xid:79 at 0000:1b:00; do: reboot"
    (machine.root / "mark.json").write_text(json.dumps({"reason": reason, "done": False}))
    machine.slurm(state=["IDLE", "DRAIN"], reason=reason)
    assert apply(machine, XID) == (True, reason)
    machine.slurm(state=["IDLE"])
    assert apply(machine, XID) == (False, ""), "the operator's resume acknowledges the event"
    # Interrupted before the drain: it is made up for.
    (machine.root / "mark.json").write_text(json.dumps({"reason": reason, "done": False}))
    assert apply(machine, XID)[0]
    # Interrupted before the drain, and an operator drains the node: it stays theirs.
    (machine.root / "mark.json").write_text(json.dumps({"reason": reason, "done": False}))
    machine.slurm(state=["IDLE", "DRAIN"], reason="new fans")
    assert apply(machine) == (True, "new fans")


@pytest.fixture
def installed(machine: Standins, monkeypatch: pytest.MonkeyPatch) -> Standins:
    """Return the node with the program's files in its folder, and the expectation of eight GPUs."""
    expected = {"gpus": {"count": 8, "type": "h100", "errors": "row_remapping"}}
    config = {"expected": expected, "xids": {}, "changes": ["thermal is not checked: ticket 42"]}
    (machine.root / "config.json").write_text(json.dumps(config))
    for name, file in (("CONFIG", "config.json"), ("STATE", "state"), ("MARK", "mark.json")):
        monkeypatch.setattr(program, name, machine.root / file)
    monkeypatch.setattr(kernel.check, "__defaults__", (machine.log,))
    machine.inject()
    return machine


@pytest.mark.parametrize("age", [200, -200], ids=["old", "from the future"])
def test_an_old_result_is_not_used_silently(installed: Standins, age: int, capsys: pytest.CaptureFixture[str]) -> None:
    save(installed.root / "state/result.json", Result(time.time() - age))
    installed.inject(absent=[7])
    assert program.main(["apply"]) == 0
    assert installed.slurm()["reason"] == WORDS, "the checks ran"
    assert "200 s old: does landbridge-node-health.timer run?" in capsys.readouterr().err


def test_checks_that_do_not_end_drain_the_node_before_slurms_timeout(
    installed: Standins, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each call of nvidia-smi would take a minute.
    (installed.root / "usr/bin/nvidia-smi").write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(program, "INLINE_SECONDS", 0.3)
    save(installed.root / "state/result.json", Result(time.time() - 200))
    assert program.main(["apply"]) == 0
    assert installed.slurm()["reason"] == "landbridge:stale:the checks did not end in time, at nvidia-smi; do: inspect"


def test_the_time_of_all_programs_is_below_the_timeouts_of_slurm_and_systemd() -> None:
    assert program.INLINE_SECONDS < program.APPLY_SECONDS < TIMEOUT_SECONDS
    unit = (ROOT / "ansible/roles/node_health/templates/landbridge-node-health.service.j2").read_text()
    timeout = int(next(line for line in unit.splitlines() if line.startswith("TimeoutStartSec=")).partition("=")[2])
    assert program.CHECK_SECONDS + program.APPLY_SECONDS < timeout < program.STALE


def test_a_controller_that_does_not_answer_ends_the_program_in_time(
    installed: Standins, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (installed.root / "usr/bin/scontrol").write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(program, "APPLY_SECONDS", 0.3)
    save(installed.root / "state/result.json", Result(time.time(), (GPU,)))
    assert program.main(["apply"]) == 1
    assert "scontrol does not end" in capsys.readouterr().err


def test_changes_of_the_checks_are_shown_with_their_reasons(
    installed: Standins, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["check"]) == 0
    assert program.main(["show"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["changes"] == ["thermal is not checked: ticket 42"] and shown["age_seconds"] >= 0
