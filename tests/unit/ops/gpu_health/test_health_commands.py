"""Commands `landbridge health`, and the observation and repair of nodes with a stand-in of scontrol."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.ops.gpu_health.act import Repairs, carry_out
from landbridge.ops.gpu_health.journal import load_journal, save_journal
from landbridge.ops.gpu_health.observe import observe
from landbridge.ops.gpu_health.values import (
    HealthAction,
    HealthJournal,
    HealthRecord,
    HealthState,
    HealthStep,
)
from landbridge.ops.scontrol import ScontrolError
from tests.unit.core.samples import GOOD

DATA = Path(__file__).with_name("data")
UUID = "GPU-11111111-2222-3333-4444-555555555555"
LOG = f"""[  100.0] NVRM: GPU at PCI:0000:00:06: {UUID}
[  100.1] NVRM: GPU Board Serial Number: 1650000000001
[  100.2] NVRM: Xid (PCI:0000:00:06): 95, pid='4242', name=secret_model, uncontained
[ 9000.0] NVRM: Xid (PCI:0000:00:06): 31, pid=1, x
"""
OURS = "landbridge: health: draining; xid 95 at 0000:00:06; do: reset"


def landbridge(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(build(), ["health", *words])
    return done.exit_code, done.output


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "dmesg.txt"
    path.write_text(LOG)
    return path


def test_replay_of_a_recorded_log(log: Path) -> None:
    code, output = landbridge("replay", str(log), "--boot", "2026-11-26T06:00:00Z")
    assert code == 0
    assert [line.split()[0:4] for line in output.splitlines()[1:]] == [
        ["2026-11-26T06:01:40Z", "healthy", "->", "draining"],
        ["2026-11-26T06:02:40Z", "draining", "->", "resetting"],
        ["2026-11-26T06:03:40Z", "resetting", "->", "retesting"],
        ["2026-11-26T06:04:40Z", "retesting", "->", "returned"],
    ]
    changes = json.loads(landbridge("replay", str(log), "--failing", "retest", "--format", "json")[1])["changes"]
    assert "rma" in str(changes[-1])
    assert landbridge("replay", str(log), "--failing", "luck")[0] == 2
    assert landbridge("replay", str(log), "--boot", "soon")[0] == 2
    assert landbridge("replay", str(log.with_name("nosuch")))[0] == 2


def test_replay_of_real_logs_finds_no_fault() -> None:
    code, output = landbridge("replay", str(DATA / "h200-580-kmsg.txt"), "--smi", str(DATA / "h200-580.xml"))
    assert (code, output) == (0, "no fault that requires an action\n")


def test_the_report_has_serial_numbers_and_xids_and_no_process(log: Path, tmp_path: Path) -> None:
    bug_report = tmp_path / "nvidia-bug-report.log.gz"
    bug_report.write_bytes(b"report")
    words = ["rma", "dgx01", "--log", str(log), "--smi", str(DATA / "h200-580.xml"), "--bug-report", str(bug_report)]
    code, text = landbridge(*words)
    assert code == 0
    for fact in ("1650000000001", UUID, "96.00.A5.00.1A", "580.159.04", "xid 95 at 0000:00:06", "sha256"):
        assert fact in text
    assert "4242" not in text and "secret_model" not in text and "xid 31" not in text
    output = tmp_path / "report.json"
    assert landbridge(*words, "--format", "json", "--output", str(output))[0] == 0
    report = json.loads(output.read_text())
    assert report["gpus"][0]["serial"] == "1650000000001" and report["missing_gpus"] == []
    assert landbridge("rma", "dgx01")[0] == 2
    assert landbridge("rma", "dgx01", "--log", str(log), "--smi", str(log))[0] == 2


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create an environment file, and a stand-in of ssh that answers as Slurm's controller and as two nodes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "Pulumi.good.yaml"
    file.write_text(json.dumps({"config": {"aws:region": "us-east-1", "landbridge:environment": GOOD}}))
    (tmp_path / "nodes.json").write_text(
        json.dumps({"nodes": [{"name": name, "state": ["IDLE"], "reason": ""} for name in ("dgx01", "dgx02")]})
    )
    gpu = {
        "index": "0",
        "pci_bus_id": "00000000:00:06.0",
        "uuid": UUID,
        "serial": "1",
        "vbios_version": "2",
        "name": "H",
    }
    problem = {"check": "xid", "detail": "95 at 0000:00:06", "action": "reset", "event": True, "at": 100.0}
    facts = {"gpus": [gpu], "processes": 0, "booted_at": 50.0, "result": {"problems": [problem], "at": 200.0}}
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    program = tmp_path / "ssh"
    program.write_text(
        f"""#!/bin/sh
