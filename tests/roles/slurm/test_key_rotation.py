"""Decisions of the key rotation for Slurm: the keys after a step, and whether it is allowed. No host is queried."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.auth_key import has_multiple_keys, key_file
from tests.unit.core.samples import environment

ROOT = Path(__file__).parents[3]
PLAYS = yaml_text.load((ROOT / "ansible/playbooks/rotate_slurm_key.yml").read_text())
SECRETS = ROOT / "ansible/group_vars/all/secrets.yml"


def play(folder: Path, tasks: list[Any], **variables: Any) -> tuple[int, str]:
    """Run tasks of the playbook on this host with the operator's secrets in `folder`; return exit status and output."""
    play_variables = {"landbridge_secrets": str(folder), "landbridge_slurm_keys": True, **variables}
    book = folder / "book.yml"
    whole = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": play_variables,
        "vars_files": [str(SECRETS)],
        "tasks": tasks,
    }
    book.write_text(json.dumps([whole]))
    program = Path(sys.executable).with_name("ansible-playbook")
    completed = subprocess.run(
        [program, "-i", "localhost,", "-c", "local", "-e", f"ansible_python_interpreter={sys.executable}", book],
        cwd=folder,
        env={
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCAL_TEMP": str(folder / "local"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return completed.returncode, completed.stdout + completed.stderr


def task(of: int, name: str) -> Any:
    (matching,) = [candidate for candidate in PLAYS[of]["tasks"] if candidate["name"] == name]
    return matching


def test_a_key_is_added_then_used_and_the_other_dropped_with_repeated_steps(tmp_path: Path) -> None:
    decide = task(1, "Copy the keys to the site's store of secrets")
    file, seen = tmp_path / "slurm-keys.json", []
    for step in ("add", "add", "use", "drop"):
        code, output = play(tmp_path, [decide], slurm_key_step=step)
        assert code == 0, output
        assert file.stat().st_mode & 0o777 == 0o600
        keys = json.loads(file.read_text())
        assert all(len(key["key"]) == 128 for key in keys) and not any(key["key"] in output for key in keys)
        seen.append([(key["id"], key["default"]) for key in keys])
    new = seen[0][1][0]
    assert new.isdigit() and new != "first"
    assert seen[0] == seen[1] == [("first", True), (new, False)]
    assert seen[2] == [("first", False), (new, True)]
    assert seen[3] == [(new, True)]


def test_a_key_is_not_used_while_a_running_cloud_node_lacks_it(tmp_path: Path) -> None:
    booted = {"p5-1": (["IDLE", "CLOUD"], 100), "p5-2": (["IDLE", "CLOUD", "POWERED_DOWN"], 0)}
    booted |= {"p5-3": (["MIXED", "CLOUD"], 900), "dgx01": (["IDLE"], 1)}
    nodes = [{"name": name, "state": state, "boot_time": {"number": at}} for name, (state, at) in booted.items()]
    shown_nodes = {"stdout": json.dumps({"nodes": nodes})}
    check_task = task(0, "Assert that every running cloud node has the newest key")
    keys = [{"id": "first", "default": True}, {"id": "second", "since": 500}]
    common = {"slurm_key_nodes": shown_nodes, "slurm_common_keys": keys}
    # vars_files override the variables of a play; task variables override both.
    check_task = {**check_task, "vars": {**check_task["vars"], **common}}
    code, output = play(tmp_path, [check_task], slurm_key_step="use")
    assert code != 0 and "do not have it: p5-1." in output, output
    assert play(tmp_path, [check_task], slurm_key_step="drop")[0] == 0


@pytest.mark.parametrize(
    ("version", "auth", "file"),
    [("26.05", "slurm", "slurm.jwks"), ("24.05", "slurm", "slurm.jwks"), ("23.11", "slurm", "slurm.key")],
)
def test_hosts_of_both_sites_use_the_same_key_file(version: str, auth: str, file: str) -> None:
    slurm = {"version": version, "packages_release": "own"}
    site = environment({("scheduler", "slurm"): slurm, ("scheduler", "auth"): auth})
    assert key_file(site) == f"/etc/slurm/{file}" and has_multiple_keys(site) == (file == "slurm.jwks")
    data = inventory(site)
    assert data["all"]["vars"]["cloud_identity_key_file"] == data["burst"]["vars"]["burst_key_file"] == key_file(site)
    assert data["all"]["vars"]["landbridge_slurm_keys"] == has_multiple_keys(site)
