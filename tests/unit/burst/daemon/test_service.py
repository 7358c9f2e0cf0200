"""The daemon as a service: one per host, signals, settings, two controllers, memory and metrics."""
# ruff: noqa: F811 - fixtures are imported

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.config.config import load
from landbridge.burst.daemon import daemon, journal_snapshots
from landbridge.burst.journal.database import RESERVE_BYTES
from landbridge.burst.journal.store import Store
from landbridge.burst.model import State
from landbridge.timestamps import month_of
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.embedded.slurm import SimulatedSlurm
from sandbox.ports import free_port
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.burst.service import emulator, instances, log, slurm_folder, start, submit  # noqa: F401


def program(slurm: SimulatedSlurm, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "LANDBRIDGE_BURST_CONFIG": str(slurm.directory / "burst.json")}
    environment["PATH"] = f"{slurm.directory}/bin:{environment['PATH']}"
    command = [sys.executable, "-m", "landbridge.burst.daemon.daemon", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_a_second_daemon_on_a_host_fails_and_a_signal_stops_the_first(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start()
    slurm.wait_for(lambda: "acting" in log(slurm), "not acting")
    second = program(slurm)
    assert second.returncode == 1 and "another daemon runs" in second.stderr
    slurm.daemon.send_signal(signal.SIGTERM)
    assert slurm.daemon.wait() == 0
    assert "stopped" in log(slurm)
    assert program(slurm, "--once").returncode == 0


def test_settings_are_read_again_and_invalid_ones_are_rejected(
    cloud: EmulatorProcess, start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start()
    slurm.wait_for(lambda: "acting" in log(slurm), "not acting")
    path = slurm.directory / "burst.json"
    good = json.loads(path.read_text())
    path.write_text(json.dumps({**good, "cluster": 7}))
    slurm.daemon.send_signal(signal.SIGHUP)
    slurm.wait_for(lambda: "the settings stay as they are" in log(slurm), "invalid settings were accepted")
    path.write_text(json.dumps({**good, "accounts": {"speech": {"data_class": "internal", "aws": True}}}))
    slurm.daemon.send_signal(signal.SIGHUP)
    slurm.wait_for(lambda: "settings read again" in log(slurm), "not read")
    assert slurm.wait(submit(slurm, account="speech")).state == "COMPLETED"


def test_a_daemon_with_invalid_settings_fails_with_an_error(tmp_path: Path) -> None:
    (tmp_path / "burst.json").write_text("{}")
    command = [sys.executable, "-m", "landbridge.burst.daemon.daemon", "--config", str(tmp_path / "burst.json")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "cluster: text is expected" in done.stderr and "Traceback" not in done.stderr


def test_a_daemon_without_slurm_launches_nothing_and_keeps_its_orders(
    cloud: EmulatorProcess, burst: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "burst.json"
    settings = {"state_dir": str(tmp_path), "socket": str(tmp_path / "s"), "metrics": None}
    path.write_text(json.dumps({**burst, **settings, "heartbeat_namespace": "Landbridge"}))
    Store(tmp_path / "burst.db").append("resume", ["p5-1"], {1: ("p5-1",)}, time.time())
    environment = {**os.environ, "PATH": "/nonexistent"}
    command = [sys.executable, "-m", "landbridge.burst.daemon.daemon", "--config", str(path), "--once"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "scontrol" in done.stderr
    assert instances(cloud) == {} and len(Store(tmp_path / "burst.db").load().orders) == 1
    # It cannot start jobs, so it sends no heartbeat, and the alarm goes off.
    assert client_of(cloud, "cloudwatch").list_metrics()["Metrics"] == []


SLURM = """#!/bin/sh
if [ -e {folder}/lose ] && [ "$1" != ping ]; then rm -f {folder}/lose {folder}/burst.db*; fi
case "$*" in
ping*) echo '{{"pings": [{{"hostname": "'"$(cat {folder}/active)"'", "responding": true, "mode": "primary"}}]}}' ;;
*nodes=p5*) echo 'p5-[1-4] idle+cloud+powered_down' ;;
esac
"""


def _programs(tmp_path: Path) -> dict[str, str]:
    """Write Slurm's commands; return the environment of the daemon."""
    for name in ("scontrol", "sinfo", "squeue"):
        (tmp_path / name).write_text(SLURM.format(folder=tmp_path))
        (tmp_path / name).chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}


def _settings(burst: dict[str, Any], tmp_path: Path, snapshots: Path) -> None:
    settings = {"state_dir": str(tmp_path), "socket": str(tmp_path / "s"), "metrics": None}
    (tmp_path / "burst.json").write_text(json.dumps({**burst, **settings, "snapshot_dir": str(snapshots)}))


def _once(tmp_path: Path, environment: dict[str, str]) -> str:
    """Run one pass of the daemon; return its messages."""
    config = str(tmp_path / "burst.json")
    command = [sys.executable, "-m", "landbridge.burst.daemon.daemon", "--config", config, "--once"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_of_two_controllers_the_one_with_the_active_slurmctld_acts(
    cloud: EmulatorProcess, burst: dict[str, Any], tmp_path: Path
) -> None:
    environment, shared = _programs(tmp_path), tmp_path / "shared"
    shared.mkdir()
    _settings(burst, tmp_path, shared)
    # The other controller has drained a pool, and its lease has expired.
    other = Store(tmp_path / "other.db")
    other.take_lease("ctl02", time.time() - 600, 60)
    other.save(State(), State(drained={"p5": "by the other"}))
    other.snapshot(shared)

    (tmp_path / "active").write_text("ctl02")
    before = (shared / "burst-journal.json").read_text()
    assert "acting" not in _once(tmp_path, environment) and Store(tmp_path / "burst.db").load() == State()
    assert (shared / "burst-journal.json").read_text() == before
    (tmp_path / "active").write_text(socket.gethostname())
    messages = _once(tmp_path, environment)
    assert "continues from the other controller's journal" in messages and "acting" in messages
    assert Store(tmp_path / "burst.db").load().drained == {"p5": "by the other"}
    assert json.loads((shared / "burst-journal.json").read_text())["lease"][0][0] == socket.gethostname()


def test_a_controller_waits_for_a_snapshot_that_cannot_be_read(
    cloud: EmulatorProcess, burst: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, shared = _programs(tmp_path), tmp_path / "shared"
    snapshot = shared / "burst-journal.json"
    shared.mkdir()
    _settings(burst, tmp_path, shared)
    (tmp_path / "active").write_text(socket.gethostname())
    other = Store(tmp_path / "other.db")
    other.take_lease("ctl02", time.time() - 600, 60)
    other.save(State(), State(drained={"p5": "by the other"}))
    other.snapshot(shared)
    good = snapshot.read_text()
    snapshot.unlink()
    snapshot.mkdir()  # in place of an error of NFS
    messages = _once(tmp_path, environment)
    assert "snapshot" in messages and "acting" not in messages and Store(tmp_path / "burst.db").lease() is None
    monkeypatch.setenv("PATH", environment["PATH"])
    configuration = load(tmp_path / "burst.json")
    running = daemon.Daemon(configuration, lambda: configuration)
    running.turn()
    assert running._store.lease() is None
    snapshot.rmdir()
    snapshot.write_text(good)
    running.turn()
    assert running._store.load().drained == {"p5": "by the other"}
    assert (
        tmp_path / "burst.db-wal"
    ).stat().st_size > RESERVE_BYTES  # space with which it goes on while the disk is full
    assert json.loads(snapshot.read_text())["lease"][0][0] == socket.gethostname()


def test_a_controller_acts_when_the_snapshot_stays_unreadable(
    cloud: EmulatorProcess, burst: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, shared = _programs(tmp_path), tmp_path / "shared"
    (shared / "burst-journal.json").mkdir(parents=True)
    _settings(burst, tmp_path, shared)
    (tmp_path / "active").write_text(socket.gethostname())
    monkeypatch.setenv("PATH", environment["PATH"])
    monkeypatch.setattr(journal_snapshots, "UNREADABLE_SNAPSHOT_SECONDS", 0.0)
    configuration = load(tmp_path / "burst.json")
    running = daemon.Daemon(configuration, lambda: configuration)
    running.turn()
    lease = running._store.lease()
    assert lease is not None and lease[0] == socket.gethostname()


@pytest.mark.parametrize("loss", ["removed", "damaged", "removed during a pass"])
def test_the_loss_of_the_journal_does_not_reset_the_spending_of_the_month(
    cloud: EmulatorProcess, burst: dict[str, Any], tmp_path: Path, loss: str
) -> None:
    environment, copies = _programs(tmp_path), tmp_path / "slurmctld" / "landbridge-burst"
    copies.parent.mkdir()
    _settings(burst, tmp_path, copies)
    (tmp_path / "active").write_text(socket.gethostname())
    journal, spent = tmp_path / "burst.db", {(month_of(time.time()), "vision", "p5"): 512.5}
    store = Store(journal)
    store.save(State(), State(spent=spent))
    store.close()
    _once(tmp_path, environment)
    for suffix in ("-wal", "-shm"):
        journal.with_name(journal.name + suffix).unlink(missing_ok=True)
    if loss == "removed during a pass":
        (tmp_path / "lose").touch()
        _once(tmp_path, environment)
    elif loss == "removed":
        journal.unlink()
    else:
        journal.write_text("no journal")
    assert "continues from its own journal" in _once(tmp_path, environment)
    assert Store(journal).load().spent == spent


def memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def test_the_daemon_uses_little_memory_and_serves_metrics(
    cloud: EmulatorProcess, burst: dict[str, Any], start: Callable[..., SimulatedSlurm]
) -> None:
    slurm = start()
    slurm.daemon.terminate()
    slurm.daemon.wait()
    port = free_port()
    path = slurm.directory / "burst.json"
    path.write_text(
        json.dumps(
            {**json.loads(path.read_text()), "metrics": f"127.0.0.1:{port}", "heartbeat_namespace": "Landbridge"}
        )
    )
    daemon = slurm.programs.daemon()
    job = submit(slurm, 2)
    assert slurm.wait(job).state == "COMPLETED"
    launched = 'landbridge_burst_launched_instances_total{offering="p5.48xlarge/use1-az4/on-demand",pool="p5"} 2'
    kind, text = "", ""
    deadline = time.monotonic() + 300
    while launched not in text and time.monotonic() < deadline:  # the text is of the last pass
        time.sleep(0.1)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=300) as answer:
            kind, text = answer.headers["Content-Type"], answer.read().decode()
    assert launched in text
    assert kind.startswith("application/openmetrics-text") and text.endswith("# EOF\n")
    assert "landbridge_burst_active 1" in text
    assert [metric["MetricName"] for metric in client_of(cloud, "cloudwatch").list_metrics()["Metrics"]] == [
        "BurstHeartbeat"
    ]
    assert memory(daemon.pid) < 60


def test_a_slurm_key_is_published_only_if_it_changed(
    cloud: EmulatorProcess, burst: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "burst.json").write_text(json.dumps(burst))
    client_of(cloud, "secretsmanager").create_secret(Name="sandbox/slurm-key")

    def publish(key: bytes) -> str:
        environment = {**os.environ, "LANDBRIDGE_BURST_CONFIG": str(tmp_path / "burst.json")}
        command = [sys.executable, "-m", "landbridge.burst.aws.publish_key"]
        done = subprocess.run(command, input=key, env=environment, capture_output=True, check=False)
        return (done.stdout or done.stderr).decode().strip()

    text, binary = b"k" * 64 + b"\n", b"\xff" * 64
    results = [publish(key) for key in (text, text, binary, binary)]
    assert results == ["changed", "unchanged", "changed", "unchanged"]
    stored = client_of(cloud, "secretsmanager").get_secret_value(SecretId="sandbox/slurm-key")
    assert stored["SecretBinary"] == binary
    assert "32 bytes" in publish(b"short")
