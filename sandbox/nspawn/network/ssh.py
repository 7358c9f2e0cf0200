"""SSH to lab nodes with the lab's key, from the operator's namespace, and a check that sshd answers."""

import socket
from pathlib import Path

from sandbox.nspawn.host import shell
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.locks import locked
from sandbox.nspawn.network import netns


def ensure_key(lab: Layout) -> None:
    """Create the key pair for root on every node of this lab, unless it exists."""
    with locked(lab.state / "key.lock"):
        if not lab.public_key.exists():
            lab.private_key.unlink(missing_ok=True)
            shell.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", lab.name, "-f", lab.private_key])


def make_host_key(folder: Path) -> None:
    """Create a node's SSH host key in `folder`; creating it at boot would make the boot slower."""
    folder.mkdir(parents=True, exist_ok=True)
    shell.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder / "ssh_host_ed25519_key"])


def options(lab: Layout) -> list[str]:
    """Return ssh's options. Host keys are not stored: later nodes reuse the addresses with new keys."""
    settings = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "ConnectTimeout=5")
    return ["-F", "none", "-i", str(lab.private_key), *(word for setting in settings for word in ("-o", setting))]


def command(lab: Layout, address: str, *extra: str) -> list[str]:
    """Return an ssh command line to a node, run inside the lab's network namespace."""
    inside = ["nsenter", f"--net={netns.FOLDER / lab.netns}"]
    return [*inside, "ssh", *options(lab), *extra, "--", f"root@{address}"]


def greets(lab: Layout, address: str, seconds: float = 1) -> bool:
    """Return true if an SSH server answers with its banner."""
    with netns.socket_in(lab.netns, socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        try:
            connection.connect((address, 22))
            return connection.recv(4) == b"SSH-"
        except OSError:
            return False
