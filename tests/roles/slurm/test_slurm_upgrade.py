"""Order and steps of an upgrade of Slurm: decisions of the module slurm_upgrade, and of its playbook before it changes a host."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from landbridge.catalog import slurm_releases
from landbridge.plan.ansible.inventory import inventory
from tests.unit.core.samples import environment

ROOT = Path(__file__).parents[3]
HOSTS = ["db01", "ctl01", "ctl02", "dgx01", "dgx02", "login01"]
STAGES = [HOSTS[:1], HOSTS[1:3], HOSTS[3:]]


@pytest.fixture(scope="module")
def module() -> ModuleType:
    path = ROOT / "ansible/roles/slurm_common/library/slurm_upgrade.py"
    spec = importlib.util.spec_from_file_location("slurm_upgrade", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def refusals(
    module: ModuleType, releases: Sequence[str], target: str, hosts: Sequence[str] = HOSTS, version: str = ""
) -> list[str]:
    """Return the reasons against an upgrade of hosts; `releases` are those of slurmdbd, slurmctld and all others."""
    installed = {host: release for members, release in zip(STAGES, releases, strict=True) for host in members}
    known = slurm_releases()[version or target.rpartition(".")[0]].upgrades_from
    return list(module.refusals(target, known, STAGES, installed, hosts))


def test_every_host_knows_from_which_versions_it_can_be_upgraded() -> None:
    variables = inventory(environment({("scheduler", "slurm"): {"version": "26.05"}}))["all"]["vars"]
    assert variables["slurm_common_upgrades_from"] == ["24.11", "25.05", "25.11"]


@pytest.mark.parametrize(
    ("release", "target"),
    [("24.11.5", "24.11.6"), ("24.11.5", "25.05.1"), ("24.11.5", "26.05.5"), ("", "26.05.5"), ("26.05.5", "26.05.5")],
)
def test_the_whole_cluster_is_upgraded_by_as_many_versions_as_the_new_one_understands(
    module: ModuleType, release: str, target: str
) -> None:
    assert refusals(module, [release] * 3, target) == []


def test_a_step_over_too_many_versions_is_refused_with_the_version_between(module: ModuleType) -> None:
    (reason, *others) = refusals(module, ["24.05.8"] * 3, "26.05.5")
    assert reason.startswith("db01 has 24.05.8: upgrade it to one of 24.11, 25.05, 25.11 first")
    assert len(others) == len(HOSTS) - 1, "every host is reported"


def test_an_older_release_is_refused(module: ModuleType) -> None:
    assert "newer than 24.11.5" in refusals(module, ["24.11.6"] * 3, "24.11.5")[0]


@pytest.mark.parametrize(
    ("hosts", "releases", "reason"),
    [
        (["dgx01"], ["24.11.6", "24.11.5", "24.11.5"], "ctl01 has 24.11.5: upgrade slurmctld there before dgx01"),
        (["ctl01", "ctl02"], ["24.11.5"] * 3, "db01 has 24.11.5: upgrade slurmdbd there before ctl01, ctl02"),
        # Only one controller of a pair: the other would take over with an older slurmctld than slurmd.
        (["db01", "ctl01", "dgx01"], ["24.11.5"] * 3, "ctl02 has 24.11.5: upgrade slurmctld there before dgx01"),
    ],
)
def test_a_part_is_refused_before_its_turn(
    module: ModuleType, hosts: list[str], releases: list[str], reason: str
) -> None:
    assert refusals(module, releases, "24.11.6", hosts)[0] == reason


@pytest.mark.parametrize(
    ("hosts", "releases"),
    [
        (["db01"], ["24.11.5"] * 3),
        (["ctl01", "ctl02"], ["24.11.6", "24.11.5", "24.11.5"]),
        (["dgx01", "login01"], ["24.11.6", "24.11.6", "24.11.5"]),
        # A new node.
        (["dgx02"], ["24.11.6", "24.11.6", ""]),
    ],
)
def test_a_part_is_upgraded_in_its_turn(module: ModuleType, hosts: list[str], releases: list[str]) -> None:
    assert refusals(module, releases, "24.11.6", hosts) == []


def test_an_all_in_one_host_is_upgraded_at_once(module: ModuleType) -> None:
    stages, installed = [["all01"], ["all01"], ["all01", "dgx01"]], {"all01": "24.11.5", "dgx01": "24.11.5"}
    assert module.refusals("24.11.6", [], stages, installed, ["all01"]) == []
    assert module.refusals("24.11.6", [], stages, installed, ["dgx01"]) != []


def play(tmp_path: Path, *words: str) -> str:
    """Run the playbook with hosts that have 24.11.5; assert that it fails, and return its output on one line."""
    program = tmp_path / "scontrol"
    program.write_text('#!/bin/sh\n[ "$*" = --version ] && echo slurm 24.11.5\n')
    program.chmod(0o755)
    names = {"slurm_database": ["db01"], "slurm_controller": ["ctl01"], "slurm_node": ["dgx01"]}
    groups = {group: {"hosts": {host: {} for host in hosts}} for group, hosts in names.items()}
    variables = {
        "ansible_connection": "local",
        "ansible_python_interpreter": "/usr/bin/python3",
        "landbridge_base": False,
        "slurm_common_version": "26.05.5",
        "slurm_common_upgrades_from": ["25.05", "25.11"],
    }
    (tmp_path / "hosts.yml").write_text(json.dumps({"all": {"vars": variables, "children": groups}}))
    completed = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            "-i",
            "hosts.yml",
            ROOT / "ansible/playbooks/upgrade_slurm.yml",
            *words,
        ],
        cwd=tmp_path,
        env={
            "PATH": f"{tmp_path}:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "ANSIBLE_NOCOLOR": "1",
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_ROLES_PATH": str(ROOT / "ansible/roles"),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 2, completed.stdout + completed.stderr
    return " ".join((completed.stdout + completed.stderr).split())


def test_the_playbook_ends_before_it_changes_a_host(tmp_path: Path) -> None:
    output = play(tmp_path)
    assert "dgx01 has 24.11.5: upgrade it to one of 25.05, 25.11 first" in output
    assert "Copy the database" not in output and "Install Slurm" not in output
    limited = play(tmp_path, "--limit", "dgx01", "-e", '{"slurm_common_upgrades_from": ["24.11"]}')
    assert "db01 has 24.11.5: upgrade slurmdbd there before dgx01" in limited
