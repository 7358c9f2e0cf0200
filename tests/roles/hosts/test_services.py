"""Files of roles on hosts in AWS, rendered by Ansible itself: units with names that systemd accepts, rules that nft accepts."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.plan.ansible.state_volume import CREDENTIALED, state_volume
from tests.unit.plan.ansible.test_cloud_site import BUILT, cloud

ROLES = Path(__file__).parents[3] / "ansible/roles"


def laid_out(role: str, folder: Path, variables: dict[str, Any], *wanted: tuple[str, str, str]) -> dict[str, str]:
    """Templates of a role as Ansible lays them out: (template, name, loop) each; returns the texts by file name."""
    tasks = [
        {
            "ansible.builtin.template": {"src": str(ROLES / role / "templates" / template), "dest": f"{folder}/{name}"},
            "loop": loop,
        }
        for template, name, loop in wanted
    ]
    # What every Slurm role imports; of the others it decides nothing.
    roles = ("slurm_common", role)
    files = [
        str(p) for one in roles for part in ("defaults", "vars") if (p := ROLES / one / part / "main.yml").exists()
    ]
    play = [{"hosts": "localhost", "gather_facts": False, "vars_files": files, "tasks": tasks}]
    book = folder / "play.yml"
    book.write_text(json.dumps(play))
    program = Path(sys.executable).with_name("ansible-playbook")
    run = [str(program), "-i", "localhost,", "-c", "local", "-e", json.dumps(variables), str(book)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    return {path.name: path.read_text() for path in folder.iterdir() if path != book}


def expression(role: str, task: str, key: str) -> str:
    """Return the expressions of a role's task about its target."""
    tasks = yaml_text.load((ROLES / role / "tasks/main.yml").read_text())
    (found,) = [one for one in tasks if one["name"] == task]
    module = next(value for name, value in found.items() if name.startswith("ansible.builtin."))
    return str(module[key]).removeprefix("/etc/systemd/system/")


def test_folders_on_the_volume_are_mounted_under_names_that_systemd_takes(tmp_path: Path) -> None:
    variables = state_volume(cloud(), BUILT)
    found = laid_out(
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
    units = {name: text for name, text in found.items() if name.endswith(".mount")}
    assert len(units) == 1 + len(variables["state_volume_folders"])
    for name, text in units.items():
        (where,) = [line.partition("=")[2] for line in text.splitlines() if line.startswith("Where=")]
        if shutil.which("systemd-escape"):
            run = ["systemd-escape", "--path", "--suffix=mount", where]
            assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == name
    assert "What=/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol1" in units["srv-state.mount"]
    slurm = units["var-lib-slurm.mount"]
    assert "What=/srv/state/var-lib-slurm" in slurm and "RequiresMountsFor=/srv/state" in slurm
    (needs,) = [line for line in found["drop-in.conf"].splitlines() if line.startswith("RequiresMountsFor=")]
    assert set(needs.partition("=")[2].split()) == {one["path"] for one in variables["state_volume_folders"]}


@pytest.mark.parametrize("users", [[0], list(CREDENTIALED)])
def test_the_metadata_service_answers_those_who_are_named(tmp_path: Path, users: list[int]) -> None:
    variables = {"metadata_guard_users": users}
    found = laid_out("metadata_guard", tmp_path, variables, ("metadata.nft.j2", "metadata.nft", "{{ [1] }}"))
    text = found["metadata.nft"]
    assert f"skuid != {{ {', '.join(map(str, sorted(users)))} }} reject" in text
    nft = shutil.which("nft")
    if nft is not None:
        # nft asks the kernel what there is, even to check: where it may not, its grammar is all that can be looked at.
        done = subprocess.run(
            [nft, "--check", "--file", str(tmp_path / "metadata.nft")], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or "syntax error" not in done.stderr, done.stderr


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
def test_slurmdbd_reaches_a_database_elsewhere_over_tls_alone(tmp_path: Path, server: str, lines: set[str]) -> None:
    variables = {"slurm_database_server": server, "slurm_database_password": "p", "slurm_common_auth": "slurm"}
    found = laid_out("slurm_database", tmp_path, variables, ("slurmdbd.conf.j2", "slurmdbd.conf", "{{ [1] }}"))
    storage = {
        line
        for line in found["slurmdbd.conf"].splitlines()
        if line.startswith(("StorageH", "StoragePort", "StoragePar"))
    }
    assert storage == lines
