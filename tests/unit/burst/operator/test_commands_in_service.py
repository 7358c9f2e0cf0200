"""The commands beside the real daemon, the emulated AWS and a simulated Slurm: what they say is so, and what they write counts."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.embedded.slurm import EmbeddedNode, SimulatedSlurm, socket_path

DRAINED = "p5: no node is started any more; its running nodes stay as long as Slurm uses them\n"
SHORT = {"insufficient_capacity_seconds": [1, 2], "settle_seconds": 5, "orphan_seconds": 5}


@pytest.fixture(scope="module")
def offering(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slurm")


@pytest.fixture(scope="module")
def emulator(offering: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    node = f"{sys.executable} -m sandbox.embedded.node {socket_path(offering)}"
    options = ["--imds", "127.0.0.1:0", "--require-credentials", "--boot-delay", "0", "--launcher", "process"]
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", *options, "--process-command", node) as cloud:
        yield cloud


@pytest.fixture
def slurm(offering: Path, burst: dict[str, Any]) -> Iterator[SimulatedSlurm]:
    shutil.rmtree(offering)
    nodes = [*EmbeddedNode.many("dgx[01-02]", gpus=8), *EmbeddedNode.many("p5-[1-4]", gpus=8, cloud=True, weight=1000)]
    with SimulatedSlurm(offering, nodes, burst_config={**burst, **SHORT}, suspend_time=2) as found:
        found.wait_for(lambda: (found.directory / "burst.db").exists(), "the daemon made no journal")
        yield found


Command = Callable[..., tuple[int, str]]


@pytest.fixture
def landbridge(slurm: SimulatedSlurm) -> Command:
    """`landbridge burst ...` on the controller."""
    variables = {
        **os.environ,
        "PATH": f"{slurm.directory / 'bin'}:{os.environ['PATH']}",
        "LANDBRIDGE_BURST_CONFIG": str(slurm.directory / "burst.json"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }

    def run(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "landbridge.cli.main", "burst", *words]
        done = subprocess.run(
            command,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout

    return run


def data(answer: tuple[int, str]) -> Any:
    return json.loads(answer[1])


def test_a_drained_pool_refuses_and_says_why_until_it_is_undrained(
    cloud: EmulatorProcess, slurm: SimulatedSlurm, landbridge: Command
) -> None:
    assert landbridge("drain", "p5", "--why", "a new image") == (0, DRAINED)
    job = slurm.submit(nodes=2, script="sleep 4", partition="p5", account="vision")
    slurm.wait_for(lambda: job.comment, "the job was not told")
    assert "DRAINED" in job.comment and "a new image" in job.comment
    code, said = landbridge("why", str(job.id))
    assert code == 0 and "a new image" in said and "landbridge burst undrain p5" in said
    assert data(landbridge("status", "--format", "json"))["pools"][0]["drained"] == "a new image"
    assert landbridge("undrain", "p5")[0] == 0
    with slurm.lock:
        job.eligible = 0.0
    slurm.wait_for(lambda: job.state == "RUNNING", "not running")
    found = data(landbridge("status", "--format", "json"))
    assert sorted(row["node"] for row in found["nodes"] if row["instance"]) == ["p5-1", "p5-2"]
    assert found["accounts"]["vision"]["held_usd"] > 0 and found["acting"]["until"] > time.time()
    answer = data(landbridge("why", str(job.id), "--format", "json"))
    assert {"job", "policy", "launch", "hold"} <= {point["about"] for point in answer["now"]} and answer["do"] == []
    assert slurm.wait(job).state == "COMPLETED"
    events = [record["event"] for record in data(landbridge("history", "--format", "json"))]
    assert events.index("drain") < events.index("undrain") < events.index("launched")


def test_a_restricted_job_and_a_stranger(slurm: SimulatedSlurm, landbridge: Command) -> None:
    job = slurm.submit(nodes=1, script="true", partition="p5", account="patients")
    slurm.wait_for(lambda: job.restarts, "not refused")
    code, said = landbridge("why", str(job.id))
    assert code == 0 and "RESIDENCY" in said and "may not be in AWS" in said
    assert landbridge("why", "4711")[0] == 1


def test_a_doctor_finds_what_is_broken(cloud: EmulatorProcess, slurm: SimulatedSlurm, landbridge: Command) -> None:
    slurm.wait_for(lambda: landbridge("doctor")[0] == 0, "a controller in service is well")
    assert "nothing is wrong" in landbridge("doctor")[1]
    cloud.control(faults={"DescribeInstances": {"code": "UnauthorizedOperation", "status": 403}})
    (slurm.directory / "bin" / "squeue").unlink()
    (slurm.directory / "bin" / "scontrol").write_text(
        "#!/bin/sh\necho 'Unable to contact slurm controller' >&2; exit 1\n"
    )
    code, said = landbridge("doctor", "--format", "json")
    found = {finding["rule"]: finding for finding in json.loads(said)}
    assert code == 1 and {"burst-credentials", "burst-slurm"} <= set(found)
    assert all(finding["fix"] for finding in found.values())
    config = slurm.directory / "burst.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "metrics": "127.0.0.1:9", "socket": "/nowhere"}))
    _, said = landbridge("doctor", "--format", "json")
    assert {"burst-metrics", "burst-socket"} <= {finding["rule"] for finding in json.loads(said)}
    config.write_text("{")
    assert [one["rule"] for one in json.loads(landbridge("doctor", "--format", "json")[1])] == ["burst-config"]


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("ResumeProgram = {0}/landbridge-resume\nSuspendProgram = {0}/landbridge-suspend\nResumeFailProgram = {0}/landbridge-resume-fail\n", 0),
        ("ResumeProgram = (null)\nSuspendProgram = /opt/slurm/suspend.py\n", 3),
        ("ResumeProgram = /nowhere/landbridge-resume\nSuspendProgram = {0}/landbridge-suspend\nResumeFailProgram = {0}/landbridge-resume-fail\n", 1),
    ],
)  # fmt: skip
def test_slurms_programs_are_ours(said: str, wrong: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from landbridge.burst.config.config import BurstConfig
    from landbridge.burst.operator.doctor import programs
    from tests.unit.burst.situations import site

    for name in ("landbridge-resume", "landbridge-suspend", "landbridge-resume-fail"):
        (tmp_path / name).touch(0o755)
    (tmp_path / "config").write_text(said.format(tmp_path))
    (tmp_path / "scontrol").write_text(f"#!/bin/sh\ncat {tmp_path}/config\n")
    (tmp_path / "scontrol").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert len(list(programs(BurstConfig(site()), time.time()))) == wrong
