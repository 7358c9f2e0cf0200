"""Choice of the demonstration's level, and the message if the requested level is not possible."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from landbridge.environment import load_environment
from landbridge.ops.doctor import Diagnosis
from sandbox.aws_emulator.process import running
from sandbox.demo import machine
from sandbox.embedded.stack import EmbeddedStack

ROOT = Path(__file__).resolve().parents[3]


def demo(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "sandbox.demo", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_a_missing_environment_is_reported_in_one_line() -> None:
    done = demo("-s", "nosuch", "--level", "embedded")
    assert done.returncode == 2
    assert "nosuch" in done.stdout and "Traceback" not in done.stdout + done.stderr


def needs(*unmet: str) -> tuple[Diagnosis, ...]:
    every = ("root", "namespaces", "program socat", "memory mib 6000")
    return tuple(Diagnosis(machine.LAB, need, need not in unmet, "as found", "a fix") for need in every)


@pytest.mark.parametrize(
    ("uid", "unmet", "message"),
    [
        (1000, ("root", "program socat"), "root: as found; program socat: as found"),
        (0, ("namespaces",), "namespaces: as found"),
        (0, ("memory mib 6000",), "memory mib 6000: as found"),
    ],
)
def test_unmet_needs_of_a_machine_are_named(monkeypatch: pytest.MonkeyPatch, uid: int, unmet, message: str) -> None:
    monkeypatch.setattr(machine.os, "geteuid", lambda: uid)
    monkeypatch.setattr(machine, "diagnose", lambda: needs(*unmet))
    assert machine.lab() == machine.Ability("lab", False, message)


def test_doctor_still_knows_the_lab() -> None:
    assert machine.lab().name == "lab"


def test_without_an_engine_the_same_graph_is_applied(tmp_path: Path) -> None:
    """Create and destroy the stack of the embedded level on an emulated AWS without instances."""
    environment = load_environment(ROOT / "stacks" / "Pulumi.sandbox.yaml").environment
    assert environment is not None
    with running(tmp_path / "cloud", "--launcher", "none", "--require-credentials") as cloud:
        stack = EmbeddedStack(ROOT / "stacks" / "Pulumi.sandbox.yaml", environment, tmp_path / "project", cloud)
        stack.engine = None
        before = dict(os.environ)
        built = stack.up(print)
        assert built.outputs.pools["p5"].instance_type == "p5.48xlarge"
        assert built.resources["aws:ec2/launchTemplate:LaunchTemplate"] == 1
        assert stack.destroy(print) == sum(built.resources.values())
        assert dict(os.environ) == before
