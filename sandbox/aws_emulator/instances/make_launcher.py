"""Choice of the launcher of instances by its name on the command line."""

import shlex
from pathlib import Path

from sandbox.aws_emulator.instances.launcher import Launcher, NoLauncher, ProcessLauncher


def make_launcher(kind: str, state: Path, *, command: str = "", imds: str | None = None) -> Launcher:
    """Return the launcher with the name `kind` on the command line."""
    if kind == "process":
        return ProcessLauncher(shlex.split(command), state / "instances", imds)
    if kind == "lab":
        from sandbox.aws_emulator.instances.lab_launcher import LabLauncher

        return LabLauncher()
    return NoLauncher()
