"""Files of roles on hosts in AWS, rendered by Ansible: unit names that systemd accepts, rules that nft accepts."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.plan.roles.hosts.state_volume import CREDENTIALED, state_volume
from tests.unit.plan.ansible.test_cloud_site import BUILT, cloud

ROLES = Path(__file__).parents[3] / "ansible/roles"


def rendered(role: str, folder: Path, variables: dict[str, Any], *templates: tuple[str, str, str]) -> dict[str, str]:
    """Render templates of a role with Ansible, each as (template, name, loop); return the texts by file name."""
    tasks = [
        {
            "ansible.builtin.template": {"src": str(ROLES / role / "templates" / template), "dest": f"{folder}/{name}"},
            "loop": loop,
        }
        for template, name, loop in templates
    ]
    # Every Slurm role imports slurm_common; for other roles it has no effect.
    roles = ("slurm_common", role)
    files = [
        str(p)
        for role_name in roles
        for part in ("defaults", "vars")
        if (p := ROLES / role_name / part / "main.yml").exists()
    ]
    play = [{"hosts": "localhost", "gather_facts": False, "vars_files": files, "tasks": tasks}]
    book = folder / "play.yml"
    book.write_text(json.dumps(play))
    program = Path(sys.executable).with_name("ansible-playbook")
    run = [str(program), "-i", "localhost,", "-c", "local", "-e", json.dumps(variables), str(book)]
    completed = subprocess.run(run, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout
    return {path.name: path.read_text() for path in folder.iterdir() if path != book}


def expression(role: str, task: str, key: str) -> str:
    """Return the expression of one parameter of a role's task."""
    tasks = yaml_text.load((ROLES / role / "tasks/main.yml").read_text())
    (module_task,) = [task_data for task_data in tasks if task_data["name"] == task]
    module = next(value for name, value in module_task.items() if name.startswith("ansible.builtin."))
    return str(module[key]).removeprefix("/etc/systemd/system/")


def test_folders_on_the_volume_are_mounted_under_names_that_systemd_takes(tmp_path: Path) -> None:
    variables = state_volume(cloud(), BUILT)
    texts = rendered(
        "state_volume",
        tmp_path,
        variables,
        ("state.mount.j2", expression("state_volume", "Template the volume's mount unit", "dest"), "{{ [1] }}"),
        (
            "folder.mount.j2",
            expression("state_volume", "Template the directories' mount units", "dest"),
            "{{ state_volume_folders }}",
        ),
        ("service.conf.j2", "drop-in.conf", "{{ [1] }}"),
    )
    units = {name: text for name, text in texts.items() if name.endswith(".mount")}
    assert len(units) == 1 + len(variables["state_volume_folders"])
    for name, text in units.items():
        (path,) = [line.partition("=")[2] for line in text.splitlines() if line.startswith("Where=")]
        if shutil.which("systemd-escape"):
            run = ["systemd-escape", "--path", "--suffix=mount", path]
            assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == name
    assert "What=/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol1" in units["srv-state.mount"]
    slurm = units["var-lib-slurm.mount"]
    assert "What=/srv/state/var-lib-slurm" in slurm and "RequiresMountsFor=/srv/state" in slurm
    (needs,) = [line for line in texts["drop-in.conf"].splitlines() if line.startswith("RequiresMountsFor=")]
    assert set(needs.partition("=")[2].split()) == {folder["path"] for folder in variables["state_volume_folders"]}


@pytest.mark.parametrize("users", [[0], list(CREDENTIALED)])
def test_only_configured_users_reach_the_metadata_service(tmp_path: Path, users: list[int]) -> None:
    variables = {"metadata_guard_users": users}
    texts = rendered("metadata_guard", tmp_path, variables, ("metadata.nft.j2", "metadata.nft", "{{ [1] }}"))
    text = texts["metadata.nft"]
    assert f"skuid != {{ {', '.join(map(str, sorted(users)))} }} reject" in text
    nft = shutil.which("nft")
    if nft is not None:
        # nft queries the kernel even with --check: without that permission only the grammar can be tested.
        completed = subprocess.run(
            [nft, "--check", "--file", str(tmp_path / "metadata.nft")], capture_output=True, text=True, check=False
        )
        assert completed.returncode == 0 or "syntax error" not in completed.stderr, completed.stderr


@pytest.mark.parametrize(
    ("server", "lines"),
    [
        ("", {"StorageHost=localhost"}),
        (
            "db.example",
            {"StorageHost=db.example", "StoragePort=3306", "StorageParameters=SSL_CA=/etc/slurm/database-ca.pem"},
        ),
    ],
)
def test_slurmdbd_uses_tls_for_a_remote_database(tmp_path: Path, server: str, lines: set[str]) -> None:
    variables = {"slurm_database_server": server, "slurm_database_password": "p", "slurm_common_auth": "slurm"}
    texts = rendered("slurm_database", tmp_path, variables, ("slurmdbd.conf.j2", "slurmdbd.conf", "{{ [1] }}"))
    storage = {
        line
        for line in texts["slurmdbd.conf"].splitlines()
        if line.startswith(("StorageH", "StoragePort", "StoragePar"))
    }
    assert storage == lines
