"""Firewall and sshd of real nodes: planned ports are open, others refused, and existing connections continue."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.machine.reboot import reboot
from sandbox.nspawn.network import netns, ssh
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import Played, connection, play
from tests.unit.core.samples import REMOVED, environment

pytestmark = [pytest.mark.lab]

ONPREM, CLOUD = IPv4Network("10.44.0.0/16"), IPv4Network("10.84.0.0/16")
ADDRESSES = {"ctl01": "10.44.0.11", "dgx01": "10.44.1.11"}
SLURMCTLD, SLURMD, UNUSED_PORT = 6817, 6818, 9999
TRIAL_SECONDS = 12
PLAYBOOK = [{"hosts": "onprem", "gather_facts": False, "roles": ["hardening"]}]
# Echo server at each given port.
ECHO = """
import socketserver, sys, threading
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line)
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
for port in map(int, sys.argv[1:]):
    threading.Thread(target=Server(("", port), Echo).serve_forever).start()
"""
# Sends one line to a port and prints the answer, or the error.
ASK = """
import socket, sys
try:
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), 3) as connection:
        connection.sendall(b"here\\n"); print(connection.makefile().readline().strip())
except OSError as error:
    print(type(error).__name__, error.errno)
"""
# Connects, prints "connected", waits for a line on its input, and only then sends a line to the other side.
WAIT = """
import socket, sys
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)
print("connected", flush=True); sys.stdin.readline()
connection.settimeout(10); connection.sendall(b"still here\\n")
print(connection.makefile().readline().strip(), flush=True)
"""


def site_environment() -> Environment:
    """Return the environment of a site with two hosts, which provide all services."""
    services: dict[str, Any] = {"controller": ["ctl01"], "login": ["ctl01"]}
    services |= dict.fromkeys(("database", "storage", "gateway", "mlops"), "ctl01")
    return environment(
        {
            ("onprem", "cidr"): str(ONPREM),
            ("onprem", "nodes", 0): {"hosts": "dgx01", "platform": "dgx-h100", "address": ADDRESSES["dgx01"]},
            ("onprem", "services"): services,
            ("onprem", "addresses"): {"ctl01": ADDRESSES["ctl01"]},
            ("onprem", "access"): {"user": "root"},
            ("aws", "cidr"): str(CLOUD),
            ("aws", "pools"): [],
            ("link",): REMOVED,
        }
    )


@dataclass(frozen=True)
class Hosts:
    """Two hosts, and the operator's network beside them."""

    lab: Layout
    folder: Path

    def run(self, node: str, command: str) -> str:
        # An sshd that reloads its settings refuses connections for a moment.
        for _ in range(300):
            completed = nodes.exec(self.lab, node, [command])
            if "Connection refused" not in completed.stderr:
                break
            time.sleep(0.5)
        assert completed.returncode == 0, f"{node}: {command}: {completed.stderr}{completed.stdout}"
        return str(completed.stdout).strip()

    def listen(self, node: str) -> None:
        """Start a server at every port that the tests connect to."""
        self.run(node, f"systemd-run --quiet --unit=echo python3 /root/echo.py {SLURMCTLD} {SLURMD} {UNUSED_PORT}")
        self.run(node, f"for try in $(seq 50); do ss -ltn | grep -q :{UNUSED_PORT} && exit 0; sleep 0.2; done; exit 1")

    def ask(self, source: str, node: str, port: int) -> str:
        """Return the answer of a port of a node to `source`, a node or the operator."""
        words = [sys.executable if source == "operator" else "/usr/bin/python3", "-c", ASK, ADDRESSES[node], str(port)]
        if source != "operator":
            quoted = " ".join(f"'{word}'" for word in words)
            return self.run(source, quoted)
        return subprocess.run(self.inside(*words), capture_output=True, text=True, check=True).stdout.strip()

    def inside(self, *words: str) -> list[str]:
        return ["nsenter", f"--net={netns.FOLDER / self.lab.netns}", *words]

    def play(self, *words: str, fast: bool = False, **variables: Any) -> Played:
        """Run the role; the result contains failures. `fast` only if no connection is tested: it reuses connections."""
        data = inventory(site_environment())
        data["all"]["vars"] |= connection(self.lab)
        data["onprem"]["vars"] |= {"hardening_updates": "off", **variables}
        return play(self.lab, self.folder, PLAYBOOK, data, *words, fast=fast)

    def converge(self, *words: str, fast: bool = False, **variables: Any) -> dict[str, int]:
        """Run the role and return the number of changes, by host."""
        return self.play(*words, fast=fast, **variables).good().changed


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    lab = layout("landbridge-test-base")
    cleanup.down(lab)
    try:
        whole.up(lab, plan(ONPREM, CLOUD, None, tuple(Machine(name, address) for name, address in ADDRESSES.items())))
        hosts = Hosts(lab, tmp_path_factory.mktemp("hardening"))
        for node in ADDRESSES:
            hosts.run(node, f"cat > /root/echo.py <<'END'{ECHO}END")
            hosts.listen(node)
        yield hosts
    finally:
        cleanup.down(lab)


