"""The embedded demonstration as a whole, in a separate state folder."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.embedded import leftovers

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow]


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> tuple["subprocess.CompletedProcess[str]", dict, Path]:
    folder = tmp_path_factory.mktemp("embedded")
    command = [sys.executable, "-m", "sandbox.demo", "--level", "embedded", "--json", str(folder / "report.json")]
    environ = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    completed = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)
    report = folder / "report.json"
    return completed, json.loads(report.read_text()) if report.exists() else {}, folder


def test_it_succeeds_and_every_step_is_done(demonstration) -> None:
    completed, report, _ = demonstration
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-2000:]
    assert report["level"] == "embedded"
    assert [step["state"] for step in report["steps"]] == ["done"] * len(report["steps"])


def test_job_1_ran_on_prem_and_job_2_in_aws(demonstration) -> None:
    _, report, _ = demonstration
    first, second = report["jobs"]
    assert (first["site"], first["nodes"], first["state"]) == ("onprem", ["dgx01", "dgx02"], "COMPLETED")
    assert (second["site"], second["nodes"], second["state"]) == ("aws", ["p5-1", "p5-2"], "COMPLETED")
    assert first["gpus"] == second["gpus"] == 16


def test_both_jobs_trained_a_model_and_have_a_cost(demonstration) -> None:
    _, report, _ = demonstration
    for job in report["jobs"]:
        assert job["metrics"]["test_accuracy"] > 0.85 and job["tracking_run"]
        assert job["cost_usd"] > 0 and job["cost_basis"]
    aws = report["jobs"][1]
    assert "p5.48xlarge" in aws["cost_basis"]


def test_the_graph_was_built_and_removed(demonstration) -> None:
    _, report, _ = demonstration
    assert report["resources"]["aws:ec2/launchTemplate:LaunchTemplate"] == 1
    assert report["resources"]["aws:ec2/vpnConnection:VpnConnection"] == 1
    removed = next(step for step in report["steps"] if "removed" in step["result"])
    assert removed["result"].startswith(str(sum(report["resources"].values())))


def test_the_report_lists_the_simulated_parts(demonstration) -> None:
    completed, report, _ = demonstration
    kinds = {row["part"]: row["kind"] for row in report["realities"]}
    assert kinds["Slurm"] == "simulated" and kinds["training"] == "real"
    assert "Real parts and stand-ins" in completed.stdout and "simulated" in completed.stdout


def test_no_server_or_process_remains(demonstration) -> None:
    _, report, folder = demonstration
    for address in (step["result"] for step in report["steps"] if step["name"] == "emulated AWS"):
        host, port = address.removeprefix("http://").split(":")
        with socket.socket() as probe:
            assert probe.connect_ex((host, int(port))) != 0
    remaining = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if str(folder).encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                remaining.append(name)
        except OSError:
            continue
    assert remaining == []


def test_servers_of_a_killed_demonstration_are_found_and_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sandbox.demo", "--level", "embedded"]
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("ok") and "emulated AWS" in line:
            break
    process.kill()
    process.wait()
    process.stdout.close()
    folder = tmp_path / "landbridge" / "embedded"
    assert leftovers.find(folder), "the servers ended by themselves: this test proves nothing"
    words = [sys.executable, "-m", "sandbox.embedded.leftovers"]
    completed = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True)
    assert completed.returncode == 0 and "ended" in completed.stdout
    assert leftovers.find(folder) == []


def test_the_checkout_is_untouched(demonstration) -> None:
    """Pulumi appends to its stack file: that must be a copy."""
    assert "encryptionsalt" not in (ROOT / "stacks" / "Pulumi.sandbox.yaml").read_text()
