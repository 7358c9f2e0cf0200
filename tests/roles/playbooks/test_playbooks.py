"""Playbooks of a running cluster: they work on nothing but what is named, and say how it is named."""

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
    """Run a playbook for the sandbox's environment; it has to end with a failure, before it reaches a host."""
    done = subprocess.run(
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
        timeout=120,
        check=False,
    )
    assert done.returncode == 2 and "unreachable=1" not in done.stdout, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "words", "said"),
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
def test_nothing_happens_to_what_is_not_named(tmp_path: Path, name: str, words: tuple[str, ...], said: str) -> None:
    assert said in play(tmp_path, name, *words)


def test_a_node_that_joins_gets_what_the_site_says() -> None:
    """No list of roles beside site.yml's: what a node is, is said once."""
    plays = yaml_text.load((PLAYBOOKS / "add_node.yml").read_text())
    assert [one.get("ansible.builtin.import_playbook") for one in plays] == [None, "../site.yml", None]


def test_every_playbook_says_how_it_is_called() -> None:
    for path in PLAYBOOKS.glob("*.yml"):
        assert f"ansible/playbooks/{path.name}" in path.read_text(), path.name


SCONTROL = """#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> told
[ "$1" = show ] || exit 0
busy=$(grep -c ^show told)
[ "$busy" -lt 3 ] && state='"MIXED", "DRAIN"' || state='"IDLE", "DRAIN"'
echo '{"nodes": [{"name": "dgx02", "state": ['"$state"']}]}'
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """This machine as a controller and a node, with a stand-in of scontrol: a job of the node's ends at the third look."""
    (tmp_path / "scontrol").write_text(SCONTROL)
    (tmp_path / "scontrol").chmod(0o755)
    groups = {"slurm_controller": {"hosts": {"ctl01": {}}}, "slurm_node": {"hosts": {"dgx01": {}, "dgx02": {}}}}
    own = {"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3"}
    (tmp_path / "hosts.yml").write_text(json.dumps({"all": {"vars": own, "children": groups}}))
    return tmp_path


def play_here(here: Path, name: str, *words: str) -> tuple[int, str, list[str]]:
    """Run a playbook there; what it came to, what it said, and what Slurm was told."""
    done = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "-i", "hosts.yml", PLAYBOOKS / name, *words],
        cwd=here,
        env={
            "PATH": f"{here}:/usr/bin:/bin",
            "HOME": str(here),
            "ANSIBLE_NOCOLOR": "1",
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_ROLES_PATH": ROLES,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    told = here / "told"
    return done.returncode, done.stdout + done.stderr, told.read_text().splitlines() if told.exists() else []


def test_a_node_is_shut_down_only_when_its_jobs_have_ended(here: Path) -> None:
    words = ("--limit", "dgx02", "-e", "step=out", "-e", "power_off=false", "-e", "reason='GPU 3, ask Kim'")
    code, said, told = play_here(here, "replace_gpu.yml", *words)
    assert code == 0, said
    assert told == ["update nodename=dgx02 state=drain reason=GPU 3, ask Kim", *["show node dgx02 --json"] * 3]
    (here / "told").unlink()
    code, said, told = play_here(here, "replace_gpu.yml", *words, "-e", "node_wait=5")
    assert code == 2 and "Wait for the node's jobs to end" in said, "its time was over before the job's"


def test_a_node_with_a_job_does_not_leave(here: Path) -> None:
    (here / "hosts.yml").write_text((here / "hosts.yml").read_text().replace(', "dgx02": {}', ""))
    code, said, told = play_here(here, "remove_node.yml", "-e", "node=dgx02")
    assert code == 2 and "dgx02 is mixed+drain: landbridge node drain dgx02, and wait for its jobs" in said
    assert told == ["show nodes --json"]
