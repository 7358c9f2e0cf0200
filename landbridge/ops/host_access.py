"""Access of the site's timers to hosts: an account with a forced command (role host_access) in place of the operator's ssh.

The units of the role site_timers name the settings in a variable. The private key is a credential of the unit.
"""

import json
import os
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: File with account, known_hosts and port.
VARIABLE = "LANDBRIDGE_HOST_ACCESS"
SOCKET = "/run/landbridge-host-access.sock"
_TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class ForcedCommand:
    """ssh to the account of the forced command. `key`: file of the private key."""

    account: str
    known_hosts: str
    port: int
    key: str

    def ssh(self, address: str) -> list[str]:
        """Return the ssh command line; a permitted request is appended to it. The host key must be known."""
        settings = ["BatchMode=yes", "StrictHostKeyChecking=yes", f"UserKnownHostsFile={self.known_hosts}"]
        settings += [
            "GlobalKnownHostsFile=/dev/null",
            "UpdateHostKeys=no",
            "IdentitiesOnly=yes",
            "LogLevel=ERROR",
            "ConnectTimeout=10",
        ]
        options = [word for setting in settings for word in ("-o", setting)]
        destination = f"{self.account}@{address}"
        return ["ssh", "-F", "none", "-T", "-p", str(self.port), *options, "-i", self.key, "--", destination]

    def answer(self, address: str, words: str) -> str | None:
        """Return a host's answer; None if it did not answer, or refused."""
        command = [*self.ssh(address), words]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout if done.returncode == 0 else None

    def repair(self, address: str, words: str) -> tuple[bool, str]:
        """Ask a node for a repair; return whether it was done, and the node's message."""
        command = [*self.ssh(address), words]
        try:
            # A reset of eight GPUs waits for the services that hold them.
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return False, str(error)[:200]
        return done.returncode == 0, (done.stderr or done.stdout).strip()[:200]


def forced_command(variables: Mapping[str, str] = os.environ) -> ForcedCommand | None:
    """Return the access of a timer's unit; None on the operator's machine."""
    file = variables.get(VARIABLE)
    if not file:
        return None
    settings = json.loads(Path(file).read_text())
    key = f"{variables.get('CREDENTIALS_DIRECTORY', '/nonexistent')}/key"
    return ForcedCommand(settings["account"], settings["known_hosts"], int(settings["port"]), key)


def ask(words: str, seconds: float, path: str = SOCKET) -> tuple[int, str, str]:
    """Return exit status, output and errors of root's program on this host for a permitted request. Raises OSError."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(seconds)
        client.connect(path)
        client.sendall(words.encode() + b"\n")
        client.shutdown(socket.SHUT_WR)
        parts = list(iter(lambda: client.recv(65536), b""))
    answer = json.loads(b"".join(parts) or b"{}")
    return int(answer.get("code", 1)), str(answer.get("out", "")), str(answer.get("err", "no answer"))