case "$*" in
*scontrol*show*nodes*) cat {tmp_path}/nodes.json ;;
*10.20.1.11*facts*) cat {tmp_path}/facts.json ;;
*) exit 255 ;;
esac
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return file


def test_a_pass_without_run_only_prints(stack: Path, tmp_path: Path) -> None:
    code, output = landbridge("step", "--file", str(stack))
    assert code == 1, output
    assert "dgx01: healthy -> draining xid 95 at 0000:00:06" in output
    assert f"dgx01 drain {OURS}" in output
    assert "dgx02: did not answer" in output
    assert load_journal(tmp_path / "state/landbridge/good") == HealthJournal()


def test_status_and_why_read_the_journal(stack: Path, tmp_path: Path) -> None:
    assert landbridge("status", "--file", str(stack)) == (0, "0 nodes, none with a fault\n")
    folder = tmp_path / "state/landbridge/good"
    record = HealthRecord("dgx01", HealthState.RMA, 100.0, "repair", (UUID,), "rows could not be remapped")
    journal = HealthJournal({"dgx01": record, "dgx02": HealthRecord("dgx02")}, {UUID: (50.0,)})
    save_journal(folder, journal)
    assert load_journal(folder) == journal
    code, output = landbridge("status", "--file", str(stack))
    assert code == 1 and output.startswith("dgx01            rma          1970-01-01T00:01:40Z rows")
    code, output = landbridge("why", "dgx01", "--file", str(stack))
    assert code == 0 and "landbridge health rma" in output and "1 repairs" in output
    assert landbridge("why", "dgx09", "--file", str(stack))[0] == 2
    (folder / "gpu-health.json").write_text("{")
    code, output = landbridge("status", "--file", str(stack))
    assert code == 2 and "remove it" in output


class Slurm:
    """Stand-in of scontrol with one node and reservations."""

    def __init__(self, state: list[str], reason: str = "") -> None:
        self.node = {"name": "dgx01", "state": state, "reason": reason}
        self.reservations: set[str] = set()

    def __call__(self, words: Sequence[str]) -> str:
        pairs = dict(word.partition("=")[::2] for word in words)
        if words[0] == "show" and "--json" in words:
            return json.dumps({"nodes": [self.node]})
        if "show" in words:
            return "".join(f"ReservationName={name} Nodes=dgx01\n" for name in self.reservations)
        if words[0] == "create":
            self.reservations.add(pairs["reservationname"])
        elif words[0] == "delete":
            self.reservations.remove(pairs["reservationname"])
        elif pairs["state"] == "drain":
            self.node |= {"state": ["IDLE", "DRAIN"], "reason": pairs["reason"]}
        else:
            assert pairs["state"] in ("resume", "undrain")
            self.node["state"] = ["IDLE"]
        return ""


def done(step: HealthStep, slurm: Any, ok: bool | None = True) -> list[tuple[str, bool | None]]:
    repairs = Repairs(lambda action: (ok, ""), lambda action, reservation: (ok, reservation))
    action = HealthAction(step, "dgx01", (UUID,), OURS, 7.0)
    return [(result.step, result.ok) for result in carry_out([action], slurm, repairs)]


