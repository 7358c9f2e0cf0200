"""Operator commands with the real daemon, the emulated AWS and a simulated Slurm: correct output and effective edits."""

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

DRAINED = "p5: no further node is launched; running nodes stay as long as Slurm uses them\n"
SHORT = {"insufficient_capacity_seconds": [1, 2], "settle_seconds": 5, "orphan_seconds": 5}


@pytest.fixture(scope="module")
def slurm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slurm")


@pytest.fixture(scope="module")
def emulator(slurm_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    node = f"{sys.executable} -m sandbox.embedded.node {socket_path(slurm_folder)}"
    options = ["--imds", "127.0.0.1:0", "--require-credentials", "--boot-delay", "0", "--launcher", "process"]
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", *options, "--process-command", node) as cloud:
        yield cloud


@pytest.fixture
def slurm(slurm_folder: Path, burst: dict[str, Any]) -> Iterator[SimulatedSlurm]:
    shutil.rmtree(slurm_folder)
    nodes = [*EmbeddedNode.many("dgx[01-02]", gpus=8), *EmbeddedNode.many("p5-[1-4]", gpus=8, cloud=True, weight=1000)]
    with SimulatedSlurm(slurm_folder, nodes, burst_config={**burst, **SHORT}, suspend_time=2) as simulated:
        simulated.wait_for(lambda: (simulated.directory / "burst.db").exists(), "the daemon created no journal")
        yield simulated


Command = Callable[..., tuple[int, str]]


@pytest.fixture
def landbridge(slurm: SimulatedSlurm) -> Command:
    return landbridge_of(slurm)


def landbridge_of(slurm: SimulatedSlurm) -> Command:
    """Return a function that runs `landbridge burst ...` on the controller."""
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
            check=False,
        )
        return done.returncode, done.stdout

    return run


def data(answer: tuple[int, str]) -> Any:
    return json.loads(answer[1])


def test_a_drained_pool_refuses_and_says_why_until_it_is_undrained(
    cloud: EmulatorProcess, slurm: SimulatedSlurm, landbridge: Command, tmp_path: Path
) -> None:
    end = tmp_path / "end"
    assert landbridge("drain", "p5", "--why", "a new image") == (0, DRAINED)
    job = slurm.submit(nodes=2, script=f"until [ -e {end} ]; do sleep 0.2; done", partition="p5", account="vision")
    slurm.wait_for(lambda: job.admin_comment, "the job has no comment")
    assert "DRAINED" in job.admin_comment and "a new image" in job.admin_comment
    code, output = landbridge("why", str(job.id))
    assert code == 0 and "a new image" in output and "landbridge burst undrain p5" in output
    assert data(landbridge("status", "--format", "json"))["pools"][0]["drained"] == "a new image"
    assert landbridge("undrain", "p5")[0] == 0
    with slurm.lock:
        job.eligible = 0.0
    slurm.wait_for(lambda: job.state == "RUNNING", "not running")
    status = data(landbridge("status", "--format", "json"))
    assert sorted(row["node"] for row in status["nodes"] if row["instance"]) == ["p5-1", "p5-2"]
    assert status["accounts"]["vision"]["held_usd"] > 0 and status["acting"]["until"] > time.time()
    answer = data(landbridge("why", str(job.id), "--format", "json"))
    assert {"job", "policy", "launch", "hold"} <= {point["about"] for point in answer["now"]} and answer["do"] == []
    end.touch()
    assert slurm.wait(job).state == "COMPLETED"
    events = [record["event"] for record in data(landbridge("history", "--format", "json"))]
    assert events.index("drain") < events.index("undrain") < events.index("launched")


def test_why_explains_a_restricted_job_and_fails_for_an_unknown_job(slurm: SimulatedSlurm, landbridge: Command) -> None:
    job = slurm.submit(nodes=1, script="true", partition="p5", account="patients")
    slurm.wait_for(lambda: job.restarts, "not refused")
    code, output = landbridge("why", str(job.id))
    assert code == 0 and "RESIDENCY" in output and "may not be in AWS" in output
    assert landbridge("why", "4711")[0] == 1


def test_doctor_finds_each_broken_part_of_a_controller(
    cloud: EmulatorProcess, slurm: SimulatedSlurm, landbridge: Command
) -> None:
    accounting = slurm.directory / "bin" / "sacct"
    accounting.write_text("#!/bin/sh\n# No job runs.\n")
    accounting.chmod(0o755)
    slurm.wait_for(lambda: landbridge("doctor")[0] == 0, "a working controller has findings")
    assert "nothing is wrong" in landbridge("doctor")[1]
    cloud.control(faults={"DescribeInstances": {"code": "UnauthorizedOperation", "status": 403}})
    (slurm.directory / "bin" / "squeue").unlink()
    (slurm.directory / "bin" / "scontrol").write_text(
        "#!/bin/sh\necho 'Unable to contact slurm controller' >&2; exit 1\n"
    )
    code, output = landbridge("doctor", "--format", "json")
    findings = {finding["rule"]: finding for finding in json.loads(output)}
    assert code == 1 and {"burst-credentials", "burst-slurm"} <= set(findings)
    assert all(finding["fix"] for finding in findings.values())
    config = slurm.directory / "burst.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "metrics": "127.0.0.1:9", "socket": "/nowhere"}))
    _, output = landbridge("doctor", "--format", "json")
    assert {"burst-metrics", "burst-socket", "burst-prolog-socket"} <= {
        finding["rule"] for finding in json.loads(output)
    }
    config.write_text("{")
    assert [finding["rule"] for finding in json.loads(landbridge("doctor", "--format", "json")[1])] == ["burst-config"]


@pytest.mark.parametrize(
    ("scontrol_output", "finding_count"),
    [
        ("ResumeProgram = {0}/landbridge-resume\nSuspendProgram = {0}/landbridge-suspend\nResumeFailProgram = {0}/landbridge-resume-fail\n", 0),
        ("ResumeProgram = (null)\nSuspendProgram = /opt/slurm/suspend.py\n", 3),
        ("ResumeProgram = /nowhere/landbridge-resume\nSuspendProgram = {0}/landbridge-suspend\nResumeFailProgram = {0}/landbridge-resume-fail\n", 1),
    ],
)  # fmt: skip
def test_doctor_finds_programs_of_slurm_that_are_not_landbridges(
    scontrol_output: str, finding_count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from landbridge.burst.config.config import BurstConfig
    from landbridge.burst.operator.doctor import programs
    from tests.unit.burst.situations import site

    for name in ("landbridge-resume", "landbridge-suspend", "landbridge-resume-fail"):
        (tmp_path / name).touch(0o755)
    (tmp_path / "config").write_text(scontrol_output.format(tmp_path))
    (tmp_path / "scontrol").write_text(f"#!/bin/sh\ncat {tmp_path}/config\n")
    (tmp_path / "scontrol").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert len(list(programs(BurstConfig(site()), time.time()))) == finding_count
