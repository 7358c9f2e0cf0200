"""Copies before an upgrade of Slurm: complete or absent, new after an interrupted run, and kept once a daemon has the new release."""

import gzip
import json
import os
import stat
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
OLD, NEW = "24.11.5", "24.11.6"
#: Each copy: its role, its file, and the program that creates it.
COPIES = {"slurm_database": ("before.sql", "mariadb-dump"), "slurm_controller": ("before.tar.gz", "tar")}


@dataclass(frozen=True)
class Host:
    """A host of slurmdbd and slurmctld with the tasks before an upgrade; `programs` are those that a case replaces."""

    folder: Path
    role: str

    @property
    def copy(self) -> Path:
        return self.folder / COPIES[self.role][0]

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def daemon(self, release: str) -> None:
        for name in ("slurmdbd", "slurmctld"):
            self.program(name, f"echo slurm {release}\n")

    def source(self, text: str) -> None:
        """Set the content of the database and of slurmctld's state."""
        (self.folder / "state/job_state").write_text(text)
        self.program("mariadb-dump", f"echo '{text}'\necho '-- Dump completed on 2027-01-10 12:00:00'\n")
        (self.folder / "bin/tar").unlink(missing_ok=True)

    def full_disk(self, status: int) -> None:
        """Let the program write a part only."""
        self.program(COPIES[self.role][1], f"case $* in *list*) exec /bin/tar $*;; esac\nprintf part\nexit {status}\n")

    def run(self) -> bool:
        """Run the role's tasks; return whether Ansible succeeded."""
        variables = {
            "slurm_database_dump": str(self.copy),
            "slurm_controller_backup": str(self.copy),
            "slurm_controller_state_folder": str(self.folder / "state"),
            "slurm_common_version": NEW,
        }
        groups: dict[str, object] = {name: {"hosts": {"db01": {}}} for name in COPIES}
        local = {"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3"}
        (self.folder / "hosts.yml").write_text(json.dumps({"all": {"vars": local, "children": groups}}))
        task = {"ansible.builtin.include_role": {"name": self.role, "tasks_from": "backup"}, "vars": variables}
        (self.folder / "book.yml").write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": [task]}]))
        program = Path(sys.executable).with_name("ansible-playbook")
        completed = subprocess.run(
            [program, "-i", "hosts.yml", "book.yml"],
            cwd=self.folder,
            env={
                "PATH": f"{self.folder}/bin:/usr/bin:/bin:/usr/sbin",
                "HOME": str(self.folder),
                "LC_ALL": "C.UTF-8",
                "ANSIBLE_ROLES_PATH": str(ROOT / "ansible/roles"),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "PLAY RECAP" in completed.stdout, completed.stdout + completed.stderr
        return completed.returncode == 0

    def copied(self) -> str:
        """Return what the copy holds."""
        if self.role == "slurm_database":
            return self.copy.read_text()
        with tarfile.open(self.copy) as archive:
            member = archive.extractfile("./job_state")
            assert member is not None
            return member.read().decode()


@pytest.fixture(params=list(COPIES))
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Host:
    for name in ("bin", "state"):
        (tmp_path / name).mkdir()
    host = Host(tmp_path, request.param)
    host.daemon(OLD)
    host.source("first week")
    return host


@pytest.mark.parametrize("status", [0, 2])
def test_a_copy_that_breaks_is_made_again(host: Host, status: int) -> None:
    host.full_disk(status)
    assert not host.run()
    assert [path.name for path in host.folder.glob("before*")] == []
    host.source("first week")
    assert host.run() and "first week" in host.copied()
    assert stat.S_IMODE(host.copy.stat().st_mode) == 0o600


def test_a_copy_of_an_earlier_run_is_replaced_until_a_daemon_has_the_new_release(host: Host) -> None:
    old = gzip.compress(b"") if host.role == "slurm_controller" else b"first lines"
    host.copy.write_bytes(old)
    os.chmod(host.copy, 0o644)
    assert host.run() and "first week" in host.copied()
    assert stat.S_IMODE(host.copy.stat().st_mode) == 0o600
    host.source("second week")
    assert host.run() and "second week" in host.copied()
    host.daemon(NEW)
    host.source("converted")
    assert host.run() and "second week" in host.copied()


def test_a_copy_that_stays_is_whole_when_the_next_one_breaks(host: Host) -> None:
    assert host.run()
    host.full_disk(2)
    assert not host.run()
    assert "first week" in host.copied()
