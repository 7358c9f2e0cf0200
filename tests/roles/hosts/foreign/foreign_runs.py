"""Runs of one role of the installed collection on the foreign machine: twice, with a snapshot before and after."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.roles import ansible_run
from tests.roles.ansible_run import connection
from tests.roles.hosts.foreign.foreign_host import ADDRESS, HOST, ForeignSite
from tests.roles.hosts.foreign.machine_snapshot import PROGRAM, Snapshot, differences

SNAPSHOT = "/usr/local/sbin/machine-snapshot"
AGAIN = "PLAY [Run the role again]"
#: Task that Ansible reports as changed, with its name before it.
_TASK = re.compile(r"^TASK \[(.*?)\] \*+$|^(changed|fatal): ", re.MULTILINE)


@dataclass(frozen=True)
class RoleRun:
    """Result of a role: the end of the output if it failed, the tasks that changed something in the second run, and the differences."""

    failure: str = ""
    changed_again: list[str] = field(default_factory=list)
    differences: Mapping[str, set[str]] = field(default_factory=dict)
    last: Snapshot | None = None


def snapshot(site: ForeignSite) -> Snapshot:
    """Return the machine's state."""
    return Snapshot.parse(site.on_host(SNAPSHOT))


def prepare(site: ForeignSite) -> None:
    """Build and install the collection as a team does, and copy the program of snapshots."""
    for command in (
        "ansible-galaxy collection build ansible --output-path build",
        "ansible-galaxy collection install build/landbridge-cluster-*.tar.gz --collections-path site/collections",
    ):
        done = site.command(command)
        assert done.returncode == 0, done.stdout
    (site.folder / "site/ansible.cfg").write_text("[defaults]\ncollections_path = collections\n")
    site.put(SNAPSHOT, PROGRAM, "755")


def run(
    site: ForeignSite,
    role: str,
    variables: Mapping[str, Any],
    before: str = "",
    *,
    twice: bool = True,
    first: Snapshot | None = None,
) -> RoleRun:
    """Run a role alone, with its variables only, and once more. `first`: the state after the run before, if there was one."""
    if before:
        prepared = site.result(before)
        if prepared.returncode != 0:
            return RoleRun(f"before the role: {prepared.stdout}{prepared.stderr}", last=first)
    start = snapshot(site) if before or first is None else first
    text, code = play(site, role, variables, twice=twice)
    failure, last = "" if code == 0 else text[-4000:], snapshot(site)
    return RoleRun(failure, changed_tasks(text.partition(AGAIN)[2]), differences(start, last), last)


def play(site: ForeignSite, role: str, variables: Mapping[str, Any], *, twice: bool = True) -> tuple[str, int]:
    """Return the output and the status of Ansible, with the role's files in the installed collection.

    By their short names, because the accelerator knows no collections; the page docs/how-to/use-single-roles.md is followed with their whole names.
    """
    names = ["Run the role", "Run the role again"][: 2 if twice else 1]
    task = {"name": "Include the role", "ansible.builtin.include_role": {"name": role}}
    book = [
        {"name": name, "hosts": "all", "gather_facts": False, "vars": dict(variables), "tasks": [task]}
        for name in names
    ]
    hosts = {"all": {"vars": connection(site.lab), "hosts": {HOST: {"ansible_host": ADDRESS}}}}
    roles = site.folder / "site/collections/ansible_collections/landbridge/cluster/roles"
    played = ansible_run.play(site.lab, site.folder, json.dumps(book, default=str), hosts, timeout=1800, roles=roles)
    return played.text, played.code


def changed_tasks(text: str) -> list[str]:
    """Return the names of the tasks that changed something."""
    tasks, task = [], ""
    for match in _TASK.finditer(text):
        if match[1]:
            task = match[1]
        else:
            tasks.append(task)
    return tasks
