"""Decisions of the rotation of tunnel keys: the order of the tunnels, and refusals. No gateway and no AWS is changed.

tests/graph/engine/test_up.py renews a key in AWS, and tests/e2e/test_cluster.py runs the playbook.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from landbridge import yaml_text

ROOT = Path(__file__).parents[3]
PLAYBOOKS = ROOT / "ansible/playbooks"
(PLAY,) = yaml_text.load((PLAYBOOKS / "rotate_tunnel_keys.yml").read_text())
ONE_TUNNEL = yaml_text.load((PLAYBOOKS / "tasks/rotate_tunnel_key.yml").read_text())
TUNNELS = [
    {"name": f"aws{number}", "remote_address": f"198.51.100.{number}", "inside_remote": f"169.254.10.{number}"}
    for number in (1, 2)
]


def decide(folder: Path, states: dict[str, str], **variables: Any) -> tuple[int, str]:
    """Run the tasks before AWS is called, with an answer of FRR in which tunnels have these states of their sessions."""
    peers = {
        tunnel["inside_remote"]: {"state": states[tunnel["name"]]} for tunnel in TUNNELS if tunnel["name"] in states
    }
    program = folder / "vtysh"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps({'peers': peers} if peers else {})}\nEND\n")
    program.chmod(0o755)
    (folder / "tunnel.yml").write_text(json.dumps([*ONE_TUNNEL[:2], {"ansible.builtin.debug": {"msg": "changed"}}]))
    tasks = [task for task in PLAY["tasks"] if "ansible.builtin.ping" not in task]
    tasks[-1] = {**tasks[-1], "ansible.builtin.include_tasks": str(folder / "tunnel.yml")}
    book = folder / "book.yml"
    settings = {"site_gateway_tunnels": TUNNELS, "site_gateway_datapath": "kernel", **variables}
    book.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "vars": settings, "tasks": tasks}]))
    completed = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "-i", "localhost,", "-c", "local", book],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{folder}:{os.environ['PATH']}",
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_ROLES_PATH": str(ROOT / "ansible/roles"),
            "ANSIBLE_LOCAL_TEMP": str(folder / "local"),
            "ANSIBLE_NOCOLOR": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return completed.returncode, completed.stdout + completed.stderr


def order(output: str) -> list[str]:
    """Return the names of the included tunnels."""
    lines = [line for line in output.splitlines() if line.startswith("included: ") and "item=" in line]
    return [line.partition("item=")[2].rstrip(") ") for line in lines]


def test_a_tunnel_that_is_down_is_the_first_and_no_other_changes_meanwhile(tmp_path: Path) -> None:
    code, output = decide(tmp_path, {"aws1": "Established", "aws2": "Active"})
    assert order(output) == ["aws2", "aws1"], output
    # Here the tunnel that is down stays down.
    assert code == 2 and "aws1 keeps its key, because aws2 is down." in output


def test_a_link_with_one_active_tunnel_needs_a_permission(tmp_path: Path) -> None:
    states = {"aws1": "Established"}
    code, output = decide(tmp_path, states, site_gateway_datapath="userspace")
    assert code == 2 and "-e rotate_tunnel_alone=true" in output
    code, output = decide(tmp_path, states, site_gateway_datapath="userspace", rotate_tunnel_alone=True)
    assert code == 0 and order(output) == ["aws2", "aws1"]
