"""Reboot of a node from inside, and the wait for its next boot."""

import time

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes


def reboot(lab: Layout, name: str, seconds: float = 300) -> None:
    """Run `systemctl reboot` in the node; return when sshd of the next boot answers.

    The supervisor starts another container for each boot: until then an answer can be the old boot's. Raises LabError if
    the old container has not ended, or sshd has not answered, after `seconds`.
    """
    identity = lab.node(name) / "nspawn.pid"
    before = identity.read_text()
    nodes.exec(lab, name, ["systemctl reboot"])
    deadline = time.monotonic() + seconds
    while identity.read_text() == before:
        if time.monotonic() > deadline:
            raise LabError(f"node {name} has not shut down after {seconds:.0f} s:\n{nodes.console(lab, name)}")
        time.sleep(0.05)
    nodes.wait_ssh(lab, [name], seconds)