def test_a_retest_has_a_reservation_until_the_return() -> None:
    slurm = Slurm(["DOWN", "DRAIN"], OURS)
    for _ in range(2):
        assert done(HealthStep.RETEST, slurm) == [("retest", True)]
        assert slurm.node["state"] == ["IDLE"] and slurm.reservations == {"landbridge-health-dgx01"}
    assert done(HealthStep.RETURN, slurm) == []
    assert slurm.node["state"] == ["IDLE"] and slurm.reservations == set()


def test_a_node_is_drained_before_its_reservation_ends() -> None:
    slurm = Slurm(["IDLE"])
    slurm.reservations = {"landbridge-health-dgx01"}
    done(HealthStep.QUARANTINE, slurm)
    assert "DRAIN" in slurm.node["state"] and slurm.reservations == set()


@pytest.mark.parametrize("reason", ["new fans, ask Kim", "landbridge: restart: driver", ""])
@pytest.mark.parametrize("step", [step for step in HealthStep if step is not HealthStep.RELEASE])
def test_no_action_changes_the_drain_of_another(step: HealthStep, reason: str) -> None:
    slurm = Slurm(["IDLE", "DRAIN"], reason)
    before = dict(slurm.node)
    assert all(ok is None for _, ok in done(step, slurm))
    assert slurm.node == before and slurm.reservations == set()


def test_a_refusal_of_slurm_is_a_step_that_was_not_run() -> None:
    def refused(words: Sequence[str]) -> str:
        raise ScontrolError("slurmctld does not answer")

    assert done(HealthStep.RESET, refused) == [("reset", None)]


def test_observation_finds_the_gpu_and_the_time_of_an_event() -> None:
    facts = {
        "gpus": [{"index": "2", "pci_bus_id": "00000000:1B:00.0", "uuid": UUID, "serial": "", "vbios_version": "", "name": ""}],
        "processes": 3,
        "booted_at": 50.0,
        "result": {
            "at": 200.0,
            "problems": [
                {"check": "xid", "detail": "79 at 0000:1b:00", "action": "reboot", "event": True, "at": 100.0},
                {"check": "nvlink", "detail": "GPU 2 has 16 of 18 links", "action": "reset", "event": False, "at": None},
                {"check": "pcie", "detail": "GPU 9 at 0000:ff:00.0 runs x8 of x16", "action": "repair", "event": False},
            ],
        },
    }  # fmt: skip
    nodes = [
        {"name": "dgx01", "state": ["ALLOCATED", "DRAIN"], "reason": OURS},
        {"name": "dgx02", "state": ["IDLE"]},
        {"name": "p5-1", "state": ["IDLE", "CLOUD", "DRAIN"], "reason": "landbridge:gpu:gone; do: reboot", "reason_changed_at": {"number": 70}},
    ]  # fmt: skip
    texts = {"dgx01": json.dumps(facts), "dgx02": "no JSON", "dgx03": None}
    seen = observe({"nodes": nodes}, ["dgx01", "dgx02", "dgx03"], lambda node, words: texts[node])
    assert [(entry.node, entry.kind, entry.at, entry.gpu) for entry in seen.observations] == [
        ("dgx01", "xid", 100.0, UUID),
        ("dgx01", "nvlink", 200.0, UUID),
        ("dgx01", "pcie", 200.0, "0000:ff:00"),
        ("p5-1", "gpu", 70.0, ""),
    ]
    views = {view.node: view for view in seen.views}
    assert (views["dgx01"].jobs, views["dgx01"].gpu_processes, views["dgx01"].booted_at) == (1, 3, 50.0)
    assert views["dgx01"].is_ours and views["p5-1"].is_of_a_check and views["p5-1"].site == "aws"
    assert views["dgx02"].gpu_processes is None and seen.silent == ()
