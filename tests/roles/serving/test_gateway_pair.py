"""Two model gateways on real hosts: keepalived moves the shared address when HAProxy or a host is lost, and clients go on."""

import shlex
import sys
from collections.abc import Iterator
from itertools import pairwise

import pytest

from landbridge.plan.site.site_tls import AUTHORITY_FILE
from sandbox.demo.cluster import LabCluster, wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.machine import nodes
from tests.roles.serving.gateway_pair_lab import CLIENT, FIRST, NAME, PORT, SECOND, SHARED, SITE, GatewayPair

pytestmark = [pytest.mark.lab, pytest.mark.long, pytest.mark.timeout(1800)]
INTERVAL = 50
LOG, AUTHORITY = "/root/probes", "/root/ca.pem"
#: A line for each request: its number, and whether it had an answer of 200 within half a second; a client keeps its connection.
PROBE = """import http.client, ssl, sys, time
address, port, name, interval = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]) / 1000
context = ssl.create_default_context(cafile=sys.argv[5])
connection, number = None, 0
while True:
    number += 1
    began = time.monotonic()
    try:
        if connection is None:
            import socket
            connection = http.client.HTTPConnection(name)
            connection.sock = context.wrap_socket(socket.create_connection((address, port), 0.5), server_hostname=name)
            connection.sock.settimeout(0.5)
        connection.request("GET", "/v2/health/live")
        answer = connection.getresponse()
        answer.read()
        good = answer.status == 200
    except (OSError, http.client.HTTPException):
        good, connection = False, None
    print(number, int(good), round(time.monotonic(), 3), flush=True)
    time.sleep(max(0.0, began + interval - time.monotonic()))"""


def probes(pair: GatewayPair) -> list[tuple[int, bool, float]]:
    lines = [line.split() for line in pair.run(CLIENT, f"cat {LOG}").splitlines()]
    return [(int(line[0]), line[1] == "1", float(line[2])) for line in lines if len(line) == 3]


def wait_for_probes(pair: GatewayPair, after: int, present: bool) -> None:
    """Wait until twenty requests in a row after a number were answered, or for one that was not."""

    def reached(seen: list[tuple[int, bool, float]]) -> bool:
        later = [is_good for number, is_good, _ in seen if number > after]
        return len(later) > 20 and all(later[-20:]) if present else not all(later)

    wait_for(f"answers {'to come' if present else 'to be lost'}", lambda: probes(pair), reached)


def report(pair: GatewayPair, fault: str, after: int) -> int:
    """Print the requests without an answer since a number, and the time between the answers around them; return their number."""
    seen = [each for each in probes(pair) if each[0] >= after]
    good = [at for _, is_good, at in seen if is_good]
    gap = max((later - earlier for earlier, later in pairwise(good)), default=0.0)
    lost = sum(not is_good for _, is_good, _ in seen)
    print(f"{fault}: {lost} requests of one client lost, {gap:.2f} s without an answer", file=sys.stderr)
    return lost


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayPair]:
    lab, folder = layout("landbridge-test-gwpair"), tmp_path_factory.mktemp("pair")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        ready = GatewayPair(lab, folder)
        ready.converge("--check").good()
        assert ready.run(FIRST, "ls /etc/keepalived /etc/haproxy 2>/dev/null || true") == "", "check mode on a new host"
        ready.converge().good()
        cluster = LabCluster(lab)
        authority = ready.run(FIRST, f"cat {AUTHORITY_FILE}") + "\n"
        cluster.put(CLIENT, AUTHORITY, authority.encode(), "root")
        wait_for("the first gateway's address", ready.holders, lambda hosts: hosts == [FIRST])
        words = [
            "systemd-run",
            "--quiet",
            "--unit=probe",
            f"--property=StandardOutput=file:{LOG}",
            "python3",
            "-c",
            PROBE,
        ]
        ready.run(CLIENT, shlex.join([*words, SHARED, str(PORT), NAME, str(INTERVAL), AUTHORITY]))
        yield ready
    finally:
        cleanup.down(lab)


def test_check_mode_and_a_second_run_change_nothing(pair: GatewayPair) -> None:
    assert not any(pair.converge("--check").good().changed.values())
    second = pair.converge("--diff").good()
    assert not any(second.changed.values()), second.one_line


def test_the_address_moves_with_a_lost_haproxy_and_stays(pair: GatewayPair) -> None:
    wait_for_probes(pair, 0, present=True)
    start = probes(pair)[-1][0]
    # A drop-in, so that systemd does not start it again at once.
    pair.run(FIRST, "systemctl mask --runtime haproxy && systemctl kill --signal=KILL haproxy")
    wait_for("the second gateway's address", pair.holders, lambda hosts: hosts == [SECOND])
    wait_for_probes(pair, probes(pair)[-1][0], present=True)
    lost = report(pair, "HAProxy killed", start)
    assert lost >= 1, "the client was at the first gateway"
    pair.run(FIRST, "systemctl unmask --runtime haproxy && systemctl start haproxy")
    before = probes(pair)[-1][0]
    pair.run(FIRST, "until /usr/local/sbin/model-gateway-answers; do sleep 0.2; done")
    wait_for(
        "a state of the first gateway",
        lambda: pair.run(FIRST, "journalctl -u keepalived -o cat --no-pager | tail -n 5"),
        lambda text: "BACKUP" in text,
    )
    assert pair.holders() == [SECOND], "a gateway that comes back does not take the address"
    wait_for_probes(pair, probes(pair)[-1][0], present=True)
    assert report(pair, "HAProxy back", before) == 0


def test_the_address_moves_with_a_lost_host(pair: GatewayPair) -> None:
    wait_for_probes(pair, 0, present=True)
    start = probes(pair)[-1][0]
    nodes.power_cut(pair.lab, SECOND)
    wait_for("the first gateway's address", pair.holders, lambda hosts: hosts == [FIRST])
    wait_for_probes(pair, probes(pair)[-1][0], present=True)
    assert report(pair, "host lost", start) >= 1
