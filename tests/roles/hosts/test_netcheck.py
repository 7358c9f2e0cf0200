"""netcheck on a real pair of strongSwan and FRR gateways: faults are made one after the other, and each is named.

Facts of the long tests' faults are recorded in tests/unit/ops/netcheck/recorded.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.ops.host_access import ForcedCommand
from landbridge.ops.netcheck.collect import collect, link_hosts
from landbridge.ops.netcheck.diagnose import diagnose
from landbridge.ops.netcheck.result import LinkReport
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.site.link.expectations import link_expectations
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import AWS_GATEWAY
from tests.roles.ansible_run import connection, play
from tests.roles.hosts import link_lab
from tests.roles.hosts.link_lab import NODE, NODE_ADDRESS
from tests.unit.core.samples import ROOT, changed
from tests.unit.core.samples import environment as sample
from tests.unit.ops.netcheck.records import GATEWAY, SERVICE

pytestmark = pytest.mark.lab
CONNECTIONS = "/etc/swanctl/conf.d/site-gateway.conf"
PEER = "169.254.10.1"
#: Parts of the role site_timers without its Python environment, and results of the unit of the test.
PARTS = ("keys", "settings", "units")
FILES = ("account", "link", "status", "refused", "terminal", "sftp", "forward", "local", "key")
#: Listeners in place of the services; the address is that of an on-prem node.
LISTEN = """import socket, sys, threading
def accept(port):
    server = socket.create_server(("", port))
    while True:
        server.accept()[0].close()
for port in map(int, sys.argv[1:]):
    threading.Thread(target=accept, args=(port,)).start()"""


@dataclass(frozen=True)
class Link:
    """Both ends of the link, its hosts, and the environment."""

    lab: Layout
    environment: Environment

    def run(self, host: str, command: str) -> str:
        """Run a shell command on a host; it must succeed."""
        done = nodes.exec(self.lab, host, [command])
        assert done.returncode == 0, f"{host}: {command}\n{done.stdout}{done.stderr}"
        return str(done.stdout)

    def vtysh(self, host: str, *lines: str) -> None:
        """Change FRR's running configuration."""
        self.run(
            host, shlex.join(["vtysh", *(word for line in ("configure terminal", *lines) for word in ("-c", line))])
        )

    def report(self, *names: str) -> LinkReport:
        """Return the report of the gateway, or of other hosts."""
        expected = link_expectations(self.environment, link_lab.STACK_OUTPUTS)
        every = link_hosts(self.environment, expected, [f"root@{NODE_ADDRESS}"])
        return diagnose(expected, collect(expected, [host for host in every if host.name in (names or (GATEWAY,))]))

    def names(self, *causes: str) -> None:
        """Wait until exactly these causes are named."""
        wait_for(
            f"netcheck to name {causes}", lambda: self.report().causes, lambda seen: set(seen) == set(causes), every=0.2
        )


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    lab = layout("landbridge-netcheck")
    cleanup.down(lab)
    lab.state.mkdir(parents=True, exist_ok=True)
    chosen = sample(link_lab.changes(lab))
    whole.up(lab, link_lab.site(chosen), lambda line: print(f"  {line}", file=sys.stderr))
    link_lab.configure(lab, chosen, tmp_path_factory.mktemp("play"))
    ready = Link(lab, chosen)
    listener = shlex.join(["systemd-run", "--quiet", "--unit=listen-{}", "python3", "-c", LISTEN])
    ready.run(SERVICE, "ip address add 10.20.1.11/16 dev eth0")
    for host, ports in ((SERVICE, "6817"), (SERVICE, "5000"), (SERVICE, "2049"), (NODE, "6818")):
        ready.run(host, f"{listener.format(ports)} {ports}")
    ready.names()
    yield ready
    cleanup.down(lab)


