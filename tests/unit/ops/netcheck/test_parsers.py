"""Parsers of netcheck, and the program that reads the facts of a host."""

import base64
import json
import socket
import subprocess
import sys
from ipaddress import IPv4Network

import pytest

from landbridge.ops.netcheck import probe, routing, swanctl
from landbridge.ops.netcheck.collect import PROBE
from landbridge.ops.netcheck.routing import KernelRoute
from tests.unit.ops.netcheck import records

EXPECTED = records.expectations()
GATEWAY = records.healthy(EXPECTED)[records.GATEWAY]


def test_raw_output_of_swanctl_has_sections_lists_and_values_with_spaces() -> None:
    line = "{aws1 {local_addrs=[10.0.0.1 10.0.0.2] version=IKEv2 local-1 {class=pre-shared key groups=[]} children {}}}"
    local = {"class": "pre-shared key", "groups": []}
    values = {"local_addrs": ["10.0.0.1", "10.0.0.2"], "version": "IKEv2", "local-1": local, "children": {}}
    assert swanctl.raw(line) == {"aws1": values}


@pytest.mark.parametrize("text", ["", "{aws1 {}}}}", "connecting to 'unix:///var/run/charon.vici' failed", "{=}"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="swanctl"):
        swanctl.raw(text)
    with pytest.raises(ValueError, match="swanctl"):
        swanctl.associations(text)


def test_a_failure_belongs_to_the_connection_that_was_tried_and_ends_with_a_success() -> None:
    log = (
        "initiating IKE_SA aws1[1] to 198.51.100.20\n"
        "received NO_PROPOSAL_CHOSEN notify error\n"
        "vici initiate CHILD_SA 'aws2'\n"
        "initiating IKE_SA aws2[2] to 198.51.100.21\n"
        "received AUTHENTICATION_FAILED notify error\n"
    )
    failures = swanctl.last_failures(log)
    assert {name: cause for name, (cause, _) in failures.items()} == {
        "aws1": "proposal-mismatch",
        "aws2": "authentication-failed",
    }
    after = swanctl.last_failures(f"{log}CHILD_SA aws1{{3}} established with SPIs 1_i 2_o and TS 0.0.0.0/0\n")
    assert list(after) == ["aws2"]


def test_the_used_route_is_the_most_specific_then_the_cheapest() -> None:
    def route(network: str, metric: int, kind: str = "unicast") -> KernelRoute:
        return KernelRoute(IPv4Network(network), kind, "eth0", "static", metric, "")

    routes = (
        route("0.0.0.0/0", 0),
        route("10.60.0.0/16", 4278198272, "unreachable"),
        route("10.60.0.0/16", 20),
    )
    assert routing.used_route(routes, IPv4Network("10.60.1.0/24")) == routes[2]
    assert routing.used_route(routes[:2], IPv4Network("10.60.1.0/24")) == routes[1]
    assert routing.used_route(routes, IPv4Network("10.61.0.0/16")) == routes[0]


def test_a_counter_is_read_by_its_name() -> None:
    text = GATEWAY.data["netstat"][0]
    assert routing.counter(text, "IPReversePathFilter") >= 0
    with pytest.raises(ValueError, match="NoSuchCounter"):
        routing.counter(text, "NoSuchCounter")


def test_the_addresses_of_a_dns_response_are_read_after_other_records() -> None:
    question = b"\x05ctl01\x00\x00\x01\x00\x01"
    alias = b"\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x3c\x00\x02\xc0\x0c"
    address = b"\x01a\x00\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x14\x00\x0b"
    header = b"\x00" * 12
    response = header + question + alias + address
    assert list(probe._addresses(response, len(header + question), 2)) == ["10.20.0.11"]


def test_the_probe_runs_alone_and_tells_refused_from_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as closed:
        port, other = server.getsockname()[1], closed.getsockname()[1]
        closed.close()
        request = {
            "timeout": 5,
            "programs": {"echo": ["echo", "text"], "none": ["no-such-program"]},
            "files": ["/proc/sys/net/ipv4/ip_forward", "/no/such/file"],
            "tcp": [["127.0.0.1", port], ["127.0.0.1", other]],
            "dns": [],
            "paths": [],
        }
        encoded = base64.b64encode(json.dumps(request).encode()).decode()
        # Without this checkout's modules, as on a host.
        done = subprocess.run(
            [sys.executable, "-IB", "-", encoded], input=PROBE.read_bytes(), capture_output=True, check=True
        )
    facts = json.loads(done.stdout)
    assert [item["outcome"] for item in facts["tcp"]] == ["open", "refused"]
    assert facts["programs"]["echo"] == {"code": 0, "out": "text\n", "err": ""}
    assert facts["programs"]["none"]["code"] is None
    assert facts["files"]["/proc/sys/net/ipv4/ip_forward"].strip() in ("0", "1")
    assert facts["files"]["/no/such/file"] is None
