"""Runs of one role of the installed collection on the foreign machine: twice, with a snapshot before and after."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.roles.ansible_run import connection
from tests.roles.hosts.foreign_host import ADDRESS, HOST, ForeignSite
from tests.roles.hosts.machine_snapshot import PROGRAM, Snapshot, differences

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


def run(site: ForeignSite, role: str, variables: Mapping[str, Any], before: str = "", *, twice: bool = True) -> RoleRun:
    """Run a role alone, with its variables only, and once more."""
    if before:
        site.on_host(before)
    first = snapshot(site)
    text, code = play(site, role, variables, twice=twice)
    failure = "" if code == 0 else text[-4000:]
    return RoleRun(failure, changed_tasks(text.partition(AGAIN)[2]), differences(first, snapshot(site)))


def play(site: ForeignSite, role: str, variables: Mapping[str, Any], *, twice: bool = True) -> tuple[str, int]:
    """Return the output and the status of Ansible."""
    names = ["Run the role", "Run the role again"][: 2 if twice else 1]
    task = {"name": "Include the role", "ansible.builtin.include_role": {"name": f"landbridge.cluster.{role}"}}
    book = [
        {"name": name, "hosts": "all", "gather_facts": False, "vars": dict(variables), "tasks": [task]}
        for name in names
    ]
    (site.folder / "site/role.json").write_text(json.dumps(book, default=str))
    hosts = {"all": {"vars": connection(site.lab), "hosts": {HOST: {"ansible_host": ADDRESS}}}}
    (site.folder / "site/hosts.json").write_text(json.dumps(hosts))
    done = site.command("ansible-playbook -i hosts.json role.json", "site")
    return done.stdout, done.returncode


def changed_tasks(text: str) -> list[str]:
    """Return the names of the tasks that changed something."""
    tasks, task = [], ""
    for match in _TASK.finditer(text):
        if match[1]:
            task = match[1]
        else:
            tasks.append(task)
    return tasks
