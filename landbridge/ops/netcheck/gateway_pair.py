"""Judgement of the address that two gateways share: exactly one of them has it. Pure."""

from collections.abc import Iterator, Sequence

from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.netcheck.gateway_facts import GatewayFacts, MissingFactError
from landbridge.ops.netcheck.result import LinkResult, Subject


def shared_address_results(every: Sequence[HostFacts]) -> Iterator[LinkResult]:
    """Yield the result of the shared address; none if there is one gateway."""
    pair = {facts.host.name: facts for facts in every if facts.host.gateway and facts.host.gateway.shared_address}
    if not pair:
        return
    address = next(facts.host.gateway.shared_address for facts in pair.values() if facts.host.gateway)
    subject = Subject("redundancy", " and ".join(pair), address)
    holders, unknown = [], []
    for name, facts in pair.items():
        try:
            if address in GatewayFacts(facts.data).addresses:
                holders.append(name)
        except MissingFactError:
            unknown.append(name)
    if len(holders) > 1:
        yield subject.fault("shared-address", f"{' and '.join(holders)} both have it")
    elif holders:
        yield subject.passed(f"{holders[0]} has it")
    elif unknown:
        yield subject.unjudged(f"no facts of {' and '.join(unknown)}")
    else:
        yield subject.fault("shared-address", "no gateway has it")
