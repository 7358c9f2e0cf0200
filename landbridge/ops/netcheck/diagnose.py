"""Diagnosis of the link: compare the expectations of the plan with the facts of the hosts. Pure."""

from collections.abc import Iterator, Sequence

from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.netcheck.gateway import gateway_results
from landbridge.ops.netcheck.gateway_pair import shared_address_results
from landbridge.ops.netcheck.paths import path_results
from landbridge.ops.netcheck.result import LinkReport, LinkResult, Subject
from landbridge.ops.netcheck.throughput import throughput_results
from landbridge.ops.netcheck.traffic import clock_results, flow_results, name_results, silent_hosts
from landbridge.ops.netcheck.tunnel_certificate import certificate_results
from landbridge.plan.site.link.expectations import LinkExpectations


def diagnose(expected: LinkExpectations, every: Sequence[HostFacts]) -> LinkReport:
    """Return the report. Hosts without facts are not judged."""
    return LinkReport(expected.environment, tuple(_results(expected, every)), tuple(_not_asked(expected, every)))


def _results(expected: LinkExpectations, every: Sequence[HostFacts]) -> Iterator[LinkResult]:
    for facts in every:
        if facts.error:
            yield Subject("host", facts.host.name, "").unjudged(f"no facts: {facts.error}")
        elif facts.host.gateway is not None:
            yield from gateway_results(facts.host.gateway, facts.data)
            yield from certificate_results(facts.host.gateway, facts.data)
    yield from shared_address_results(every)
    for facts in every:
        if not facts.error and facts.host.gateway is None:
            yield from flow_results(expected, facts)
            yield from throughput_results(expected, facts)
            for path in facts.data.get("paths", ()):
                subject = Subject("mtu", facts.host.name, f"to {path['address']}")
                yield from path_results(subject, path["address"], facts.data)
    yield from name_results(expected, [facts for facts in every if not facts.error])
    yield from clock_results(expected, every)


def _not_asked(expected: LinkExpectations, every: Sequence[HostFacts]) -> Iterator[str]:
    """Yield a sentence for each part of the link that no host of this run could try."""
    if any(not gateway.offered for gateway in expected.gateways):
        yield "tunnels and BGP: `landbridge up` has not written the stack's outputs on this machine"
    if not expected.gateways:
        yield "tunnels, BGP and routes: the environment has no gateway that Landbridge configures"
    if not any(facts.host.side == "aws" for facts in every):
        yield "connections to and from nodes in AWS, and their DNS: name a running one with --from USER@ADDRESS"
    silent = silent_hosts(expected, every)
    if silent:
        yield (
            f"connections to {', '.join(silent)}: no port answers. `landbridge serve wake 60` starts hosts of model servers "
            "that the gateway has stopped; if they run already, all of their ports are blocked"
        )
