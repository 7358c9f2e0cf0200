"""A host with another setting and back: only what the setting needs is there, and the owner's files stay; a person who left cannot log in."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.network import netns, ssh
from tests.roles.ansible_run import ROOT, Played, connection, play
from tests.roles.storage.storage_lab import ADDRESSES, SERVED, SERVER, SITE, Storage

pytestmark = [pytest.mark.lab]
PARTS = [
    {"ansible.builtin.import_playbook": str(ROOT / f"ansible/playbooks/parts/{part}.yml")}
    for part in ("hosts", "independent_roles", "removals")
]
ALICE, BOB = {"name": "alice", "uid": 20001}, {"name": "bob", "uid": 20002}
#: Setting with a password of a repository, an account for the timers, a table of nftables, limits of the kernel, and bob.
MORE: dict[str, Any] = {
    "base_users": [ALICE, BOB],
    "home_copies_repository": "/srv/vault/homes",
    "home_copies_folder": "/export/home",
    "host_access_words": {"units": ["systemctl", "--version"]},
    "landbridge_tuning": True,
    "tuning_limits": [{"domain": "*", "type": "-", "item": "nofile", "value": "65536"}],
}
LESS: dict[str, Any] = {"base_users": [ALICE]}
#: Files and units of the host, without those of packages, of apt and of ssh's own keys.
STATE = r"""find /etc/landbridge /etc/systemd/system /etc/security/limits.d /etc/sysctl.d /opt/landbridge /usr/local /var/lib/landbridge-access \
  ! -type d ! -name '*.pyc' -printf '%p %l\n' 2>/dev/null | sort
systemctl list-unit-files --no-legend --state=enabled | sort; systemctl list-units --no-legend --plain 'landbridge*' 'tuning*' | sort; nft list tables"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    lab = layout("landbridge-test-removals")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE, lambda line: print(f"  {line}", file=sys.stderr))
        storage = Storage(lab, tmp_path_factory.mktemp("removals"))
        storage.run(SERVER, "mkdir -p /etc/landbridge && echo mine > /etc/landbridge/of-the-owner.json")
        yield storage
    finally:
        cleanup.down(lab)


def configure(
    hosts: Storage, setting: dict[str, Any], *words: str, groups: tuple[str, ...] = ("nfs_server",)
) -> Played:
    variables = {
        "landbridge_cluster": "test",
        "landbridge_secrets": str(hosts.folder / "secrets"),
        "base_create_homes": True,
        "mlflow_clients_home_root": "/home",
        **SERVED,
        **connection(hosts.lab),
        **setting,
    }
    known = {
        "all": {
            "vars": variables,
            "hosts": {SERVER: {"ansible_host": ADDRESSES[SERVER]}},
            "children": {group: {"hosts": {SERVER: {}}} for group in groups},
        }
    }
    return play(hosts.lab, hosts.folder, PARTS, known, *words, "--diff")


def log_in(hosts: Storage, user: str) -> bool:
    words = ["ssh", *ssh.options(hosts.lab), "-o", "BatchMode=yes", "-i", str(hosts.lab.private_key)]
    inside = ["nsenter", f"--net={netns.FOLDER / hosts.lab.netns}", *words, f"{user}@{ADDRESSES[SERVER]}", "true"]
    return subprocess.run(inside, capture_output=True, check=False).returncode == 0


def test_there_and_back(hosts: Storage) -> None:
    configure(hosts, LESS).good()
    fresh = hosts.run(SERVER, STATE)
    configure(hosts, MORE, groups=("nfs_server", "services")).good()
    again = configure(hosts, MORE, groups=("nfs_server", "services")).good()
    assert again.changed[SERVER] == 0, again.text[-6000:]
    key = Path(f"{hosts.lab.private_key}.pub").read_text().strip()
    hosts.run(SERVER, f"install -d -m 700 -o bob -g bob /home/bob/.ssh; echo '{key}' > /home/bob/.ssh/authorized_keys")
    hosts.run(SERVER, "chown bob: /home/bob/.ssh/authorized_keys; loginctl enable-linger bob")
    assert log_in(hosts, "bob")
    more = hosts.run(SERVER, STATE)
    assert "landbridge-home-copies.timer" in more and "home-copies-password" in more and "landbridge_metadata" in more

    # A check names what a run removes, and a run with a tag removes nothing but the login of a person who left.
    checked = configure(hosts, LESS, "--check").good()
    assert "/etc/landbridge/home-copies-password" in checked.text and "landbridge-home-copies.timer" in checked.text
    assert hosts.run(SERVER, STATE) == more and log_in(hosts, "bob")
    configure(hosts, LESS, "--tags", "storage").good()
    assert hosts.run(SERVER, STATE) == more and not log_in(hosts, "bob")

    configure(hosts, LESS).good()
    assert hosts.run(SERVER, STATE) == fresh
    assert hosts.run(SERVER, "pgrep -u bob; ls /var/lib/systemd/linger; cat /home/bob/.ssh/authorized_keys") == key
    second = configure(hosts, LESS).good()
    assert second.changed[SERVER] == 0, second.text[-6000:]

    # The person returns: the uid and the home are the same.
    configure(hosts, MORE, groups=("nfs_server", "services")).good()
    assert hosts.run(SERVER, STATE) == more and log_in(hosts, "bob")
    assert hosts.run(SERVER, "cat /etc/landbridge/of-the-owner.json") == "mine"