def test_a_check_of_a_bare_host_changes_nothing_and_does_not_fail(site: Hosts) -> None:
    assert site.converge("--check", "--diff", "--limit", "dgx01", fast=True)
    assert site.run("dgx01", "ls /etc/hardening 2>/dev/null || echo none") == "none"


def test_idle_connections_from_before_the_rules_stay_open(site: Hosts) -> None:
    # To a port that no rule opens: as a job's own socket, or an unused mount at night.
    words = site.inside(sys.executable, "-c", WAIT, ADDRESSES["dgx01"], str(UNUSED_PORT))
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as old:
        assert old.stdout is not None and old.stdin is not None
        assert old.stdout.readline() == "connected\n"
        changed = site.converge()
        assert all(changed[name] > 0 for name in ADDRESSES)
        assert site.ask("operator", "dgx01", UNUSED_PORT).startswith("OSError 113")
        old.stdin.write("now\n")
        old.stdin.flush()
        assert old.stdout.readline() == "still here\n"


def test_a_second_run_and_a_check_change_nothing(site: Hosts) -> None:
    assert site.converge(fast=True) == {"ctl01": 0, "dgx01": 0}
    assert site.converge("--check", "--diff", "--limit", "dgx01", fast=True) == {"dgx01": 0}


@pytest.mark.parametrize(
    ("source", "node", "port", "opened"),
    [
        ("dgx01", "ctl01", SLURMCTLD, True),
        ("dgx01", "ctl01", UNUSED_PORT, False),
        # The operator's host is in the site, but not in the cluster.
        ("operator", "ctl01", SLURMCTLD, False),
        ("ctl01", "dgx01", SLURMD, True),
        ("ctl01", "dgx01", UNUSED_PORT, False),
        ("operator", "dgx01", SLURMD, False),
    ],
)
def test_only_planned_ports_are_open(site: Hosts, source: str, node: str, port: int, opened: bool) -> None:
    # EHOSTUNREACH: refused with an answer, at once.
    assert site.ask(source, node, port) == ("here" if opened else "OSError 113")


def test_a_change_that_cuts_the_operator_off_is_rolled_back(site: Hosts) -> None:
    before = site.run("dgx01", "nft list table inet hardening; cat /etc/hardening/firewall.nft")
    run = site.play("--limit", "dgx01", hardening_ssh_sources=["192.0.2.0/24"], hardening_trial_seconds=TRIAL_SECONDS)
    assert run.code != 0 and "Wait for a new connection" in run.one_line
    wait_for("SSH after the trial's end", lambda: ssh.greets(site.lab, ADDRESSES["dgx01"]))
    after = site.run("dgx01", "nft list table inet hardening; cat /etc/hardening/firewall.nft")
    assert re.sub(r"packets \d+ bytes \d+", "", after) == re.sub(r"packets \d+ bytes \d+", "", before)


def test_after_a_restart_the_rules_apply_and_a_trial_does_not(site: Hosts) -> None:
    site.run(
        "ctl01", "cp /etc/hardening/wanted/firewall.nft /root/ && sed -i 's/6817/1/' /etc/hardening/wanted/firewall.nft"
    )
    site.run("ctl01", "hardening-trial begin 600")
    assert site.ask("dgx01", "ctl01", SLURMCTLD) == "OSError 113"
    reboot(site.lab, "ctl01")
    site.listen("ctl01")
    assert site.ask("dgx01", "ctl01", SLURMCTLD) == "here"
    assert site.ask("dgx01", "ctl01", UNUSED_PORT) == "OSError 113"


def test_sshd_accepts_only_keys_despite_other_settings_files(site: Hosts) -> None:
    site.run(
        "ctl01", "echo 'PasswordAuthentication yes' > /etc/ssh/sshd_config.d/50-cloud-init.conf && systemctl reload ssh"
    )
    settings = set(site.run("ctl01", "sshd -T").splitlines())
    assert {"passwordauthentication no", "kbdinteractiveauthentication no", "maxstartups 100:30:200"} <= settings
    assert "permitrootlogin without-password" in settings


def test_updates_exclude_kernel_and_driver(site: Hosts) -> None:
    configuration = site.run("dgx01", "apt-config dump")
    patterns = re.findall(r'^Unattended-Upgrade::Package-Blacklist:: "(.*)";', configuration, re.MULTILINE)
    for name in (
        "linux-image-6.12.1-amd64",
        "nvidia-open",
        "libnvidia-nscq",
        "slurmd",
        "mariadb-server",
        "kernel-core",
    ):
        assert any(re.match(expression, name) for expression in patterns), name
    assert not any(
        re.match(expression, name) for expression in patterns for name in ("openssh-server", "libc6", "openssl")
    )
    assert 'APT::Periodic::Unattended-Upgrade "0";' in configuration


def test_a_disabled_firewall_leaves_no_rules(site: Hosts) -> None:
    site.converge("--limit", "dgx01", hardening_firewall="off")
    assert "hardening" not in site.run("dgx01", "nft list tables")
    assert site.ask("operator", "dgx01", UNUSED_PORT) == "here"
