"""Launchers: they run no machine, a local process, or a lab node for an instance."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class LaunchedInstance:
    """Instance for a launcher. `tags` are those of the launch call: later tags come through the metadata service.

    An instance with a `failure` never runs: EC2 ends it with this reason.
    """

    id: str
    type: str
    address: str
    zone: str
    image: str
    tags: Mapping[str, str] = field(default_factory=dict)
    user_data: bytes = b""
    failure: str = ""


class Launcher(Protocol):
    """Interface of launchers.

    `launch` and `terminate` are called once per instance, in this order, from several threads; each may take seconds.
    """

    def launch(self, instance: LaunchedInstance) -> None:
        """Start the machine and return; an exception makes the instance fail with Server.InternalError."""

    def terminate(self, instance_id: str) -> None:
        """Remove the machine completely and return. An unknown id is not an error."""

    def console(self, instance_id: str) -> bytes:
        """Return the end of the machine's console, also after its end; empty for a machine without one."""

    def switched_off(self, instance_id: str) -> bool:
        """Return whether the machine has shut itself down cleanly.

        A failed process counts as running: a host failure is not a shutdown.
        """


class NoLauncher:
    """Launcher without machines: instances exist in the API only."""

    def launch(self, instance: LaunchedInstance) -> None:
        pass

    def terminate(self, instance_id: str) -> None:
        pass

    def console(self, instance_id: str) -> bytes:
        return b""

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

    def console(self, instance_id: str) -> bytes:
        log = self._logs / f"{instance_id}.log"
        return log.read_bytes() if log.exists() else b""

    def switched_off(self, instance_id: str) -> bool:
        process = self._running.get(instance_id)
        return process is not None and process.poll() == 0


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return
