"""Throughput sample of netcheck: the program at both ends on loopback, and the judgement."""

import socket
from dataclasses import replace

import pytest

from landbridge.ops.netcheck.collect import HostFacts, LinkHost
from landbridge.ops.netcheck.metrics import metrics_text
from landbridge.ops.netcheck.throughput import sample, throughput_ends, throughput_results
from landbridge.plan.site.link.expectations import LinkExpectations
from landbridge.plan.site.link.flows import LinkSide
from sandbox.ports import free_port
from tests.unit.ops.netcheck import records
from tests.unit.ops.netcheck.records import NODE, SERVICE

EXPECTED = records.expectations()


def here(name: str, side: LinkSide) -> LinkHost:
    """Return a host that is this machine."""
    return LinkHost(name, side, "127.0.0.1", ())


def bounded(port: int, **bounds: int) -> LinkExpectations:
    limits = EXPECTED.limits
    throughput = limits.throughput.model_copy(update={"connections": 3, "seconds": 2, **bounds})
    return replace(EXPECTED, throughput_port=port, limits=limits.model_copy(update={"throughput": throughput}))


def test_a_sample_of_both_directions_ends_at_its_bytes() -> None:
    port = free_port()
    expected = bounded(port, bytes=20_000_000)
    ends = throughput_ends([here(SERVICE, "onprem"), here(NODE, "aws")])
    every = sample(expected, ends, [HostFacts(host, {}) for host in ends])
    for facts, other in zip(every, reversed(ends), strict=True):
        (received,) = facts.data["throughput"]
        assert received["sender"] == other.name and received["connections"] == 3, received
        assert 20_000_000 <= received["bytes"] < 40_000_000
    text = metrics_text(records.report(EXPECTED, {SERVICE: every[0]}), every, 1.0)
    assert f'landbridge_link_throughput_bytes_per_second{{environment="test",host="{SERVICE}",sender="{NODE}"}}' in text


def test_a_port_that_is_taken_gives_no_rate() -> None:
    port = free_port()
    ends = (here(SERVICE, "onprem"), here(NODE, "aws"))
    with socket.create_server(("127.0.0.1", port)):
        every = sample(bounded(port, bytes=1000), ends, [HostFacts(host, {}) for host in ends])
    (result,) = throughput_results(EXPECTED, every[0])
    assert result.status == "not judged" and "in use" in result.message


@pytest.mark.parametrize(("size", "cause"), [(125_000_000, ""), (124_000_000, "low-throughput")])
def test_a_rate_below_the_limit_is_a_fault(size: int, cause: str) -> None:
    received = {"sender": NODE, "bytes": size, "seconds": 10.0, "connections": 8}
    (result,) = throughput_results(EXPECTED, HostFacts(here(SERVICE, "onprem"), {"throughput": [received]}))
    assert result.cause == cause and "Mbit/s over 8 connections" in result.message


def test_a_sample_needs_a_node_in_aws() -> None:
    with pytest.raises(ValueError, match="--from USER@ADDRESS"):
        throughput_ends([here(SERVICE, "onprem")])
