"""Runs after one that was interrupted or failed: nothing that it left is trusted as complete, and nothing that it did not do is forgotten."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from landbridge import yaml_text

ROLES = Path(__file__).parents[3] / "ansible/roles"


def tasks(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        yield entry
        for part in ("block", "rescue", "always"):
            yield from tasks(entry.get(part) or [])


def all_tasks() -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in sorted(ROLES.glob("*/tasks/*.yml")):
        yield from ((path, task) for task in tasks(yaml.safe_load(path.read_text()) or []))


def test_a_file_that_marks_a_finished_step_gets_its_name_at_the_end() -> None:
    """`creates` trusts the file of that name. So the program writes under another one, and renames."""
    markers = [
        (path, task)
        for path, task in all_tasks()
        for value in task.values()
        if isinstance(value, dict) and "creates" in value
    ]
    assert [path.relative_to(ROLES).as_posix() for path, _ in markers] == ["site_timers/tasks/keys.yml"]
    assert all("mv " in str(task["vars"]) for _, task in markers)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_a_key_pair_has_its_name_when_both_files_are_complete(tmp_path: Path) -> None:
    (task,) = [task for path, task in all_tasks() if task.get("name") == "Create the key pairs"]
    words = ["sh", "-euc", task["vars"]["site_timers_new_pair"], "sh", str(tmp_path / "link"), "landbridge-link"]
    # An earlier run was interrupted after the private key.
    (tmp_path / "link.new").write_text("-----BEGIN OPENSSH PRIV")
    full = tmp_path / "bin/ssh-keygen"
    full.parent.mkdir()
    full.write_text('#!/bin/sh\nfor last; do :; done\nprintf part > "$last"\nexit 1\n')
    full.chmod(0o755)
    environment = {**os.environ, "PATH": f"{full.parent}:{os.environ['PATH']}"}
    assert subprocess.run(words, env=environment, check=False).returncode != 0
    assert not (tmp_path / "link").exists()
    subprocess.run(words, check=True, capture_output=True)
    derived = subprocess.run(["ssh-keygen", "-y", "-f", tmp_path / "link"], check=True, capture_output=True, text=True)
    assert derived.stdout.split()[:2] == (tmp_path / "link.pub").read_text().split()[:2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "link", "link.pub"]


def test_a_daemon_of_slurm_whose_program_was_replaced_is_found_in_any_later_run(tmp_path: Path) -> None:
    script = yaml_text.load((ROLES / "slurm_common/vars/main.yml").read_text())["slurm_common_replaced_programs"]
    program = tmp_path / "slurmctld"
    shutil.copy("/bin/sleep", program)
    with subprocess.Popen([program, "600"]) as daemon:
        show = f'#!/bin/sh\ncase "$*" in *slurmctld) echo {daemon.pid} ;; *slurmd) echo 0 ;; *) exit 1 ;; esac\n'
        (tmp_path / "systemctl").write_text(show)
        (tmp_path / "systemctl").chmod(0o755)

        def replaced() -> str:
            words = ["sh", "-euc", script, "sh", "slurmctld slurmd sackd"]
            environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
            return subprocess.run(words, env=environment, check=True, capture_output=True, text=True).stdout

        assert replaced() == ""
        shutil.copy("/bin/sleep", tmp_path / "new")
        (tmp_path / "new").rename(program)
        assert replaced() == "slurmctld\n"
        daemon.kill()


def test_a_repository_whose_lists_cannot_be_read_is_read_again_by_the_next_run() -> None:
    """Each role reads the lists when its sources file is new. So it removes the file if they cannot be read."""
    readers = {
        "apptainer/tasks/main.yml", "enroot_pyxis/tasks/main.yml", "lustre_client/tasks/main.yml", "slurm_common/tasks/main.yml",
        "vendor_repository/tasks/lists.yml",
    }  # fmt: skip
    for name in readers:
        (block,) = [
            task
            for path, task in all_tasks()
            if path == ROLES / name and any("sources.list.d" in str(step) for step in task.get("rescue") or ())
        ]
        first, last = block["rescue"]
        assert first["ansible.builtin.file"]["state"] == "absent" and "ansible.builtin.fail" in last, name
    writers = {
        path.relative_to(ROLES).parts[0]
        for path, task in all_tasks()
        if "sources.list.d/" in str(task) and "rescue" not in str(task)
    }
    # These two include vendor_repository's reading; hardening and model packages write no sources.
    assert writers - {name.split("/")[0] for name in readers} == {"nvidia_driver"}
