"""Peer that starts nodes in AWS for Slurm: ParallelCluster's node package in a separate Python."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.burst.site import PEER_NODE, REGION
from landbridge.paths import cache_dir
from sandbox.aws_emulator.process import EmulatorProcess

VERSION = "3.16.1"
PACKAGE = f"aws-parallelcluster-node=={VERSION}"
NAME = f"ParallelCluster {VERSION}"
HERE = Path(__file__).parent


class Unavailable(Exception):
    """Peer that cannot be measured on this machine; the message is the reason in one line."""


@dataclass(frozen=True)
class Peer:
    """Python in which the peer is installed."""

    python: Path

    def resume(self, folder: Path, nodes: int) -> tuple[str, ...]:
        """Return the command of ParallelCluster's resume program."""
        program = HERE / "parallelcluster_resume.py"
        return str(self.python), str(program), str(folder / "resume.conf"), f"{PEER_NODE}[1-{nodes}]"

    def environ(self, cloud: EmulatorProcess) -> Mapping[str, str]:
        return {**cloud.environment(), "AWS_DEFAULT_REGION": REGION}


def install() -> Peer:
    """Install the package into the cache folder on first use, about 60 MB. Raises Unavailable."""
    home = cache_dir("bench") / f"parallelcluster-node-{VERSION}"
    python, stamp = home / "bin" / "python", home / "installed"
    if not stamp.is_file():
        print(f"installing {PACKAGE} once, in {home}", flush=True)
        shutil.rmtree(home, ignore_errors=True)
        _step(sys.executable, "-m", "venv", str(home))
        _step(str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", PACKAGE)
        stamp.write_text(PACKAGE + "\n")
    return Peer(python)


def _step(*command: str) -> None:
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]}: {error}") from None
    if completed.returncode != 0:
        raise Unavailable(" ".join((completed.stderr or completed.stdout).split())[-300:] or "no message")