def test_a_healthy_link_has_no_fault(link: Link, tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\n")
    (tmp_path / "stacks/Pulumi.test.yaml").write_text(changed(link_lab.changes(link.lab)))
    (tmp_path / "landbridge/test").mkdir(parents=True)
    (tmp_path / "landbridge/test/outputs.json").write_text(link_lab.STACK_OUTPUTS.model_dump_json())
    words = ["netcheck", "-s", "test", "--from", f"root@{NODE_ADDRESS}", "--format", "json"]
    variables = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-m", "landbridge.cli.main", *words]
    done = subprocess.run(line, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    assert report["causes"] == [], report
    assert {result["host"] for result in report["results"]} == {GATEWAY, SERVICE, f"root@{NODE_ADDRESS}"}
    # The lab's hosts have no time daemon: their clocks are not judged, and the link is not reported as healthy.
    unjudged = {result["check"] for result in report["results"] if result["status"] == "not judged"}
    assert (unjudged, report["status"], done.returncode) == ({"clock"}, "not judged", 2)
    flows = {result["subject"] for result in report["results"] if result["check"] == "flow"}
    assert {f"ctl01 10.20.0.11:{port}" for port in (6817, 5000, 2049)} <= flows
    assert f"a node in AWS {NODE_ADDRESS}:6818" in flows


def test_faults_of_settings_and_ports_are_named_at_once(link: Link) -> None:
    link.run(GATEWAY, "nft delete table inet site_gateway && ip route del unreachable 10.60.0.0/16")
    link.run(GATEWAY, "sysctl -qw net.ipv4.conf.ipsec0.rp_filter=1")
    hole = "table inet hole { chain c { type filter hook %s priority -200; %s drop; }; }"
    link.run(AWS_GATEWAY, f"nft {shlex.quote(hole % ('input', 'iifname ipsec0 meta length > 1200'))}")
    link.run(GATEWAY, f"nft {shlex.quote(hole % ('forward', 'tcp dport 6817'))}")
    link.run(SERVICE, "systemctl stop listen-5000")
    try:
        # A packet from a network to which the route does not lead into the tunnel.
        ping = f"ping -c 1 -W 1 -I 10.99.0.1 {PEER[:-1]}2"
        link.run(AWS_GATEWAY, f"ip address add 10.99.0.1/32 dev lo; ! {ping}; ip address del 10.99.0.1/32 dev lo")
        report = link.report(GATEWAY, SERVICE, f"root@{NODE_ADDRESS}")
    finally:
        link.run(AWS_GATEWAY, "nft delete table inet hole")
        link.run(GATEWAY, "nft delete table inet hole; sysctl -qw net.ipv4.conf.ipsec0.rp_filter=0")
        link.run(GATEWAY, "site-gateway-interfaces")
    assert set(report.causes) == {
        "mss-not-clamped", "clear-text", "asymmetric-return", "mtu-black-hole", "port-blocked", "service-not-listening",
    }  # fmt: skip
    messages = {result.cause: f"{result.subject}: {result.message}" for result in report.results if result.cause}
    assert "10.20.0.11:6817" in messages["port-blocked"] and "10.20.0.11:5000" in messages["service-not-listening"]
    size = re.search(r"up to (\d+) bytes cross", messages["mtu-black-hole"])
    assert size is not None and 1192 <= int(size[1]) <= 1200
    assert "1 packets dropped" in messages["asymmetric-return"]
    link.names()


def access_plays(link: Link) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return plays of the roles of the site's timers, as in site.yml, and hosts with the variables of the plan."""
    timers = {("onprem", "services", "monitoring"): SERVICE, ("observability",): {"timers": {}}}
    planned = inventory(sample({**link_lab.changes(link.lab), **timers}), link_lab.STACK_OUTPUTS)
    variables = planned["_meta"]["hostvars"]
    for each in variables.values():
        each |= connection(link.lab)
    # The lab's service host has neither Slurm nor Landbridge's Python environment.
    variables[SERVICE]["site_timers_timers"] = [
        timer for timer in variables[SERVICE]["site_timers_timers"] if timer["name"] == "link"
    ]
    folder = ROOT / "ansible/playbooks/tasks"
    settings = {
        "site_timers_source": str(ROOT / "Makefile"),
        "site_timers_servers": [],
        "site_timers_textfiles": "/var/lib/metrics",
    }
    parts = [{"ansible.builtin.include_role": {"name": "site_timers", "tasks_from": part}} for part in PARTS]
    plays = [
        {"hosts": SERVICE, "gather_facts": False, "tasks": parts[:1]},
        {
            "hosts": f"{SERVICE},{GATEWAY}",
            "gather_facts": False,
            "tasks": [{"include_tasks": f"{folder}/host_access.yml"}],
        },
        {"hosts": SERVICE, "gather_facts": False, "vars": settings, "tasks": parts[1:]},
    ]
    return plays, {"all": {"hosts": {name: variables[name] for name in (SERVICE, GATEWAY)}}}


@pytest.mark.long
def test_a_timer_reads_a_gateway_by_its_forced_command_and_has_no_shell_there(link: Link, tmp_path: Path) -> None:
    plays, hosts = access_plays(link)
    play(link.lab, tmp_path, plays, hosts).good()
    assert play(link.lab, tmp_path, plays, hosts).good().changed == {SERVICE: 0, GATEWAY: 0}
    # In place of Landbridge: its command line of ssh, in the unit of the timer, as its account and with its key.
    address = str(link.environment.host_addresses()[GATEWAY])
    access = ForcedCommand("landbridge-access", "/etc/landbridge/timers/known_hosts", 22, "$CREDENTIALS_DIRECTORY/key")
    line = " ".join(access.ssh(address))
    program = f"""#!/bin/sh
cd "$XDG_STATE_HOME" && id -un > account
{line} link > link; echo $? > status
for words in "" sh "link; id" facts "scp -t /tmp" reboot; do {line} $words < /dev/null; echo "$? $words"; done > refused 2>&1
{line.replace("-T", "-tt")} link > terminal 2>&1
{line.replace("-T", "-s")} sftp > sftp 2>&1; echo $? >> sftp
{line.replace("-T", "-N -o ExitOnForwardFailure=yes -R 0:127.0.0.1:22")} > forward 2>&1; echo $? >> forward
{line.replace("-T", "-W 127.0.0.1:22")} > local 2>&1; echo $? >> local
cat /etc/landbridge/timers/gateways > key 2>&1
date > /var/lib/metrics/landbridge-timer-link.prom
"""
    folder, state = "/opt/landbridge/timers/bin", "/var/lib/landbridge-timers/landbridge-link"
    link.run(
        SERVICE, f"mkdir -p {folder} && printf %s {shlex.quote(program)} > {folder}/python && chmod 755 {folder}/python"
    )
    link.run(SERVICE, "systemctl start landbridge-timer-link")
    seen = {name: link.run(SERVICE, f"cat {state}/{name}") for name in FILES}
    facts = json.loads(seen["link"])
    assert (seen["account"], seen["status"]) == ("landbridge-link\n", "0\n")
    assert "list-sa event" in facts["programs"]["sas"]["out"] and facts["programs"]["neighbors"]["code"] == 0
    refusals = re.findall(r"^(\d+) ?(.*)$", seen["refused"], re.MULTILINE)
    assert [code for code, _ in refusals] == ["126"] * 6 and seen["refused"].count(
        "refused: this host accepts link"
    ) == 6
    assert "PTY allocation request failed" in seen["terminal"] and "programs" not in seen["terminal"]
    assert seen["sftp"].splitlines()[-1] == "126"
    assert seen["forward"].splitlines()[-1] == "255" and "forwarding failed" in seen["forward"]
    assert seen["local"].splitlines()[-1] == "255" and "forwarding failed" in seen["local"]
    assert "Permission denied" in seen["key"]
    assert link.run(GATEWAY, "cat /var/lib/landbridge-access/.ssh/authorized_keys").count("\nrestrict,from=") == 1


@pytest.mark.long
def test_faults_of_routes_and_bgp_are_named(link: Link) -> None:
    ours, theirs = (
        ("router bgp 65010", "address-family ipv4 unicast"),
        ("router bgp 64512", "address-family ipv4 unicast"),
    )
    link.run(GATEWAY, "ip route add 10.60.0.0/16 via 198.51.100.254")
    link.vtysh(GATEWAY, *ours, "no network 10.20.0.0/16")
    link.names("stale-route", "prefix-not-sent")
    link.run(GATEWAY, "ip route del 10.60.0.0/16 via 198.51.100.254")
    link.vtysh(GATEWAY, *ours, "network 10.20.0.0/16")
    link.vtysh(AWS_GATEWAY, *theirs, "no network 10.60.0.0/16")
    link.names("prefix-missing")
    link.vtysh(AWS_GATEWAY, *theirs, "network 10.60.0.0/16")
    link.vtysh(GATEWAY, "no ip prefix-list THEIRS seq 5", "ip prefix-list THEIRS seq 5 permit 10.61.0.0/16")
    link.run(GATEWAY, f"vtysh -c 'clear bgp {PEER} soft in'")
    link.names("prefix-filtered")
    link.vtysh(GATEWAY, "no ip prefix-list THEIRS seq 5", "ip prefix-list THEIRS seq 5 permit 10.60.0.0/16 le 24")
    link.vtysh(GATEWAY, *ours, f"neighbor {PEER} maximum-prefix 1")
    link.vtysh(AWS_GATEWAY, "ip prefix-list OURS seq 90 permit 10.60.0.0/16 le 24", *theirs, "network 10.60.1.0/24")
    link.names("prefix-limit")
    link.vtysh(AWS_GATEWAY, *theirs, "no network 10.60.1.0/24")
    link.vtysh(GATEWAY, *ours, f"neighbor {PEER} maximum-prefix 100")
    link.run(AWS_GATEWAY, "systemctl stop frr")
    link.run(GATEWAY, f"vtysh -c 'clear bgp {PEER}'")
    link.names("bgp-down")
    link.run(AWS_GATEWAY, "systemctl start frr")
    link.names()


@pytest.mark.long
def test_faults_of_ike_are_named(link: Link) -> None:
    def far_end(edit: str) -> None:
        link.run(AWS_GATEWAY, f"sed -i {shlex.quote(edit)} {CONNECTIONS} && swanctl --load-all --clear >/dev/null")
        link.run(GATEWAY, "swanctl --terminate --ike aws1 --force --timeout 1 >/dev/null || true")

    link.run(AWS_GATEWAY, f"cp {CONNECTIONS} /root/connections")
    far_end("s/ proposals = .*/ proposals = aes128-sha256-modp3072/")
    link.names("proposal-mismatch")
    link.run(AWS_GATEWAY, f"cp /root/connections {CONNECTIONS}")
    far_end('s/secret = .*/secret = "another-key"/')
    link.names("authentication-failed")
    link.run(AWS_GATEWAY, f"cp /root/connections {CONNECTIONS} && systemctl stop strongswan")
    link.names("ike-no-answer")
    link.run(AWS_GATEWAY, "systemctl start strongswan")
    link.names()
