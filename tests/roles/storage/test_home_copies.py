"""Copies of home directories with real restic: killed, restored at another place and back, with owners and modes."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.ansible_run import ROOT, connection, play
from tests.roles.storage.storage_lab import ADDRESSES, CLIENT, SERVER, SITE, Storage

pytestmark = [pytest.mark.lab, pytest.mark.long]
#: The folder of homes at the site, and in AWS; the vault is at the third place, a file system of both machines.
HOMES, ELSEWHERE, VAULT = "/export/home", "/srv/homes", "/srv/vault/homes"
COPIES: dict[str, Any] = {
    "home_copies_folder": HOMES,
    "home_copies_repository": VAULT,
    "home_copies_password": "p" * 40,
}
STATE = "find . -printf '%p %U:%G %m %s %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0 sha256sum"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    lab = layout("landbridge-test-home-copies")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE, lambda line: print(f"  {line}", file=sys.stderr))
        storage = Storage(lab, tmp_path_factory.mktemp("homes"))
        storage.settle()
        storage.run(
            SERVER,
            f"mkdir -p {HOMES} && cd {HOMES} && install -d -m 700 -o 20001 -g 20001 alice"
            " && cd alice && head -c 40000000 /dev/urandom > data && ln -s data link && printf x > notes"
            " && chmod 640 notes && chown -h 20001:20001 data link notes",
        )
        yield storage
    finally:
        cleanup.down(lab)


def state(hosts: Storage, host: str, folder: str) -> str:
    return hosts.run(host, f"cd {folder} && {STATE}")


def playbook(hosts: Storage, folder: Path, name: str, host: str, homes: str) -> str:
    """Run a playbook as an operator does, for the host that has the homes."""
    known = {"all": {"hosts": {host: hosts_variables(hosts, host)}, "vars": {**COPIES, "home_copies_folder": homes}}}
    book = ROOT / f"ansible/playbooks/{name}.yml"
    words = ("-e", f"home_copies_host={host}", "-e", f"home_copies_password={COPIES['home_copies_password']}")
    return play(hosts.lab, folder, book, known, *words).good().text


def hosts_variables(hosts: Storage, host: str) -> dict[str, Any]:
    return {"ansible_host": ADDRESSES[host], **connection(hosts.lab)}


def carry(hosts: Storage, source: str, target: str) -> None:
    """Carry the vault to the other machine, as one that both places reach."""
    hosts.run(source, "tar -C /srv -cf /srv/vault.tar vault")
    hosts.run(source, "systemd-run --quiet --unit=carry python3 -m http.server 8099 --directory /srv")
    url = f"http://{ADDRESSES[source]}:8099/vault.tar"
    fetch = f"import urllib.request; urllib.request.urlretrieve('{url}', '/srv/vault.tar')"
    hosts.run(
        target,
        f'until python3 -c "{fetch}" 2>/dev/null; do sleep 0.5; done; rm -rf /srv/vault; tar -C /srv -xf /srv/vault.tar',
    )
    hosts.run(source, "systemctl stop carry; rm /srv/vault.tar")


def test_homes_are_copied_restored_elsewhere_and_brought_back(hosts: Storage, tmp_path: Path) -> None:
    roles = [{"hosts": SERVER, "roles": ["home_copies"]}]
    hosts.play(roles, **COPIES).good()
    second_run = hosts.play(roles, **COPIES).good()
    assert second_run.changed[SERVER] == 0, second_run.one_line
    assert hosts.run(SERVER, "systemctl is-active landbridge-home-copies.timer") == "active"
    assert hosts.run(SERVER, "stat -c %a /etc/landbridge/home-copies-password") == "600"

    # Killed during the first copy, which creates the repository: the next one is complete.
    hosts.run(SERVER, "systemctl start --no-block landbridge-home-copies.service")
    wait_for("data in the vault", lambda: hosts.run(SERVER, f"ls {VAULT}/data 2>/dev/null | wc -l"), lambda n: n != "0")
    hosts.run(SERVER, "systemctl kill --signal=KILL landbridge-home-copies.service; true")
    hosts.run(
        SERVER, "systemctl reset-failed landbridge-home-copies.service; systemctl start landbridge-home-copies.service"
    )
    last = json.loads(hosts.run(SERVER, "cat /var/lib/landbridge/home-copies/last.json"))
    assert last["files"] >= 2 and not last["unreadable"]
    print(f"copy of {last['bytes'] / 1e6:.0f} MB: {last['seconds']} s")
    at_site = state(hosts, SERVER, HOMES)

    # An empty folder is not copied: it would be the newest copy.
    refused = hosts.run(
        SERVER, f"mv {HOMES}/alice /srv/alice; landbridge-home-copies copy 2>&1; echo $?; mv /srv/alice {HOMES}/alice"
    )
    assert "may not be mounted" in refused and refused.endswith("1")

    # The site is lost. Another host restores them below another path, and a file is written there.
    assert "home-copies" not in hosts.run(SERVER, f"grep -rl {COPIES['home_copies_password']} {VAULT} | head -1; true")
    carry(hosts, SERVER, CLIENT)
    text = playbook(hosts, tmp_path, "restore_homes", CLIENT, ELSEWHERE)
    assert COPIES["home_copies_password"] not in text.partition("PLAY [")[2]
    assert state(hosts, CLIENT, ELSEWHERE) == at_site
    hosts.run(CLIENT, f"cd {ELSEWHERE}/alice && echo meanwhile > written && chown 20001:20001 written && rm notes")

    # The way back: a last copy there, and the site's folder becomes equal to it.
    playbook(hosts, tmp_path, "copy_homes", CLIENT, ELSEWHERE)
    in_aws = state(hosts, CLIENT, ELSEWHERE)
    carry(hosts, CLIENT, SERVER)
    playbook(hosts, tmp_path, "restore_homes", SERVER, HOMES)
    assert state(hosts, SERVER, HOMES) == in_aws != at_site
    # Repeated, as after an interruption.
    playbook(hosts, tmp_path, "restore_homes", SERVER, HOMES)
    assert state(hosts, SERVER, HOMES) == in_aws
