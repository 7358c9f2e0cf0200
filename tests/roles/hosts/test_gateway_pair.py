"""Failover of two gateways: a host behind them keeps its connection to a node in AWS, and lost probes are counted.

The tunnels run in user space, one for each gateway: the lab's kernel has no ESP.
"""

import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from tests.roles.hosts import gateway_pair_lab
from tests.roles.hosts.gateway_pair_lab import ENDS, HOST, NODE, NODE_ADDRESS, SHARED
from tests.unit.core.samples import environment as sample

pytestmark = [pytest.mark.lab, pytest.mark.long]
FIRST, SECOND = (ends.gateway for ends in ENDS)
#: Milliseconds between two probes.
INTERVAL = 50
LOG = "/root/probes"
#: Echo of datagrams and of one TCP connection.
ECHO = """import socket, threading
def datagrams():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("", 6818))
    while True:
        server.sendto(*server.recvfrom(64))
threading.Thread(target=datagrams).start()
server = socket.create_server(("", 6818))
while True:
    stream, _ = server.accept()
    while data := stream.recv(64):
        stream.sendall(data)"""
#: A line for each probe: its number, and whether its datagram came back before the next one; then bytes that TCP echoed.
PROBE = """import select, socket, sys, time
address, interval = sys.argv[1], int(sys.argv[2]) / 1000
stream = socket.create_connection((address, 6818))
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.connect((address, 6818))
echoed, number, start = 0, 0, time.monotonic()
while True:
    number += 1
    try:
        datagrams.send(b"%d" % number)
    except OSError:
        pass
    stream.send(b".")
    came = False
    while (left := start + number * interval - time.monotonic()) > 0:
        for ready in select.select([datagrams, stream], [], [], left)[0]:
            try:
                data = ready.recv(64)
            except OSError:
                continue
            if ready is stream:
                echoed += len(data)
            else:
                came |= int(data) == number
    print(number, int(came), echoed, flush=True)"""


@dataclass(frozen=True)
class GatewayPair:
    """Both gateways, and the probes of the host behind them."""

    lab: Layout

    def run(self, host: str, command: str) -> str:
        """Run a shell command on a machine; it must succeed."""
        done = nodes.exec(self.lab, host, [command])
        assert done.returncode == 0, f"{host}: {command}\n{done.stdout}{done.stderr}"
        return str(done.stdout)

    def probes(self) -> list[tuple[int, bool, int]]:
        lines = [line.split() for line in self.run(HOST, f"cat {LOG}").splitlines()]
        return [(int(line[0]), line[1] == "1", int(line[2])) for line in lines if len(line) == 3]

    def wait_for_probes(self, after: int, present: bool) -> None:
        """Wait until twenty probes in a row after a number came back, or for one that did not."""

        def reached(probes: list[tuple[int, bool, int]]) -> bool:
            later = [is_back for number, is_back, _ in probes if number > after]
            return len(later) > 20 and all(later[-20:]) if present else not all(later)

        wait_for(f"probes {'to come back' if present else 'to be lost'}", self.probes, reached)

    def holder(self) -> str:
        """Return the gateways that have the shared address."""
        running = [ends.gateway for ends in ENDS if nodes.alive(self.lab, ends.gateway)]
        return " ".join(name for name in running if f"{SHARED}/" in self.run(name, "ip -4 -o address show dev eth0"))

    def way(self, host: str, network: str) -> str:
        """Return the next hop of a machine's route from BGP."""
        routes = json.loads(self.run(host, f"ip -4 -j route show {network} proto bgp"))
        return str(routes[0].get("gateway", "") or routes[0].get("dev", "")) if routes else ""

    def wait_for_order(self) -> None:
        """Wait until the first gateway has the shared address and both directions use its tunnel."""
        wait_for("the first gateway's address", self.holder, lambda holder: holder == FIRST)
        wait_for("its route", lambda: self.way(FIRST, "10.60.0.0/16"), lambda hop: hop.startswith(ENDS[0].inside))
        wait_for("the standby's route", lambda: self.way(SECOND, "10.60.0.0/16"), lambda hop: hop == ENDS[0].address)
        wait_for(
            "AWS's route", lambda: self.way(ENDS[0].aws, "10.20.0.0/16"), lambda hop: hop.startswith(ENDS[0].inside)
        )

    def report(self, fault: str, after: int) -> None:
        """Print the lost probes since a number, and the longest row of them."""
        longest, row, lost = 0, 0, 0
        for number, is_back, _ in self.probes():
            row = 0 if is_back or number <= after else row + 1
            lost, longest = lost + (row > 0), max(longest, row)
        print(
            f"{fault}: {lost} probes of {INTERVAL} ms lost, {longest} in a row ({longest * INTERVAL} ms)",
            file=sys.stderr,
        )


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayPair]:
    lab = layout("landbridge-gateway-pair")
    cleanup.down(lab)
    lab.state.mkdir(parents=True, exist_ok=True)
    chosen = sample(gateway_pair_lab.changes())
    whole.up(lab, gateway_pair_lab.site(chosen), lambda line: print(f"  {line}", file=sys.stderr))
    folder = tmp_path_factory.mktemp("play")
    gateway_pair_lab.configure(lab, chosen, folder).good()
    assert not any(gateway_pair_lab.configure(lab, chosen, folder).good().changed.values())
    ready = GatewayPair(lab)
    ready.run(NODE, shlex.join(["systemd-run", "--quiet", "--unit=echo", "python3", "-c", ECHO]))
    ready.wait_for_order()
    words = ["systemd-run", "--quiet", "--unit=probe", f"--property=StandardOutput=file:{LOG}", "python3", "-c", PROBE]
    ready.run(HOST, shlex.join([*words, NODE_ADDRESS, str(INTERVAL)]))
    yield ready
    cleanup.down(lab)


