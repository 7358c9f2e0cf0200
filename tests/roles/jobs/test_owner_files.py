"""Files of containers and of cuFile that an owner has: their lines stay, and a second run changes nothing.

The roles' own tasks run on this machine, with another folder for /etc.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.roles.ansible_run import ROOT, recap

ROLES = ROOT / "ansible/roles"
OURS = (
    '# Ansible managed\n[storage]\ndriver = "overlay"\nrunroot = "/run/containers/storage"\n'
    'graphroot = "/var/lib/containers/storage"\nrootless_storage_path = "/old/$UID"\n'
)
OWNERS = '# of the site\n[storage]\ndriver = "btrfs"\ngraphroot = "/srv/images"\n[storage.options]\nadditionalimagestores = ["/srv/shared"]\n'
#: Content of storage.conf before, by the name of a case; None: no file.
STORAGE = {
    "none": None,
    "ours": OURS,
    "owners": OWNERS,
    "set": OWNERS.replace("[storage.options]", 'rootless_storage_path = "/fast/$UID"\n[storage.options]'),
    "comment": '[storage]\n# rootless_storage_path = "$HOME/x"\ndriver = "overlay"\n',
}
CUFILE = """{
    // NOTE : the package's file has comments
    "logging": { "dir": "/var/log/of the site" }, // of the owner
    "denylist": { "drivers": [ "a//b" ] },
    "properties": { "allow_compat_mode": false, "max_direct_io_size_kb": 16384 }
}
"""


def run(folder: Path) -> int:
    """Run the tasks of both roles on this machine, each case with a file of its own; return the number of changes."""
    tasks = []
    for role, part, path, cases in (
        ("podman", "storage", "/etc/containers/storage.conf", STORAGE),
        ("gds", "settings", "/etc/cufile.json", ["cufile"]),
    ):
        for case in cases:
            copy = folder / "roles" / f"{role}_{case}"
            shutil.copytree(ROLES / role, copy, dirs_exist_ok=True)
            file = copy / "tasks" / f"{part}.yml"
            file.write_text(file.read_text().replace(path, str(folder / "etc" / case)))
            tasks.append({"ansible.builtin.include_role": {"name": copy.name, "tasks_from": part}})
    book = folder / "book.yml"
    variables = {"podman_folder": "/scratch", "gds_settings": {"properties": {"max_direct_io_size_kb": 1024}}}
    book.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "vars": variables, "tasks": tasks}]))
    completed = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "-i", "localhost,", "-c", "local", book],
        cwd=folder,
        env={
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_ROLES_PATH": str(folder / "roles"),
            "ANSIBLE_LOCAL_TEMP": str(folder / "local"),
            "ANSIBLE_NOCOLOR": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return recap(completed.stdout)["localhost"]["changed"]


def test_an_owners_lines_stay_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "etc"
    folder.mkdir()
    for name, content in {**STORAGE, "cufile": CUFILE}.items():
        if content is not None:
            (folder / name).write_text(content)
    assert run(tmp_path) == 5
    texts = {name: (folder / name).read_text() for name in (*STORAGE, "cufile")}
    conf = {name: tomllib.loads(texts[name])["storage"] for name in STORAGE}
    place = {name: section["rootless_storage_path"] for name, section in conf.items()}
    assert place == {**dict.fromkeys(STORAGE, "/scratch/$UID"), "set": "/fast/$UID"}
    assert texts["none"].splitlines()[1:] == texts["ours"].splitlines()[1:] and texts["set"] == STORAGE["set"]
    before = tomllib.loads(OWNERS)["storage"]
    assert {**conf["owners"], **before} == conf["owners"] and texts["owners"].startswith("# of the site\n")
    cufile = json.loads(texts["cufile"])
    assert cufile == {
        "logging": {"dir": "/tmp", "level": "ERROR"},
        "denylist": {"drivers": ["a//b"]},
        "properties": {"allow_compat_mode": True, "max_direct_io_size_kb": 1024},
    }
    backups = [path.read_text() for path in folder.iterdir() if path.name.startswith("cufile.")]
    assert backups == [CUFILE]
    assert run(tmp_path) == 0
