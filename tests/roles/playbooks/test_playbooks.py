"""Playbooks for a running cluster: they require explicit hosts, and their comments contain the command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from landbridge import yaml_text

ROOT = Path(__file__).parents[3]
PLAYBOOKS, ROLES = ROOT / "ansible/playbooks", str(ROOT / "ansible/roles")


def play(tmp_path: Path, name: str, *words: str) -> str:
    """Run a playbook for the sandbox's environment; assert that it fails before it connects to a host."""
    completed = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            "-i",
            "stacks/Pulumi.sandbox.yaml",
            PLAYBOOKS / name,
            *words,
        ],
        cwd=ROOT,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "ANSIBLE_NOCOLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 2 and "unreachable=1" not in completed.stdout, completed.stdout + completed.stderr
    return completed.stdout + completed.stderr


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("add_node.yml", (), "--limit does not name new nodes and all controllers"),
        ("add_node.yml", ("--limit", "dgx02"), "--limit does not name new nodes and all controllers"),
        ("add_node.yml", ("--limit", "slurm_controller"), "--limit does not name new nodes and all controllers"),
        ("remove_node.yml", (), "the environment file still lists it"),
        ("remove_node.yml", ("-e", "node=dgx02"), "the environment file still lists it"),
        ("replace_gpu.yml", ("-e", "step=out"), "--limit does not name one node, or step is not"),
        ("replace_gpu.yml", ("--limit", "dgx*", "-e", "step=out"), "--limit does not name one node, or step is not"),
        ("replace_gpu.yml", ("--limit", "dgx01"), "--limit does not name one node, or step is not"),
        ("reboot_nodes.yml", (), "name the nodes"),
    ],
)
def test_a_playbook_without_explicit_hosts_is_refused(
    tmp_path: Path, name: str, words: tuple[str, ...], message: str
) -> None:
    assert message in play(tmp_path, name, *words)


def test_add_node_imports_the_sites_playbook() -> None:
    """Only site.yml lists the roles of a node."""
    plays = yaml_text.load((PLAYBOOKS / "add_node.yml").read_text())
    assert [item.get("ansible.builtin.import_playbook") for item in plays] == [None, "../site.yml", None]


def test_the_sites_playbook_restarts_nodes_in_service_last() -> None:
    imported = [
        item["ansible.builtin.import_playbook"] for item in yaml_text.load((PLAYBOOKS.parent / "site.yml").read_text())
    ]
    assert imported[-1] == "playbooks/restart_due_nodes.yml"


def test_the_sites_playbook_imports_every_part_once_with_the_secrets() -> None:
    """Ansible reads group_vars beside the playbook of each play."""
    imported = [
        item["ansible.builtin.import_playbook"] for item in yaml_text.load((PLAYBOOKS.parent / "site.yml").read_text())
    ]
    parts = sorted(f"playbooks/parts/{path.name}" for path in (PLAYBOOKS / "parts").glob("*.yml"))
    assert parts and sorted(imported[:-1]) == parts
    assert (PLAYBOOKS / "parts/group_vars").resolve() == (PLAYBOOKS.parent / "group_vars").resolve()


def test_every_playbook_contains_its_command() -> None:
    for path in PLAYBOOKS.glob("*.yml"):
        assert f"ansible/playbooks/{path.name}" in path.read_text(), path.name


SCONTROL = """#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> calls
[ "$1" = show ] || exit 0
busy=$(grep -c ^show calls)
[ "$busy" -lt 3 ] && state='"MIXED", "DRAIN"' || state='"IDLE", "DRAIN"'
echo '{"nodes": [{"name": "dgx02", "state": ['"$state"']}]}'
"""


@pytest.fixture
def controller(tmp_path: Path) -> Path:
    """Write an inventory with this host as controller and node, and a stand-in of scontrol: the job ends at query 3."""
    (tmp_path / "scontrol").write_text(SCONTROL)
    (tmp_path / "scontrol").chmod(0o755)
    groups = {"slurm_controller": {"hosts": {"ctl01": {}}}, "slurm_node": {"hosts": {"dgx01": {}, "dgx02": {}}}}
    variables = {"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3"}
    (tmp_path / "hosts.yml").write_text(json.dumps({"all": {"vars": variables, "children": groups}}))
    return tmp_path


def play_locally(controller: Path, name: str, *words: str) -> tuple[int, str, list[str]]:
    """Run a playbook with that inventory; return its exit status, its output, and the calls of scontrol."""
    completed = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "-i", "hosts.yml", PLAYBOOKS / name, *words],
        cwd=controller,
        env={
            "PATH": f"{controller}:/usr/bin:/bin",
            "HOME": str(controller),
            "ANSIBLE_NOCOLOR": "1",
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_ROLES_PATH": ROLES,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    calls = controller / "calls"
    return (
        completed.returncode,
        completed.stdout + completed.stderr,
        calls.read_text().splitlines() if calls.exists() else [],
    )


def test_a_node_is_shut_down_only_when_its_jobs_have_ended(controller: Path) -> None:
    words = ("--limit", "dgx02", "-e", "step=out", "-e", "power_off=false", "-e", "reason='GPU 3, ask Kim'")
    code, output, calls = play_locally(controller, "replace_gpu.yml", *words)
    assert code == 0, output
    assert calls == ["update nodename=dgx02 state=drain reason=GPU 3, ask Kim", *["show node dgx02 --json"] * 3]
    (controller / "calls").unlink()
    code, output, calls = play_locally(controller, "replace_gpu.yml", *words, "-e", "node_wait=5")
    assert code == 2 and "Wait for the node's jobs to end" in output, "the timeout ended before the job"


def test_a_node_with_a_job_is_not_removed(controller: Path) -> None:
    (controller / "hosts.yml").write_text((controller / "hosts.yml").read_text().replace(', "dgx02": {}', ""))
    code, output, calls = play_locally(controller, "remove_node.yml", "-e", "node=dgx02")
    assert code == 2 and "dgx02 is mixed+drain: landbridge node drain dgx02, and wait for its jobs" in output
    assert calls == ["show nodes --json"]
