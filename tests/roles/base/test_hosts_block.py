"""The block of role base in /etc/hosts: the owner's lines stay."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MODULE = Path(__file__).parents[3] / "ansible/roles/base/library/hosts_block.py"
HOSTS = [
    {"name": "ctl01", "address": "10.20.0.11", "aliases": ["controller"]},
    {"name": "dgx01", "address": "10.20.1.11"},
]
BLOCK = """\
# BEGIN hosts of the cluster (Ansible, role base)
10.20.0.11 ctl01 controller
10.20.1.11 dgx01
0.0.0.1 aws01
# END hosts of the cluster (Ansible, role base)
"""
OWNERS = """\
# Site file, do not remove
127.0.0.1\tlocalhost
::1 localhost ip6-localhost ip6-loopback
10.99.0.1   filer01.example.org filer01  # rack 3
"""


def run(path: Path, check: bool = False, **more: Any) -> dict[str, Any]:
    """Run the module as Ansible does."""
    arguments = {"path": str(path), "hosts": HOSTS, "absent": ["aws01"], "_ansible_check_mode": check, **more}
    completed = subprocess.run(
        [sys.executable, str(MODULE)],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}),
        capture_output=True,
        text=True,
        check=False,
    )
    return dict(json.loads(completed.stdout))


def test_the_owners_lines_stay(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(OWNERS)
    path.chmod(0o640)
    assert run(path, check=True)["changed"] is True
    assert path.read_text() == OWNERS
    assert run(path)["changed"] is True
    assert path.read_text() == OWNERS + BLOCK
    assert path.stat().st_mode & 0o777 == 0o640
    assert run(path)["changed"] is False


def test_a_host_that_is_gone_leaves_the_block_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(OWNERS + BLOCK + "10.99.0.2 filer02\n")
    run(path, hosts=HOSTS[:1], absent=[])
    shorter = "\n".join(line for line in BLOCK.splitlines() if "dgx01" not in line and "aws01" not in line)
    assert path.read_text() == f"{OWNERS}{shorter}\n10.99.0.2 filer02\n"


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("127.0.1.1 ctl01.example.org ctl01\n", ""),
        ("127.0.0.1 localhost ctl01 # installer\n", "127.0.0.1 localhost # installer\n"),
        ("::1 dgx01 localhost6\n", "::1 localhost6\n"),
        ("127.0.1.1 other\n", "127.0.1.1 other\n"),
    ],
)
def test_no_name_of_the_cluster_has_a_loopback_address(tmp_path: Path, line: str, left: str) -> None:
    """Debian's /etc/host.conf has `multi on`: a program gets the addresses of all lines."""
    path = tmp_path / "hosts"
    path.write_text(OWNERS + line)
    run(path)
    assert path.read_text() == OWNERS + left + BLOCK
    assert run(path)["changed"] is False


def test_another_address_of_a_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(OWNERS + "10.1.0.5 dgx01\n")
    result = run(path)
    assert result["failed"] and "'10.1.0.5 dgx01' has another address of dgx01 than 10.20.1.11" in result["msg"]
    assert path.read_text() == OWNERS + "10.1.0.5 dgx01\n"
    # Another name, the same address, or an IPv6 address beside it are no conflict.
    path.write_text(OWNERS + "fd00::11 dgx01\n10.20.1.11 dgx01\n10.1.0.5 dgx01-bmc\n10.60.0.9 aws01\n")
    assert run(path)["changed"] is True
    assert "0.0.0.1" not in path.read_text()


def test_the_whole_file_of_an_earlier_release_becomes_a_block(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    head = "# Ansible managed\n127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"
    path.write_text(head + "10.20.0.11 ctl01 controller\n10.20.1.11 dgx01\n0.0.0.1 aws01\n0.0.0.1 aws02\n")
    run(path)
    assert path.read_text() == head + BLOCK
    assert run(path)["changed"] is False


def test_a_host_without_the_file_gets_localhost_too(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    assert run(path)["changed"] is True
    assert path.read_text() == "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n" + BLOCK
    assert path.stat().st_mode & 0o777 == 0o644
