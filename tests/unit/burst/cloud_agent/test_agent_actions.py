"""Actions of the cloud agent, with a real metadata service, real processes, and recorded calls of Slurm's commands."""

import functools
import http.client
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import Stack
from tests.unit.burst.cloud_agent.cloud_node import LIMITS, agent, spot_instance


@pytest.fixture
def command_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Install scontrol, scancel and systemctl that record their arguments; scontrol prints files of tmp_path."""
    (tmp_path / "bin").mkdir()
    for name in ("scontrol", "scancel", "systemctl"):
        program = tmp_path / "bin" / name
        program.write_text(
            f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/calls\n'
            f'case "$*" in ping*) cat {tmp_path}/ping;; show*) cat {tmp_path}/job;; esac\n'
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    path = tmp_path / "calls"
    return lambda: path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def instance(ec2: Any, stack: Stack) -> dict[str, Any]:
    return spot_instance(ec2, stack)


@pytest.fixture
def on_instance(instance: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Send calls to the metadata service from the loopback address of the instance."""
    source = ("127." + instance["PrivateIpAddress"].partition(".")[2], 0)
    connection = functools.partial(http.client.HTTPConnection, source_address=source)
    client = SimpleNamespace(HTTPConnection=connection, HTTPException=http.client.HTTPException)
    monkeypatch.setattr(agent, "http", SimpleNamespace(client=client))


