"""The agent on a cloud node: what it does, with a real metadata service, real processes, and Slurm's commands written down."""

import functools
import http.client
import json
import os
import shlex
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
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """scontrol, scancel and systemctl that write down what they are told; scontrol answers with files of tmp_path."""
    (tmp_path / "bin").mkdir()
    for name in ("scontrol", "scancel", "systemctl"):
        program = tmp_path / "bin" / name
        program.write_text(
            f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/told\n'
            f'case "$*" in ping*) cat {tmp_path}/ping;; show*) cat {tmp_path}/job;; esac\n'
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    path = tmp_path / "told"
    return lambda: path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def instance(ec2: Any, stack: Stack) -> dict[str, Any]:
    return spot_instance(ec2, stack)


@pytest.fixture
def on_instance(instance: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls to the metadata service come from the instance's offering on the loopback."""
    source = ("127." + instance["PrivateIpAddress"].partition(".")[2], 0)
    connection = functools.partial(http.client.HTTPConnection, source_address=source)
    client = SimpleNamespace(HTTPConnection=connection, HTTPException=http.client.HTTPException)
    monkeypatch.setattr(agent, "http", SimpleNamespace(client=client))


def test_a_spot_node_leaves_in_order(
    cloud: EmulatorProcess,
    instance: dict[str, Any],
    on_instance: None,
    told: Callable[[], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    me = socket.gethostname()
    (tmp_path / "ping").write_text(json.dumps({"pings": [{"hostname": "ctl01", "responding": True}]}))
    (tmp_path / "job").write_text(json.dumps({"jobs": [{"job_state": ["RUNNING"], "nodes": me}]}))
    (tmp_path / "hooks").mkdir()
    hook = tmp_path / "hooks/save"
    hook.write_text(f'#!/bin/sh\necho "hook $LANDBRIDGE_JOBS $LANDBRIDGE_ENDS" >> {tmp_path}/told\n')
    hook.chmod(0o755)
    monkeypatch.setattr(agent, "jobs_here", lambda: frozenset({7}))
    monkeypatch.setattr(agent, "handles", lambda job, number: (job, number) == (7, signal.SIGUSR1))
    settings = {"ping_seconds": 0, "hooks": str(tmp_path / "hooks"), "signal": "USR1"}
    one = agent.Agent(settings, agent.Metadata(f"http://{cloud.imds}"))

    def step() -> list[str]:
        wanted = agent.decide(one.look(), one.done, LIMITS)
        one.done |= {act.key for act in wanted if one.act(act)}
        return [act.what for act in wanted]

    assert step() == [] and told() == ["scontrol ping --json"]
    assert one.lease == agent.moment("2027-01-15T08:00:00Z") and one.spot
    cloud.control(rebalance=[instance["InstanceId"]])
    assert step() == ["checkpoint", "drain"] and step() == []
    cloud.control(interrupt={instance["InstanceId"]: 60})
    assert step() == ["checkpoint", "drain"] and step() == []
    cloud.control(interrupt={instance["InstanceId"]: 20})
    assert step() == ["requeue"] and step() == []
    deadline = time.monotonic() + 300
    while sum(line.startswith(("hook", "scancel")) for line in told()) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    lines = [line for line in told() if "ping" not in line]
    assert lines.count("scancel --signal=USR1 7") == 2 and sum(line.startswith("hook 7 1") for line in lines) == 1
    assert "hook 7 0" in lines  # by the recommendation: nobody knows when
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
    """By real processes: a step's daemon, and what runs below it."""
    act = {"handles": "lambda *_: None", "ignores": "signal.SIG_IGN", "sleep": "signal.SIG_DFL"}
    child = "import pathlib, signal, sys, time; signal.signal(signal.SIGUSR1, eval(sys.argv[1])); pathlib.Path(sys.argv[2]).touch(); time.sleep(60)"
    words = " & ".join(
        shlex.join([sys.executable, "-c", child, act[what], str(tmp_path / f"{number}")])
        for number, what in enumerate(children)
    )
    script = f"{words} & read -r _" if words else "read -r _"
    daemon = subprocess.Popen(
        ["bash", "-c", f'exec -a "slurmstepd: [{step}]" bash -c {shlex.quote(script)}'],
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


@pytest.mark.parametrize(
    ("job", "requeued"),
    [
        ({"job_state": ["RUNNING"], "nodes": "other-[1-2]"}, False),  # has begun anew elsewhere
        ({"job_state": ["PENDING"], "nodes": ""}, False),
        ({"job_state": ["COMPLETED"], "nodes": "ME"}, False),
        ({"job_state": "RUNNING", "nodes": "ME,other-1"}, True),
        ({"job_state": ["FAILED"], "nodes": "ME"}, True),  # by the signal
    ],
)
def test_which_jobs_are_requeued(
    told: Callable[[], list[str]], tmp_path: Path, job: dict[str, Any], requeued: bool
) -> None:
    job["nodes"] = job["nodes"].replace("ME", socket.gethostname())
    (tmp_path / "job").write_text(json.dumps({"jobs": [job]}))
    one = agent.Agent({}, agent.Metadata("http://127.0.0.1:9"))
    assert one.act(agent.Act("requeue", "requeue:7", (7,)))
    assert ("scontrol requeue 7" in told()) is requeued


def test_a_slurm_that_does_not_answer_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    one = agent.Agent({}, agent.Metadata("http://127.0.0.1:9"))
    assert not one.act(agent.Act("drain", "drain:end", text="x"))
    assert not one.act(agent.Act("requeue", "requeue:7", (7,)))


def test_nobody_answers_and_the_node_switches_itself_off(
    told: Callable[[], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ping").write_text(json.dumps({"pings": [{"hostname": "ctl01", "responding": False}]}))
    monkeypatch.setattr(agent, "jobs_here", frozenset)
    one = agent.Agent({"ping_seconds": 0}, agent.Metadata("http://127.0.0.1:9"))
    assert agent.decide(one.look(), one.done, LIMITS) == []
    one.reached -= 1800
    (off,) = agent.decide(one.look(), one.done, LIMITS)
    assert one.act(off) and told()[-1] == "systemctl poweroff"
    (tmp_path / "ping").write_text(json.dumps({"pings": [{"hostname": "ctl01", "pinged": "UP"}]}))
    assert agent.decide(one.look(), one.done, LIMITS) == []
