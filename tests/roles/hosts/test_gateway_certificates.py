"""Certificates of tunnels, and two active gateways: real strongSwan and FRR with a test CA.

The flows of a host behind the gateways return over both tunnels (ECMP). Certificates are rotated one gateway after the other, a
gateway is lost, and an expired and an untrusted certificate are named by their cause.
"""

import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from landbridge.ops.netcheck.swanctl import associations, last_failures
from landbridge.ops.netcheck.tunnel_certificate import end_of
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.machine import nodes
from tests.roles.hosts import gateway_certificates_lab, gateway_pair_lab
from tests.roles.hosts.gateway_certificates_lab import Certified
from tests.roles.hosts.gateway_pair_lab import ENDS, HOST, NODE, NODE_ADDRESS, SHARED
from tests.roles.hosts.test_gateway_pair import ECHO
from tests.unit.core.samples import environment as sample
from tests.unit.plan.site import tunnel_authority

pytestmark = [pytest.mark.lab, pytest.mark.long]
FIRST, SECOND = (ends.gateway for ends in ENDS)
AWS, SITE = "10.60.0.0/16", "10.20.0.0/16"
FLOWS, INTERVAL = 16, 100
LOG, TUNNELS = "/root/flows", "/root/tunnels"
#: A line for each interval: its number, and the number of flows whose datagram came back in it.
PROBE = """import select, socket, sys, time
address, flows, interval = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) / 1000
clients = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(flows)]
for client in clients:
    client.connect((address, 6818))
number, start = 0, time.monotonic()
while True:
    number += 1
    back = set()
    for client in clients:
        try:
            client.send(b"%d" % number)
        except OSError:
            pass
    while (left := start + number * interval - time.monotonic()) > 0:
        for ready in select.select(clients, [], [], left)[0]:
            try:
                if int(ready.recv(64)) == number:
                    back.add(ready)
            except OSError:
                pass
    print(number, len(back), flush=True)"""
#: A line for each look: seconds since 1970, and the number of installed associations of the gateway.
WATCH = f"""while true; do echo $(date +%s.%N) $(swanctl --list-sas --raw | grep -c state=INSTALLED) >> {TUNNELS}; sleep 0.1; done"""


@dataclass(frozen=True)
class Gateways:
    """Gateways with certificates, and the flows of the host behind them."""

    site: Certified

    def run(self, host: str, command: str) -> str:
        """Run a shell command on a machine; it must succeed."""
        done = nodes.exec(self.site.lab, host, [command])
        assert done.returncode == 0, f"{host}: {command}\n{done.stdout}{done.stderr}"
        return str(done.stdout)

    def next_hops(self, host: str, network: str) -> set[str]:
        """Return the next hops of a machine's route from BGP."""
        routes = json.loads(self.run(host, f"ip -4 -j route show {network} proto bgp"))
        hops = [hop for route in routes for hop in route.get("nexthops", [route])]
        return {str(hop.get("gateway") or hop.get("dev")) for hop in hops}

    def wait_for_both(self) -> None:
        """Wait until the node divides its flows over both tunnels, and each gateway uses its own."""
        both = {ends.aws_address for ends in ENDS}
        wait_for("two routes of the node", lambda: self.next_hops(NODE, SITE), lambda hops: hops == both)
        for ends in ENDS:
            hop = f"{ends.inside}.1"
            wait_for(
                f"the route of {ends.gateway}", lambda e=ends: self.next_hops(e.gateway, AWS), lambda h, w=hop: h == {w}
            )

    def flows(self) -> list[tuple[int, int]]:
        lines = [line.split() for line in self.run(HOST, f"cat {LOG}").splitlines()]
        return [(int(line[0]), int(line[1])) for line in lines if len(line) == 2]

    def wait_for_flows(self, after: int) -> None:
        """Wait until every flow came back in ten intervals in a row after a number."""

        def reached(flows: list[tuple[int, int]]) -> bool:
            later = [back for number, back in flows if number > after]
            return len(later) > 10 and all(back == FLOWS for back in later[-10:])

        wait_for("all flows to come back", self.flows, reached)

    def report(self, fault: str, after: int) -> None:
        """Print the longest time without all flows, and without any of them, since a number."""
        rows = {"without all flows": FLOWS, "without any flow": 1}
        for words, least in rows.items():
            longest, row = 0, 0
            for number, back in self.flows():
                row = 0 if back >= least or number <= after else row + 1
                longest = max(longest, row)
            print(f"{fault}: {longest * INTERVAL} ms {words}", file=sys.stderr)

    def serial(self, host: str) -> str:
        """Return the serial number of the certificate with which the associations of a machine can be made."""
        return self.run(host, "openssl x509 -in /etc/swanctl/x509/site-gateway.pem -noout -serial").strip()

    def installed(self, host: str) -> int:
        return sum(each.installed for each in associations(self.run(host, "swanctl --list-sas --raw")))

    def failure(self, host: str) -> tuple[str, str]:
        """Return the cause and the line of the last failure of the gateway's tunnel."""
        log = self.run(host, "journalctl --unit=strongswan --output=cat --no-pager --lines=400")
        return last_failures(log).get("aws1", ("", ""))


