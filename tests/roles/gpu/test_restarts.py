"""Restarts of twenty nodes that all want a driver: the batches of site.yml, and the failure budget."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.plan.ansible.inventory import inventory
from sandbox.fast_ansible import fast_ansible_variables
from tests.roles.ansible_run import ROOT
from tests.unit.core.samples import environment

NODES = [f"dgx{number:02}" for number in range(1, 21)]
# Stand-ins for a host with slurmd, and for Slurm: the state and reason of each node are in a file of its name.
PROGRAMS = {
    "systemctl": "#!/bin/sh\nexit 0\n",
    "scontrol": """#!/bin/sh
show() { echo "NodeName=$1 Arch=x86_64 State=$(cat "$LAB_SLURM/$1") Partitions=all"; }
[ "$3" = nodes ] || { show "$4"; exit; }
for file in "$LAB_SLURM"/*; do show "${file##*/}"; done
""",
}


def last_play(tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the play that restarts nodes at the end of site.yml, with the check of the budget and then `tasks`."""
    imported = yaml_text.load((ROOT / "ansible/site.yml").read_text())[-1]["ansible.builtin.import_playbook"]
    restart = yaml_text.load((ROOT / "ansible" / imported).read_text())[-1]
    assert restart["tasks"][0]["ansible.builtin.include_role"] == {"name": "node_restart", "tasks_from": "budget"}
    return {**restart, "tasks": [restart["tasks"][0], *tasks]}


def run(folder: Path, states: Mapping[str, str], **variables: Any) -> tuple[int, list[list[str]], str]:
    """Run the play on this machine for all nodes; return the exit status, the nodes of each batch, and the output.

    A node that the play reaches becomes DOWN and is IDLE at the end of its batch, like a restarted one.
    """
    slurm, programs = folder / "slurm", folder / "bin"
    for path in (slurm, programs):
        path.mkdir()
    for name in NODES:
        (slurm / name).write_text(states.get(name, "IDLE"))
    for name, text in PROGRAMS.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    changes = {("onprem", "nodes", 0, "hosts"): "dgx[01-20]", ("onprem", "driver"): {"reboot": "drained"}}
    data = inventory(environment(changes))
    local = {"ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": sys.executable}
    hosts = {name: {**data["_meta"]["hostvars"][name], **local, **variables} for name in NODES}
    # As in site.yml, it is not the first play: Ansible has no hostvars before.
    first = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": []}
    book, listing = folder / "plays.json", folder / "hosts.json"
    drill = [
        {"name": "Restart", "ansible.builtin.lineinfile": {"path": str(slurm / "{{ inventory_hostname }}"), "regexp": ".", "line": "DOWN*+DRAIN"}},
        {"name": "Batch", "ansible.builtin.debug": {"msg": "batch {{ ansible_play_batch | join(',') }} end"}, "run_once": True},
        {"name": "Return", "ansible.builtin.lineinfile": {"path": str(slurm / "{{ inventory_hostname }}"), "regexp": ".", "line": "IDLE"}},
    ]  # fmt: skip
    book.write_text(json.dumps([first, last_play(drill)]))
    groups = {"slurm_node": {"hosts": hosts}, "landbridge_restart_due": {"hosts": dict.fromkeys(NODES)}}
    listing.write_text(json.dumps({"all": {"children": groups}}))
    code, output = ansible(listing, book, {"LAB_SLURM": str(slurm), "PATH": f"{programs}:{os.environ['PATH']}"})
    batches = [part.partition(" end")[0].split(",") for part in output.split("msg: batch ")[1:]]
    return code, batches, output


def ansible(listing: Path, book: Path, variables: Mapping[str, str]) -> tuple[int, str]:
    """Run a playbook with these environment variables; return the exit status, and the output on one line."""
    completed = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "-i", listing, book],
        env={
            **os.environ,
            **fast_ansible_variables(),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_ROLES_PATH": str(ROOT / "ansible/roles"),
            "ANSIBLE_INVENTORY_ENABLED": "yaml",
            "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
            **variables,
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return completed.returncode, " ".join((completed.stdout + completed.stderr).split())


def test_twenty_nodes_that_all_want_a_driver_are_restarted_one_after_another(tmp_path: Path) -> None:
    # One of them is out of service for a repair, which the failure budget of two allows for.
    code, batches, output = run(
        tmp_path, {"dgx20": "IDLE+DRAIN"}, node_restart_at_once=4, node_restart_out_of_service=5
    )
    assert code == 0, output[-3000:]
    assert [len(batch) for batch in batches] == [4] * 5 and sorted(name for batch in batches for name in batch) == NODES


@pytest.mark.parametrize("state", ["IDLE+DRAIN", "IDLE*"])
def test_no_node_is_drained_beyond_the_failure_budget(tmp_path: Path, state: str) -> None:
    code, batches, output = run(tmp_path, {"dgx19": state, "dgx20": state})
    assert code == 2 and batches == []
    assert "2 other nodes are out of service (dgx19, dgx20), and 1 would be drained now, but at most 2 may be" in output


def test_a_restart_keeps_the_drain_of_a_person_and_replaces_landbridges_own(tmp_path: Path) -> None:
    reasons = {
        "dgx01": "",
        "dgx02": "new fans, ask Kim",
        "dgx03": "landbridge: restart: firmware",
        "dgx04": "landbridge:rows:GPU 2 needs a reset; do: reset",
    }
    for name, reason in reasons.items():
        state = ["IDLE", "DRAIN"] if reason else ["IDLE"]
        (tmp_path / name).write_text(json.dumps({"nodes": [{"state": state, "reason": reason}]}))
    scontrol = tmp_path / "scontrol"
    scontrol.write_text('#!/bin/sh\n[ "$1" = update ] && echo "$2" >> "$LAB/updates" || cat "$LAB/$3"\n')
    scontrol.chmod(0o755)
    variables = {"node_reason": "landbridge: restart: firmware", "node_kept": True, "ansible_connection": "local"}
    variables |= {"ansible_python_interpreter": sys.executable}
    groups = {"slurm_node": {"hosts": dict.fromkeys(reasons)}, "slurm_controller": {"hosts": {"ctl01": None}}}
    tasks = [{"name": "Drain", "ansible.builtin.include_tasks": str(ROOT / "ansible/playbooks/tasks/drain.yml")}]
    (tmp_path / "play.json").write_text(json.dumps([{"hosts": "slurm_node", "gather_facts": False, "tasks": tasks}]))
    (tmp_path / "hosts.json").write_text(json.dumps({"all": {"children": groups, "vars": variables}}))
    environ = {"LAB": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    code, output = ansible(tmp_path / "hosts.json", tmp_path / "play.json", environ)
    assert code == 0, output[-3000:]
    updates = (tmp_path / "updates").read_text().split()
    assert sorted(updates) == ["nodename=dgx01", "nodename=dgx03", "nodename=dgx04"]
