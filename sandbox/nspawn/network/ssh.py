"""SSH to lab nodes with the lab's key, from the operator's namespace, and a check that sshd answers."""

import socket
from pathlib import Path

from sandbox.nspawn.host import shell
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.locks import locked
from sandbox.nspawn.network import netns


def ensure_key(lab: Layout) -> None:
    """The key pair that opens every node of this lab, made once."""
    with locked(lab.state / "key.lock"):
        if not lab.public_key.exists():
            lab.private_key.unlink(missing_ok=True)
            shell.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", lab.name, "-f", lab.private_key])


def make_host_key(folder: Path) -> None:
    """A node's own identity; made here, since a node that made it at boot would boot slower."""
    folder.mkdir(parents=True, exist_ok=True)
    shell.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder / "ssh_host_ed25519_key"])


def options(lab: Layout) -> list[str]:
    """Nodes come and go under the same addresses, so nothing is remembered of them."""
    settings = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "ConnectTimeout=5")
    return ["-F", "none", "-i", str(lab.private_key), *(word for setting in settings for word in ("-o", setting))]


def command(lab: Layout, address: str, *extra: str) -> list[str]:
    """An ssh command line to a node, from inside the lab's network."""
    inside = ["nsenter", f"--net={netns.FOLDER / lab.netns}"]
    return [*inside, "ssh", *options(lab), *extra, "--", f"root@{address}"]


def greets(lab: Layout, address: str, seconds: float = 1) -> bool:
    """True when an SSH server answers with its banner."""
    with netns.socket_in(lab.netns, socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        try:
            connection.connect((address, 22))
            return connection.recv(4) == b"SSH-"
        except OSError:
            return False
