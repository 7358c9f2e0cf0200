"""Launchers: the machine behind an instance is nothing, a local process, or a lab node."""

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class LaunchedInstance:
    """Instance as a launcher sees it. `tags` are those of the launch call: later ones come through the metadata service."""

    id: str
    type: str
    address: str
    zone: str
    image: str
    tags: Mapping[str, str] = field(default_factory=dict)
    user_data: bytes = b""


class Launcher(Protocol):
    """Both calls may take seconds, come from several threads, and are made once for each instance, in this order."""

    def launch(self, instance: LaunchedInstance) -> None:
        """Return when the machine is started; raise to make the instance fail with Server.InternalError."""

    def terminate(self, instance_id: str) -> None:
        """Return when nothing of the machine is left. An unknown id is no error."""

    def switched_off(self, instance_id: str) -> bool:
        """Tell whether the machine has shut itself down cleanly. A failed process counts as running: a host failure is no shutdown."""


class NoLauncher:
    """Instances exist in the API only."""

    def launch(self, instance: LaunchedInstance) -> None:
        pass

    def terminate(self, instance_id: str) -> None:
        pass

    def switched_off(self, instance_id: str) -> bool:
        return False


class ProcessLauncher:
    """Launcher of one local process (`command`) for each instance; environment variables describe the instance."""

    def __init__(self, command: Sequence[str], logs: Path, imds: str | None = None) -> None:
        if not command:
            raise ValueError("the process launcher needs a command")
        self._command, self._logs, self._imds = list(command), logs, imds
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        logs.mkdir(parents=True, exist_ok=True)

    def launch(self, instance: LaunchedInstance) -> None:
        environment = dict(os.environ)
        environment |= {"SANDBOX_INSTANCE_ID": instance.id, "SANDBOX_INSTANCE_ADDRESS": instance.address}
        if self._imds:
            environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = f"http://{self._imds}"
        with (self._logs / f"{instance.id}.log").open("ab") as log:
            self._running[instance.id] = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
            )

    def terminate(self, instance_id: str) -> None:
        process = self._running.pop(instance_id, None)
        if process is None or process.poll() is not None:
            return
        _signal_group(process, signal.SIGTERM)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            _signal_group(process, signal.SIGKILL)
            process.wait()

    def switched_off(self, instance_id: str) -> bool:
        process = self._running.get(instance_id)
        return process is not None and process.poll() == 0


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


def make_launcher(kind: str, state: Path, *, command: str = "", imds: str | None = None) -> Launcher:
    """The launcher called `kind` on the command line."""
    if kind == "process":
        return ProcessLauncher(shlex.split(command), state / "instances", imds)
    if kind == "lab":
        from sandbox.aws_emulator.instances.lab_launcher import LabLauncher

        return LabLauncher()
    return NoLauncher()
