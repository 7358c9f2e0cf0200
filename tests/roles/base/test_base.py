"""Role base on a lab machine: an interrupted package installation, and an operator without the secrets."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import Played, connection, play

pytestmark = [pytest.mark.lab]

HOST, ADDRESS = "ctl01", "10.46.0.11"
PLAYS = [{"hosts": "all", "gather_facts": False, "roles": ["base"]}]
# The first configuration of this package kills dpkg, as a lost connection or a lost power supply does.
PACKAGE = """
set -e
mkdir -p /root/interrupts/DEBIAN
cd /root
printf 'Package: interrupts\\nVersion: 1\\nArchitecture: all\\nMaintainer: tests <tests@example.org>\\n' > interrupts/DEBIAN/control
printf 'Description: Package of a test\\n' >> interrupts/DEBIAN/control
printf '#!/bin/sh\\nif mkdir /root/interrupted 2>/dev/null; then kill -9 $PPID; fi\\n' > interrupts/DEBIAN/postinst
chmod 755 interrupts/DEBIAN/postinst
dpkg-deb --build interrupts interrupts.deb
"""


@pytest.fixture
def lab() -> Iterator[Layout]:
    chosen = layout("landbridge-test-interrupted")
    cleanup.down(chosen)
    try:
        whole.up(
            chosen, plan(IPv4Network("10.46.0.0/16"), IPv4Network("10.86.0.0/16"), None, (Machine(HOST, ADDRESS),))
        )
        yield chosen
    finally:
        cleanup.down(chosen)


def run(lab: Layout, command: str) -> tuple[int, str]:
    done = nodes.exec(lab, HOST, [command], timeout=120)
    return done.returncode, done.stdout + done.stderr


def converge(lab: Layout, folder: Path) -> Mapping[str, int]:
    listing = {"all": {"vars": connection(lab), "hosts": {HOST: {"ansible_host": ADDRESS}}}}
    return play(lab, folder, PLAYS, listing, fast=False).good().changed


def test_the_next_run_completes_an_interrupted_installation(lab: Layout, tmp_path: Path) -> None:
    code, output = run(lab, PACKAGE)
    assert code == 0, output
    converge(lab, tmp_path)
    assert run(lab, "dpkg --install /root/interrupts.deb || exit 1")[0] == 1
    assert "dpkg was interrupted" in run(lab, "apt-get install --yes sl")[1]
    assert converge(lab, tmp_path)[HOST] == 1
    assert run(lab, "dpkg-query --show --showformat '${Status}' interrupts") == (0, "install ok installed")
    assert run(lab, "apt-get check --quiet=2") == (0, "")
    assert converge(lab, tmp_path)[HOST] == 0


def test_a_second_operator_without_the_secrets_changes_nothing(lab: Layout, tmp_path: Path) -> None:
    def configure(fingerprint: str, **more: object) -> Played:
        settings = {"base_secrets_fingerprint": fingerprint, "base_secrets_folder": "/home/kim/secrets", **more}
        listing = {"all": {"vars": {**connection(lab), **settings}, "hosts": {HOST: {"ansible_host": ADDRESS}}}}
        role = {"ansible.builtin.include_role": {"name": "base", "tasks_from": "secrets.yml"}}
        return play(lab, tmp_path, [{"hosts": "all", "gather_facts": False, "tasks": [role]}], listing, fast=False)

    first, second = "1" * 64, "2" * 64
    assert configure(first).good().changed[HOST] > 0
    assert configure(first).good().changed[HOST] == 0
    refused = configure(second)
    assert refused.code != 0 and refused.changed[HOST] == 0
    assert "with other secrets than those in /home/kim/secrets. Copy theirs to this machine" in refused.one_line
    assert run(lab, "stat -c '%a %U' /etc/landbridge/secrets.sha256; cat /etc/landbridge/secrets.sha256") == (
        0,
        f"400 root\n{first}\n",
    )
    assert configure(second, base_secrets_replace=True).good().changed[HOST] == 1
    assert configure(first).code != 0
