"""Roles on the hosts of a lab: Ansible run as operators run it, in the lab's network, and its answer read in one way."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.fast_ansible import fast_ansible_variables
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.network import netns, ssh

ROOT = Path(__file__).parents[2]
Counts = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Played:
    """Result of one run: Ansible's exit status, its output, and its counts by host."""

    code: int
    text: str
    counts: Counts

    @property
    def said(self) -> str:
        """All of it on one line, because messages are folded."""
        return " ".join(self.text.split())

    @property
    def changed(self) -> dict[str, int]:
        return {name: one["changed"] for name, one in self.counts.items()}

    def good(self) -> "Played":
        """The same, where it succeeded; the end of what it said, where not."""
        assert self.code == 0, self.text[-5000:]
        return self


def recap(text: str) -> Counts:
    """Ansible's last lines: how many tasks were ok, changed, failed and so on, by host."""
    found = {}
    for line in text.rpartition("PLAY RECAP")[2].splitlines()[1:]:
        name, _, rest = line.partition(":")
        if "ok=" in rest:
            found[name.strip()] = {key: int(number) for key, number in (word.split("=") for word in rest.split())}
    return found


def connection(lab: Layout) -> dict[str, Any]:
    """Variables with which Ansible gets into every host of a lab."""
    return {
        "ansible_user": "root",
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_ssh_private_key_file": str(lab.private_key),
        "ansible_ssh_common_args": " ".join(ssh.options(lab)),
    }


def play(
    lab: Layout,
    folder: Path,
    plays: Path | str | Sequence[Mapping[str, Any]],
    hosts: Mapping[str, Any],
    *words: str | Path,
    fast: bool = True,
    timeout: float = 400,
) -> Played:
    """Run plays (a playbook's path, its text, or its plays) on `hosts`, a static inventory or what the plan's program says.

    `fast`: with the sandbox's accelerator, which keeps its own connections.
    """
    book = plays if isinstance(plays, Path) else folder / "playbook.yml"
    if not isinstance(plays, Path):
        book.write_text(plays if isinstance(plays, str) else json.dumps(plays))
    told = json.dumps(hosts, default=str)
    listing = folder / ("hosts" if "_meta" in hosts else "hosts.json")
    listing.write_text(f"#!/bin/sh\ncat <<'END'\n{told}\nEND\n" if "_meta" in hosts else told)
    listing.chmod(0o755)
    program = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run(
        ["nsenter", f"--net={netns.FOLDER / lab.netns}", program, "-i", listing, book, *words],
        cwd=ROOT,
        env={
            **os.environ,
            **(fast_ansible_variables() if fast else {}),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_ROLES_PATH": str(ROOT / "ansible/roles"),
            "ANSIBLE_INVENTORY_ENABLED": "script" if "_meta" in hosts else "yaml",
            "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
            "ANSIBLE_NOCOLOR": "1",
            # Connections are kept by address, and another lab may have the same ones.
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(folder / "cp"),
        },
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Played(done.returncode, done.stdout + done.stderr, recap(done.stdout))
