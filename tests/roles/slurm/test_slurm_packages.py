"""Source of Slurm's packages: only they come from the chosen release, which the hosts' own sources do not have."""

import json
import shlex
import sys
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import image_builder, nodes
from sandbox.nspawn.site import Machine, plan
from tests.unit.core.samples import environment, shipped

MIRROR = "http://deb.debian.org/debian"
SITE = plan(IPv4Network("10.41.0.0/16"), IPv4Network("10.81.0.0/16"), None, (Machine("all01", "10.41.0.11"),))
#: Every package of Slurm that a role installs, and two that once upgraded the C library too.
EVERY = ["slurmctld", "slurmdbd", "slurmd", "slurm-client", "slurm-wlm-mysql-plugin", "slurm-wlm-jwt-plugin"]
EVERY += ["slurmrestd", "sackd", "libpam-slurm-adopt"]
#: Keeps dpkg's lock, as unattended upgrades do, until an apt-mark has failed at it.
LOCKED = """
import fcntl, pathlib, time
lock = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
def marks():
    return {path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if b"apt-mark\\0hold" in read(path)}
def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""
while not (seen := marks()):
    time.sleep(0.02)
while marks() & seen:
    time.sleep(0.02)
"""
PLAYBOOK = f"""- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.import_role: {{name: slurm_common}}
      vars: {{slurm_common_packages: {json.dumps(EVERY)}}}
"""


def common(site: Environment) -> dict[str, Any]:
    variables = inventory(site)["all"]["vars"]
    return {name: value for name, value in variables.items() if name.startswith("slurm_common_")}


def test_a_release_that_hosts_do_not_have_comes_with_its_repository() -> None:
    variables = common(environment())
    assert variables["slurm_common_release"] == "forky" and variables["slurm_common_sources"] == ["slurm-wlm", "hwloc"]
    assert variables["slurm_common_repository"]["uris"] == MIRROR
    assert variables["slurm_common_repository"]["signed_by"] == "/usr/share/keyrings/debian-archive-keyring.gpg"


def test_services_in_aws_get_the_repository_too() -> None:
    assert common(shipped("startup"))["slurm_common_repository"]["uris"] == "http://mirror.example.org/slurm"


def test_debians_own_slurm_needs_no_other_release() -> None:
    variables = common(environment({("scheduler", "slurm"): {"version": "24.11"}}))
    assert variables["slurm_common_release"] == ""
    assert "slurm_common_repository" not in variables and "slurm_common_sources" not in variables


def test_without_a_mirror_the_hosts_own_sources_are_used() -> None:
    variables = common(environment({("scheduler", "slurm", "packages_mirror"): None}))
    assert variables["slurm_common_release"] == "forky" and "slurm_common_repository" not in variables
    slurm = {"version": "25.11", "packages_release": "slurm", "packages_mirror": "http://mirror.example.org/slurm"}
    variables = common(environment({("scheduler", "slurm"): slurm}))
    assert variables["slurm_common_release"] == "slurm"
    assert variables["slurm_common_repository"]["uris"] == "http://mirror.example.org/slurm"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layout]:
    chosen = layout("landbridge-test-packages")
    cleanup.down(chosen)
    whole.up(chosen, SITE, lambda line: print(f"  {line}", file=sys.stderr))
    # As Debian's own image: no other release configured. A mirror may be older than its validity.
    old = "echo 'Acquire::Check-Valid-Until \"false\";' > /etc/apt/apt.conf.d/02mirror"
    run(
        chosen, f"sed -i /forky/d /etc/apt/sources.list && rm -f /etc/apt/preferences.d/* && {old} && apt-get -q update"
    )
    yield chosen
    cleanup.down(chosen)


def run(lab: Layout, command: str) -> str:
    done = nodes.exec(lab, "all01", [command], timeout=120)
    assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
    return done.stdout.strip()


@pytest.mark.long
@pytest.mark.lab
def test_all_packages_of_slurm_install_and_no_other_is_replaced(lab: Layout, tmp_path: Path) -> None:
    before = run(lab, "dpkg-query -W -f '${Package} ${Version}\\n' | sort").splitlines()
    playbook = tmp_path / "packages.yml"
    playbook.write_text(PLAYBOOK)
    variables = {**common(environment()), "slurm_common_key": "k" * 64}
    lines: list[str] = []
    for _ in range(2):
        image_builder.run_playbook(lab, playbook, {"all01": "10.41.0.11"}, variables, lines.append)
    assert "changed=0 " in lines[1]
    after = run(lab, "dpkg-query -W -f '${Package} ${Version}\\n' | sort").splitlines()
    assert set(before) <= set(after), "an installed package has another version now"
    assert "26.05" in run(lab, "slurmctld -V") and "26.05" in run(lab, "slurmd -V")
    # Only the catalogue's source packages come from the other release, and packages that the host's own release lacks.
    for name in run(lab, "apt list --installed 2>/dev/null | grep testing | grep -v stable | cut -d/ -f1").split():
        source = run(lab, f"dpkg-query -W -f '${{source:Package}}' {name}")
        assert source in ("slurm-wlm", "hwloc") or "trixie" not in run(lab, f"apt-cache madison {name}"), name
    assert "Candidate: 26.05" in run(lab, "apt-cache policy slurmd")
    installed, candidate = run(lab, "apt-cache policy libc6 | sed -n 's/^ *\\(Installed\\|Candidate\\): //p'").split()
    assert installed == candidate and "deb13" in installed
    # A host whose lock is held is configured when the lock is free.
    run(lab, "apt-mark unhold slurmd")
    run(lab, f"nohup python3 -c {shlex.quote(LOCKED)} >/tmp/locked.log 2>&1 &")
    image_builder.run_playbook(lab, playbook, {"all01": "10.41.0.11"}, variables, lines.append)
    assert "changed=1 " in lines[-1] and "slurmd" in run(lab, "apt-mark showhold").split()
    assert run(lab, "cat /tmp/locked.log") == ""
