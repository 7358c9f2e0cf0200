"""Runs of Ansible roles on the hosts of a lab: in the lab's network, as operators run them, with parsed results."""

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
    def one_line(self) -> str:
        """Return the whole output on one line, because messages are folded."""
        return " ".join(self.text.split())

    @property
    def changed(self) -> dict[str, int]:
        return {name: counts["changed"] for name, counts in self.counts.items()}

    def good(self) -> "Played":
        """Return the run; fail with the end of its output if Ansible failed."""
        assert self.code == 0, self.text[-5000:]
        return self


def recap(text: str) -> Counts:
    """Parse Ansible's last lines: the numbers of tasks that were ok, changed, failed and so on, by host."""
    counts = {}
    for line in text.rpartition("PLAY RECAP")[2].splitlines()[1:]:
        name, _, numbers = line.partition(":")
        if "ok=" in numbers:
            counts[name.strip()] = {key: int(number) for key, number in (word.split("=") for word in numbers.split())}
    return counts


def connection(lab: Layout) -> dict[str, Any]:
    """Return the variables with which Ansible connects to every host of a lab."""
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
    roles: Path = ROOT / "ansible/roles",
) -> Played:
    """Run plays (a playbook's path, its text, or its plays) on `hosts`.

    `hosts`: a static inventory, or the output of the plan's inventory program.

    `fast`: with the sandbox's accelerator, which reuses its own connections; `roles`: the folder of the roles.
    """
    book = plays if isinstance(plays, Path) else folder / "playbook.yml"
    if not isinstance(plays, Path):
        book.write_text(plays if isinstance(plays, str) else json.dumps(plays))
    listing_text = json.dumps(hosts, default=str)
    listing = folder / ("hosts" if "_meta" in hosts else "hosts.json")
    listing.write_text(f"#!/bin/sh\ncat <<'END'\n{listing_text}\nEND\n" if "_meta" in hosts else listing_text)
    listing.chmod(0o755)
    program = Path(sys.executable).with_name("ansible-playbook")
    completed = subprocess.run(
        ["nsenter", f"--net={netns.FOLDER / lab.netns}", program, "-i", listing, book, *words],
        cwd=ROOT,
        env={
            **os.environ,
            **(fast_ansible_variables() if fast else {}),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_ROLES_PATH": str(roles),
            "ANSIBLE_INVENTORY_ENABLED": "script" if "_meta" in hosts else "yaml",
            "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
            "ANSIBLE_NOCOLOR": "1",
            # Control sockets are named by address, and another lab may have the same addresses.
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(folder / "cp"),
        },
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Played(completed.returncode, completed.stdout + completed.stderr, recap(completed.stdout))
