"""Program that creates homes on the file server: members by list and by primary group; unknown and empty groups are named."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.roles.hosts.test_services import rendered

GROUPS = {"gpu": "gpu:*:30000:alice", "empty": "empty:*:30005:"}
PASSWD = {
    "alice": "alice:*:30001:30099:alice:/home/alice:/bin/bash",
    # A directory lists the members of a group without those whose primary group it is.
    "bob": "bob:*:30002:30000:bob:/home/bob:/bin/bash",
    "dave": "dave:*:30003:30099:dave:/home/dave:/bin/bash",
}


@pytest.fixture
def getent(tmp_path: Path) -> Path:
    """Return a folder with getent over the tables above."""
    programs = tmp_path / "bin"
    for table, rows in {"group": GROUPS, "passwd": PASSWD}.items():
        for name, row in rows.items():
            (programs / table).mkdir(parents=True, exist_ok=True)
            (programs / table / name).write_text(row + "\n")
    text = '#!/bin/sh\n[ "$1" != -s ] || { cat "${0%/*}/$3/"*; exit; }\ncat "${0%/*}/$1/$2" 2>/dev/null || exit 2\n'
    (programs / "getent").write_text(text)
    (programs / "getent").chmod(0o755)
    return programs


def run(folder: Path, getent: Path, *groups: str) -> subprocess.CompletedProcess[str]:
    (folder / "home").mkdir(exist_ok=True)
    (folder / "rendered").mkdir(exist_ok=True)
    variables = {"users_homes_of_groups": list(groups), "users_homes_root": str(folder / "home")}
    text = rendered("users", folder / "rendered", variables, ("homes.sh.j2", "homes", "{{ [1] }}"))["homes"]
    environment = {"PATH": f"{getent}:{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", text], env=environment, capture_output=True, text=True, check=False)


def test_a_user_whose_primary_group_is_permitted_gets_a_home(tmp_path: Path, getent: Path) -> None:
    done = run(tmp_path, getent, "gpu")
    assert done.returncode == 0, done.stderr
    homes = {home.name: (home.stat().st_uid, home.stat().st_gid) for home in (tmp_path / "home").iterdir()}
    assert homes == {"alice": (30001, 30099), "bob": (30002, 30000)}
    assert run(tmp_path, getent, "gpu").stdout == "", "existing homes are not changed"


def test_unknown_and_empty_groups_are_named_and_the_others_get_their_homes(tmp_path: Path, getent: Path) -> None:
    done = run(tmp_path, getent, "unknown", "empty", "gpu")
    assert done.returncode == 1
    assert "group unknown is not known" in done.stderr and "group empty has no members" in done.stderr
    assert {home.name for home in (tmp_path / "home").iterdir()} == {"alice", "bob"}


def test_sssd_enumerates_accounts_only_where_homes_are_created(tmp_path: Path) -> None:
    directory = {"users_directory": {"uris": ["ldaps://ldap.example.org"], "base": "dc=example,dc=org"}}
    sssd = ("sssd.conf.j2", "sssd.conf", "{{ [1] }}")
    assert "enumerate" not in rendered("users", tmp_path, directory, sssd)["sssd.conf"]
    server = {**directory, "users_homes_of_groups": ["gpu"]}
    assert "enumerate = true\n" in rendered("users", tmp_path, server, sssd)["sssd.conf"]