def test_a_spot_node_checkpoints_drains_and_requeues_before_its_interruption(
    cloud: EmulatorProcess,
    instance: dict[str, Any],
    on_instance: None,
    command_calls: Callable[[], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    me = socket.gethostname()
    (tmp_path / "ping").write_text(json.dumps({"pings": [{"hostname": "ctl01", "responding": True}]}))
    (tmp_path / "job").write_text(json.dumps({"jobs": [{"job_state": ["RUNNING"], "nodes": me}]}))
    (tmp_path / "hooks").mkdir()
    hook = tmp_path / "hooks/save"
    hook.write_text(f'#!/bin/sh\necho "hook $LANDBRIDGE_JOBS $LANDBRIDGE_ENDS" >> {tmp_path}/calls\n')
    hook.chmod(0o755)
    monkeypatch.setattr(agent, "jobs_here", lambda: frozenset({7}))
    monkeypatch.setattr(agent, "handles", lambda job, number: (job, number) == (7, signal.SIGUSR1))
    settings = {"ping_seconds": 0, "hooks": str(tmp_path / "hooks"), "signal": "USR1"}
    node_agent = agent.Agent(settings, agent.Metadata(f"http://{cloud.imds}"))

    def step() -> list[str]:
        decided = agent.decide(node_agent.look(), node_agent.done, LIMITS)
        node_agent.done |= {act.key for act in decided if node_agent.act(act)}
        return [act.kind for act in decided]

    assert step() == [] and command_calls() == ["scontrol ping --json"]
    assert node_agent.lease == agent.moment("2027-01-15T08:00:00Z") and node_agent.spot
    cloud.control(rebalance=[instance["InstanceId"]])
    assert step() == ["checkpoint", "drain"] and step() == []
    cloud.control(interrupt={instance["InstanceId"]: 60})
    assert step() == ["checkpoint", "drain"] and step() == []
    cloud.control(interrupt={instance["InstanceId"]: 20})
    assert step() == ["requeue"] and step() == []
    deadline = time.monotonic() + 300
    while sum(line.startswith(("hook", "scancel")) for line in command_calls()) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    lines = [line for line in command_calls() if "ping" not in line]
    assert lines.count("scancel --signal=USR1 7") == 2 and sum(line.startswith("hook 7 1") for line in lines) == 1
    assert "hook 7 0" in lines  # by the rebalance recommendation, which has no end time
    assert sum(f"update nodename={me} state=power_down_asap reason=landbridge: SPOT" in line for line in lines) == 2
    assert lines[-2:] == ["scontrol show job 7 --json", "scontrol requeue 7"]


@pytest.mark.parametrize(
    ("step", "children", "handled"),
    [
        ("4711.0", ["handles"], True),
        ("4711.0", ["ignores", "handles"], True),
        ("4711.0", ["handles", "sleep"], False),
        ("4711.0", [], False),
        ("4711.batch", ["handles"], False),
        ("47112.0", ["handles"], False),
    ],
)
def test_only_jobs_that_handle_a_signal_get_it(tmp_path: Path, step: str, children: list[str], handled: bool) -> None:
    """Use real processes: the daemon of a step and its children."""
    act = {"handles": "lambda *_: None", "ignores": "signal.SIG_IGN", "sleep": "signal.SIG_DFL"}
    child = "import pathlib, signal, sys, time; signal.signal(signal.SIGUSR1, eval(sys.argv[1])); pathlib.Path(sys.argv[2]).touch(); time.sleep(60)"
    words = " & ".join(
        shlex.join([sys.executable, "-c", child, act[behaviour], str(tmp_path / f"{number}")])
        for number, behaviour in enumerate(children)
    )
    script = f"{words} & read -r _" if words else "read -r _"
    # The daemon of a step is the program slurmstepd; a copy of bash takes its place.
    program = tmp_path / "slurmstepd"
    shutil.copy(shutil.which("bash") or "/bin/bash", program)
    daemon = subprocess.Popen(
        ["bash", "-c", f'exec -a "slurmstepd: [{step}]" {shlex.quote(str(program))} -c {shlex.quote(script)}'],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 300
        while not all((tmp_path / str(number)).exists() for number in range(len(children))):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert agent.handles(4711, signal.SIGUSR1) is handled
    finally:
        os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()


def test_a_users_process_with_the_title_of_a_step_is_no_job() -> None:
    """Use a real process that a user without rights could start."""
    script = "import signal, sys; signal.signal(signal.SIGUSR1, signal.SIG_IGN); print(flush=True); sys.stdin.read()"
    as_nobody = {"user": 65534} if os.getuid() == 0 else {}
    fake = subprocess.Popen(
        ["slurmstepd: [4242.0]", "-c", script],
        executable="/usr/bin/python3",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        **as_nobody,
    )
    try:
        assert fake.stdout is not None and fake.stdout.readline()
        assert Path(f"/proc/{fake.pid}/cmdline").read_bytes().startswith(b"slurmstepd: [4242.0]")
        assert 4242 not in agent.jobs_here() and not agent.handles(4242, signal.SIGUSR1)
    finally:
        fake.kill()
        fake.communicate()


@pytest.mark.parametrize(
    ("job", "requeued"),
    [
        ({"job_state": ["RUNNING"], "nodes": "other-[1-2]"}, False),  # has started again on other nodes
        ({"job_state": ["PENDING"], "nodes": ""}, False),
        ({"job_state": ["COMPLETED"], "nodes": "ME"}, False),
        ({"job_state": "RUNNING", "nodes": "ME,other-1"}, True),
        ({"job_state": ["FAILED"], "nodes": "ME"}, True),  # by the signal
    ],
)
def test_only_jobs_that_still_belong_to_the_node_are_requeued(
    command_calls: Callable[[], list[str]], tmp_path: Path, job: dict[str, Any], requeued: bool
) -> None:
    job["nodes"] = job["nodes"].replace("ME", socket.gethostname())
    (tmp_path / "job").write_text(json.dumps({"jobs": [job]}))
    node_agent = agent.Agent({}, agent.Metadata("http://127.0.0.1:9"))
    assert node_agent.act(agent.Act("requeue", "requeue:7", (7,)))
    assert ("scontrol requeue 7" in command_calls()) is requeued


def test_a_slurm_that_does_not_answer_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    node_agent = agent.Agent({}, agent.Metadata("http://127.0.0.1:9"))
    assert not node_agent.act(agent.Act("drain", "drain:end", text="x"))
    assert not node_agent.act(agent.Act("requeue", "requeue:7", (7,)))


def test_the_processes_of_a_node_are_read_only_for_a_decision_about_jobs(
    command_calls: Callable[[], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ping, looks = tmp_path / "ping", []
    monkeypatch.setattr(agent, "jobs_here", lambda: looks.append(1) or frozenset({7}))
    node_agent = agent.Agent({"ping_seconds": 0}, agent.Metadata("http://127.0.0.1:9"))
    ping.write_text(json.dumps({"pings": [{"hostname": "ctl01", "responding": True}]}))
    assert node_agent.look().jobs == frozenset() and looks == []
    ping.write_text(json.dumps({"pings": [{"hostname": "ctl01", "responding": False}]}))
    assert node_agent.look().jobs == {7} and looks == [1]


def test_a_node_without_contact_to_a_controller_powers_itself_off(
    command_calls: Callable[[], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ping").write_text(json.dumps({"pings": [{"hostname": "ctl01", "responding": False}]}))
    monkeypatch.setattr(agent, "jobs_here", frozenset)
    node_agent = agent.Agent({"ping_seconds": 0}, agent.Metadata("http://127.0.0.1:9"))
    assert agent.decide(node_agent.look(), node_agent.done, LIMITS) == []
    node_agent.reached -= 1800
    (off,) = agent.decide(node_agent.look(), node_agent.done, LIMITS)
    assert node_agent.act(off) and command_calls()[-1] == "systemctl poweroff"
    (tmp_path / "ping").write_text(json.dumps({"pings": [{"hostname": "ctl01", "pinged": "UP"}]}))
    assert agent.decide(node_agent.look(), node_agent.done, LIMITS) == []
