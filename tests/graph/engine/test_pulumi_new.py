"""`pulumi new` from a copy of the repository, with the real CLI and no network: the fork is named, finished and previewed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.conftest import ROOT

pytestmark = [pytest.mark.engine]
#: What a clone has and the program needs; the rest would only take time to copy.
PARTS = ("Pulumi.yaml", "pyproject.toml", "README.md", "stacks", "components", "landbridge", "sandbox")


def test_a_fork_by_pulumi_new_is_ready_for_a_preview(engine: Engine, cloud: EmulatorProcess, tmp_path: Path) -> None:
    clone, fork = tmp_path / "clone", tmp_path / "fork"
    clone.mkdir()
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, clone / part, ignore=shutil.ignore_patterns("__pycache__", ".venv"))
        else:
            shutil.copy(ROOT / part, clone)
    output = _run(
        tmp_path, "pulumi", "new", str(clone), "--dir", str(fork), "--yes", "--name", "acme", "--stack", "acme"
    )
    assert "landbridge new STACK" in output
    text = (fork / "Pulumi.yaml").read_text()
    assert text.startswith("name: acme\n") and "template:" not in text.split("config:")[0]
    assert "aws:region: us-east-1" in (fork / "stacks" / "Pulumi.acme.yaml").read_text()
    # The stack has no environment yet, which the program reports in one sentence.
    refused = _run(fork, "pulumi", "preview", "-s", "acme", "--non-interactive", ok=False)
    assert "landbridge new acme" in refused and "Traceback" not in refused, refused

    words = ("new", "acme", "--from", "sandbox", "--owner", "ml@acme.example")
    _run(fork, sys.executable, "-m", "landbridge.cli.main", *words)
    file = fork / "stacks" / "Pulumi.acme.yaml"
    assert "encryptionsalt: " in file.read_text()
    file.write_text(file.read_text().replace("http://127.0.0.1:4580", cloud.endpoint))
    _run(fork, sys.executable, "-m", "landbridge.cli.main", "check", "-s", "acme")
    assert "to create" in _run(fork, "pulumi", "preview", "-s", "acme", "--non-interactive")


def _run(folder: Path, *command: str, ok: bool = True) -> str:
    """Run a command with the fork's own code, and return its output."""
    environ = {**os.environ, "PYTHONPATH": str(folder), "PULUMI_ERROR_OUTPUT_STRING": "true"}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is ok, done.stdout + done.stderr
    return done.stdout + done.stderr