def test_a_host_keeps_its_connection_when_a_tunnel_or_a_gateway_is_lost(pair: GatewayPair) -> None:
    pair.wait_for_probes(0, present=True)
    start = pair.probes()[-1]
    # Packets of the tunnel vanish: no interface goes down.
    hole = "table inet hole { chain i { type filter hook input priority -300; iif eth1 drop; }; chain o { type filter hook output priority -300; oif eth1 drop; }; }"
    pair.run(FIRST, f"nft {shlex.quote(hole)}")
    pair.wait_for_probes(start[0], present=False)
    pair.wait_for_probes(start[0], present=True)
    assert pair.way(FIRST, "10.60.0.0/16") == ENDS[1].address, "the first gateway's next hop is the second gateway"
    assert pair.holder() == FIRST
    pair.report("tunnel lost", start[0])
    again = pair.probes()[-1]
    pair.run(FIRST, "nft delete table inet hole")
    pair.wait_for_order()
    pair.report("tunnel back", again[0])

    before = pair.probes()[-1]
    nodes.power_cut(pair.lab, FIRST)
    pair.wait_for_probes(before[0], present=False)
    pair.wait_for_probes(before[0], present=True)
    assert pair.holder() == SECOND
    pair.report("gateway lost", before[0])
    back = pair.probes()[-1]
    nodes.boot(pair.lab, FIRST)
    nodes.wait_ssh(pair.lab, [FIRST])
    pair.wait_for_order()
    pair.wait_for_probes(back[0], present=True)
    pair.report("gateway back", back[0])

    # As docs/how-to/when-the-link-fails.md has it: maintenance of the first gateway.
    service = pair.probes()[-1]
    words = ["configure terminal", "router bgp 65010", f"neighbor {ENDS[0].inside}.1 shutdown"]
    shutdown = shlex.join(["vtysh", *(word for line in words for word in ("-c", line))])
    pair.run(FIRST, f"systemctl stop keepalived && {shutdown}")
    wait_for("the second gateway's address", pair.holder, lambda holder: holder == SECOND)
    wait_for("AWS's route", lambda: pair.way(ENDS[0].aws, "10.20.0.0/16"), lambda hop: hop == ENDS[1].aws_address)
    pair.wait_for_probes(pair.probes()[-1][0], present=True)
    pair.run(FIRST, "systemctl reload frr && systemctl start keepalived")
    pair.wait_for_order()
    pair.wait_for_probes(pair.probes()[-1][0], present=True)
    pair.report("maintenance", service[0])

    # Packets leave by the first gateway and return by the second one: none is dropped.
    received = int(pair.run(SECOND, "cat /sys/class/net/ipsec0/statistics/rx_packets"))
    pair.run(ENDS[0].aws, f"ip route add 10.20.0.0/16 via {ENDS[1].aws_address} metric 1")
    pair.run(ENDS[1].aws, f"ip route add 10.20.0.0/16 via {ENDS[1].inside}.2 metric 1")
    changed = pair.probes()[-1]
    pair.wait_for_probes(changed[0], present=True)
    pair.report("asymmetric return", changed[0])
    assert int(pair.run(SECOND, "cat /sys/class/net/ipsec0/statistics/rx_packets")) > received + 20

    # The program has one TCP connection from the beginning: its bytes still come back.
    end = pair.probes()[-1]
    assert start[2] < again[2] < end[2]
    assert "failed" not in pair.run(HOST, "systemctl is-active probe")