@pytest.fixture(scope="module")
def gateways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateways]:
    lab = layout("landbridge-gateway-certificates")
    cleanup.down(lab)
    lab.state.mkdir(parents=True, exist_ok=True)
    folder, authority = tmp_path_factory.mktemp("play"), tmp_path_factory.mktemp("authority")
    chosen = sample(gateway_certificates_lab.changes(tunnel_authority.create(authority, "tunnels")))
    whole.up(lab, gateway_pair_lab.site(chosen), lambda line: print(f"  {line}", file=sys.stderr))
    site = Certified(lab, chosen, folder, authority)
    site.configure().good()
    second_run = site.configure().good()
    assert not any(second_run.changed.values()), second_run.one_line
    site.route_node().good()
    ready = Gateways(site)
    ready.run(NODE, shlex.join(["systemd-run", "--quiet", "--unit=echo", "python3", "-c", ECHO]))
    ready.wait_for_both()
    words = ["systemd-run", "--quiet", "--unit=flows", f"--property=StandardOutput=file:{LOG}", "python3", "-c", PROBE]
    ready.run(HOST, shlex.join([*words, NODE_ADDRESS, str(FLOWS), str(INTERVAL)]))
    yield ready
    cleanup.down(lab)


def test_flows_return_over_both_tunnels_which_have_certificates(gateways: Gateways) -> None:
    gateways.wait_for_flows(0)
    for ends in ENDS:
        sas = gateways.run(ends.gateway, "swanctl --list-sas")
        # Each end has the name of the other's certificate, and no key is shared.
        assert f"CN=vpn-{ends.aws}.endpoint-0" in sas and f"CN={ends.gateway}." in sas, sas
        assert "secrets" not in gateways.run(ends.gateway, "cat /etc/swanctl/conf.d/site-gateway.conf")
        modes = gateways.run(
            ends.gateway, "stat -c %a /etc/swanctl/private/site-gateway.pem /etc/landbridge/tunnel/host.pem"
        )
        assert modes.split() == ["600", "600"]
        name, _ = end_of(
            gateways.run(
                ends.gateway,
                "openssl x509 -in /etc/swanctl/x509/site-gateway.pem -noout -subject -nameopt multiline -enddate",
            )
        )
        assert name.startswith(f"{ends.gateway}.")
    counter = "cat /sys/class/net/ipsec0/statistics/rx_packets"
    before = {name: int(gateways.run(name, counter)) for name in (FIRST, SECOND)}
    gateways.wait_for_flows(gateways.flows()[-1][0])
    assert all(int(gateways.run(name, counter)) > before[name] + 10 for name in (FIRST, SECOND)), (
        "one tunnel alone is used"
    )


def test_certificates_are_rotated_while_one_tunnel_is_up(gateways: Gateways) -> None:
    former = {name: gateways.serial(name) for name in (FIRST, SECOND)}
    for name in former:
        gateways.run(name, shlex.join(["systemd-run", "--quiet", "--unit=watch", "sh", "-c", WATCH]))
    start = gateways.flows()[-1][0]
    played = gateways.site.rotate().good()
    assert all(played.changed[name] for name in former)
    gateways.wait_for_both()
    gateways.wait_for_flows(gateways.flows()[-1][0])
    gateways.report("rotation of both certificates", start)
    looks = []
    for name in former:
        gateways.run(name, "systemctl stop watch")
        assert gateways.serial(name) != former[name]
        for line in gateways.run(name, f"cat {TUNNELS}").splitlines():
            seconds, _, count = line.partition(" ")
            looks.append((float(seconds), name, int(count)))
    up = dict.fromkeys(former, True)
    down = set()
    for _, name, count in sorted(looks):
        up[name] = count > 0
        down.add(tuple(sorted(each for each, is_up in up.items() if not is_up)))
    assert (FIRST, SECOND) not in down, "both tunnels were down at the same time"
    assert {(FIRST,), (SECOND,)} <= down, "each association was replaced"


def test_flows_of_a_lost_gateway_use_the_other_one(gateways: Gateways) -> None:
    before = gateways.flows()[-1][0]
    nodes.power_cut(gateways.site.lab, FIRST)
    wait_for(
        "one route of the node", lambda: gateways.next_hops(NODE, SITE), lambda hops: hops == {ENDS[1].aws_address}
    )
    gateways.wait_for_flows(gateways.flows()[-1][0])
    assert f"{SHARED}/" in gateways.run(SECOND, "ip -4 -o address show dev eth0")
    gateways.report("one of two active gateways lost", before)
    back = gateways.flows()[-1][0]
    nodes.boot(gateways.site.lab, FIRST)
    nodes.wait_ssh(gateways.site.lab, [FIRST])
    gateways.wait_for_both()
    gateways.wait_for_flows(gateways.flows()[-1][0])
    gateways.report("the gateway back", back)


def test_a_fault_of_a_certificate_has_its_cause(gateways: Gateways) -> None:
    site, aws = gateways.site, ENDS[0].aws
    # AWS's end has a certificate that has ended: this gateway refuses it.
    (site.authority / "expired").touch()
    site.configure(**{aws: {"site_gateway_certificate_renew": True}}).good()
    gateways.run(FIRST, "swanctl --terminate --ike aws1 --force; true")
    wait_for("the refusal", lambda: gateways.failure(FIRST), lambda failure: failure[0] == "certificate-expired")
    assert gateways.installed(FIRST) == 0 and gateways.installed(SECOND) == 1
    # AWS's end has one of another CA.
    (site.authority / "expired").unlink()
    other = site.authority / "other"
    tunnel_authority.create(other, "others")
    program = [sys.executable, str(gateway_certificates_lab.PROGRAM), str(other)]
    renewed = {"site_gateway_certificate_renew": True, "site_gateway_certificate_program": program}
    site.configure(**{aws: renewed}).good()
    wait_for("the refusal", lambda: gateways.failure(FIRST), lambda failure: failure[0] == "certificate-untrusted")
    site.configure(**{aws: {"site_gateway_certificate_renew": True}}).good()
    gateways.wait_for_both()
    gateways.wait_for_flows(gateways.flows()[-1][0])
