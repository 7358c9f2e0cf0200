"""Judgement of a gateway: tunnels, BGP, routes, packet sizes and kernel settings, against the expectations. Pure."""

from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from landbridge.ops.netcheck import routing
from landbridge.ops.netcheck.gateway_facts import GatewayFacts, MissingFactError
from landbridge.ops.netcheck.paths import path_results
from landbridge.ops.netcheck.result import LinkResult, Subject
from landbridge.plan.site.link.expectations import GatewayExpectation, TunnelExpectation

#: Strict reverse-path filter. Source: Linux, ip-sysctl.rst, rp_filter.
_STRICT = 1
_RP_FILTER = "/proc/sys/net/ipv4/conf/{}/rp_filter"


def gateway_results(gateway: GatewayExpectation, data: Mapping[str, Any]) -> Iterator[LinkResult]:
    """Yield the results of a gateway. A check whose facts are missing is not judged."""
    facts = GatewayFacts(data)
    checks = (_tunnels, _bgp, _routes, _clear_text, _kernel_settings, _mss, _paths)
    for check in checks:
        yield from check(gateway, facts)


def _judge(subject: Subject, judge: Callable[..., LinkResult], *values: Any) -> LinkResult:
    """Return the result of a check; it is not judged if a fact is missing."""
    try:
        return judge(subject, *values)
    except MissingFactError as error:
        return subject.unjudged(str(error))


def _tunnels(gateway: GatewayExpectation, facts: GatewayFacts) -> Iterator[LinkResult]:
    for tunnel in gateway.tunnels:
        yield _judge(Subject("tunnel", gateway.host, tunnel.name), _tunnel, tunnel, facts)
        if gateway.datapath == "kernel":
            yield from _nat(gateway, tunnel, facts)
    if len(gateway.tunnels) > 1:
        yield _judge(Subject("redundancy", gateway.host, ""), _redundancy, gateway, facts)


def _tunnel(subject: Subject, tunnel: TunnelExpectation, facts: GatewayFacts) -> LinkResult:
    association = facts.associations.get(tunnel.name)
    ends = f"{tunnel.local_address} to {tunnel.remote_address}"
    if association is not None and association.installed:
        if association.remote != tunnel.remote_address:
            return subject.fault(
                "tunnel-down", f"it ends at {association.remote}, and not at AWS's address {tunnel.remote_address}"
            )
        return subject.passed(
            f"{ends}, {association.bytes_in} bytes received, {association.bytes_out} bytes sent since the last rekeying"
        )
    failure = facts.failures.get(tunnel.name)
    if failure is None:
        state = association.state if association is not None else "no association"
        return subject.fault("tunnel-down", f"{ends}: {state}, and strongSwan's log of half an hour has no reason")
    cause, line = failure
    return subject.fault(cause, f"{ends}: {line}")


def _nat(gateway: GatewayExpectation, tunnel: TunnelExpectation, facts: GatewayFacts) -> Iterator[LinkResult]:
    """Yield the result of NAT detection. In user space both ends always act as if there were one."""
    subject = Subject("nat", gateway.host, tunnel.name)
    try:
        association = facts.associations.get(tunnel.name)
    except MissingFactError as error:
        yield subject.unjudged(str(error))
        return
    if association is None or not association.installed:
        return
    if association.nat:
        yield subject.fault(
            "nat-between", "IKE found a translated address; ESP is inside UDP 4500, which costs 8 bytes"
        )
    else:
        yield subject.passed("no address is translated")


def _usable(tunnel: TunnelExpectation, facts: GatewayFacts) -> bool:
    association, neighbor = facts.associations.get(tunnel.name), facts.neighbors.get(tunnel.inside_remote)
    return association is not None and association.installed and neighbor is not None and neighbor.established


def _redundancy(subject: Subject, gateway: GatewayExpectation, facts: GatewayFacts) -> LinkResult:
    usable = [tunnel.name for tunnel in gateway.tunnels if _usable(tunnel, facts)]
    text = f"{len(usable)} of {len(gateway.tunnels)} tunnels carry routes"
    if len(usable) == 1:
        return subject.fault("one-tunnel", f"{text}: {usable[0]}")
    return subject.passed(text) if usable else subject.unjudged(f"{text}: see the other results")


def _bgp(gateway: GatewayExpectation, facts: GatewayFacts) -> Iterator[LinkResult]:
    for tunnel in gateway.tunnels:
        subject = Subject("bgp", gateway.host, f"{tunnel.name} {tunnel.inside_remote}")
        result = _judge(subject, _session, gateway, tunnel, facts)
        yield result
        if result.status == "passed":
            yield from _prefixes(gateway, tunnel, facts)
    for address in gateway.inside_neighbors:
        yield _judge(Subject("bgp", gateway.host, f"inside {address}"), _inside_session, address, facts)


def _inside_session(subject: Subject, address: str, facts: GatewayFacts) -> LinkResult:
    neighbor = facts.neighbors.get(address)
    if neighbor is None:
        return subject.fault("inside-bgp-down", "FRR has no such neighbour")
    if not neighbor.established:
        return subject.fault("inside-bgp-down", f"the session is in state {neighbor.state}")
    return subject.passed(f"AS {neighbor.remote_asn}")


def _session(
    subject: Subject, gateway: GatewayExpectation, tunnel: TunnelExpectation, facts: GatewayFacts
) -> LinkResult:
    association = facts.associations.get(tunnel.name)
    if association is None or not association.installed:
        return subject.unjudged("its tunnel is down")
    neighbor = facts.neighbors.get(tunnel.inside_remote)
    if neighbor is None:
        return subject.fault("bgp-down", "FRR has no such neighbour")
    if neighbor.remote_asn != tunnel.remote_asn:
        return subject.fault(
            "bgp-down", f"FRR is configured for AS {neighbor.remote_asn}, and AWS has AS {tunnel.remote_asn}"
        )
    if neighbor.over_limit:
        return subject.fault("prefix-limit", f"more than {neighbor.limit} prefixes: {neighbor.reason}")
    if not neighbor.established:
        reason = f"; the last session ended with: {neighbor.reason}" if neighbor.reason else ""
        return subject.fault("bgp-down", f"the tunnel is up and the session is in state {neighbor.state}{reason}")
    return subject.passed(f"AS {gateway.asn} with AS {neighbor.remote_asn}")


def _prefixes(gateway: GatewayExpectation, tunnel: TunnelExpectation, facts: GatewayFacts) -> Iterator[LinkResult]:
    for prefix in gateway.accepts:
        subject = Subject("prefix", gateway.host, f"{prefix} from {tunnel.name}")
        yield _judge(subject, _accepted, prefix, tunnel.inside_remote, facts)
    for prefix in gateway.sends:
        subject = Subject("prefix", gateway.host, f"{prefix} to {tunnel.name}")
        yield _judge(subject, _sent, prefix, tunnel.inside_remote, facts)


def _accepted(subject: Subject, prefix: str, neighbor: str, facts: GatewayFacts) -> LinkResult:
    wanted = IPv4Network(prefix)
    if any(IPv4Network(item).subnet_of(wanted) for item in facts.parsed(f"routes {neighbor}", routing.prefixes)):
        return subject.passed("accepted")
    if prefix in facts.parsed(f"received-routes {neighbor}", routing.prefixes):
        return subject.fault("prefix-filtered", "received, and refused by this gateway's filter")
    return subject.fault("prefix-missing", f"{neighbor} does not announce it")


def _sent(subject: Subject, prefix: str, neighbor: str, facts: GatewayFacts) -> LinkResult:
    if prefix in facts.parsed(f"advertised-routes {neighbor}", routing.prefixes):
        return subject.passed("announced")
    return subject.fault("prefix-not-sent", f"not announced to {neighbor}")


def _routes(gateway: GatewayExpectation, facts: GatewayFacts) -> Iterator[LinkResult]:
    for prefix in gateway.accepts:
        subject = Subject("route", gateway.host, prefix)
        yield _judge(subject, _route, prefix, gateway, facts)


def _hidden(prefix: IPv4Network, gateway: GatewayExpectation, facts: GatewayFacts) -> list[routing.KernelRoute]:
    """Return the routes inside a prefix that are neither from BGP nor into a tunnel, and do not drop packets."""
    interfaces = {tunnel.interface for tunnel in gateway.tunnels}
    return [
        route
        for route in facts.routes
        if route.network.subnet_of(prefix)
        and not route.drops
        and route.origin != "bgp"
        and route.device not in interfaces
    ]


def _route(subject: Subject, prefix: str, gateway: GatewayExpectation, facts: GatewayFacts) -> LinkResult:
    network = IPv4Network(prefix)
    for route in _hidden(network, gateway, facts):
        used = routing.used_route(facts.routes, route.network)
        if used == route:
            return subject.fault(
                "stale-route", f"{route.network} leaves by {route.device} (origin {route.origin}), and not in a tunnel"
            )
    learned = [route for route in facts.routes if route.origin == "bgp" and route.network.subnet_of(network)]
    if learned:
        insides = {tunnel.interface: tunnel.inside_local for tunnel in gateway.tunnels}
        route = learned[0]
        if route.device in insides and route.source in ("", insides[route.device]):
            return subject.fault(
                "gateway-source", f"the gateway's own connections have the source {insides[route.device]}"
            )
        return subject.passed(f"by {route.device}, from BGP")
    if any(_usable(tunnel, facts) for tunnel in gateway.tunnels):
        return subject.unjudged("the kernel has no route from BGP to it: see the results of its prefixes")
    return subject.unjudged("no tunnel carries routes")


def _clear_text(gateway: GatewayExpectation, facts: GatewayFacts) -> Iterator[LinkResult]:
    for prefix in gateway.accepts:
        subject = Subject("clear-text", gateway.host, prefix)
        yield _judge(subject, _dropped, prefix, gateway, facts)


def _dropped(subject: Subject, prefix: str, gateway: GatewayExpectation, facts: GatewayFacts) -> LinkResult:
    """Judge the route that packets would take if BGP had none; a stale route is its own fault."""
    network = IPv4Network(prefix)
    stale = _hidden(network, gateway, facts)
    fallback = routing.used_route((r for r in facts.routes if r.origin != "bgp" and r not in stale), network)
    if fallback is None or fallback.drops:
        return subject.passed("packets are dropped while no tunnel is up")
    return subject.fault(
        "clear-text", f"while no tunnel is up, packets leave by {fallback.device} with the route {fallback.network}"
    )


def _kernel_settings(gateway: GatewayExpectation, facts: GatewayFacts) -> Iterator[LinkResult]:
    yield _judge(Subject("forwarding", gateway.host, ""), _forwarding, facts)
    for interface in dict.fromkeys(tunnel.interface for tunnel in gateway.tunnels):
        subject = Subject("return-path", gateway.host, interface)
        yield _judge(subject, _return_path, interface, facts)


def _forwarding(subject: Subject, facts: GatewayFacts) -> LinkResult:
    if facts.number("/proc/sys/net/ipv4/ip_forward") == 1:
        return subject.passed("on")
    return subject.fault("forwarding-off", "net.ipv4.ip_forward is 0")


def _return_path(subject: Subject, interface: str, facts: GatewayFacts) -> LinkResult:
    # The kernel uses the greater of the two settings.
    mode = max(facts.number(_RP_FILTER.format(name)) for name in ("all", interface))
    if mode != _STRICT:
        return subject.passed(f"replies from another tunnel are accepted (rp_filter {mode})")
    before, after = facts.data.get("netstat") or (None, None)
    try:
        counts = [routing.counter(text, "IPReversePathFilter") for text in (before, after) if text is not None]
    except ValueError:
        counts = []
    dropped = f"{counts[-1]} packets dropped since the start" if counts else "the counter could not be read"
    grown = f", {counts[1] - counts[0]} of them during this check" if len(counts) > 1 else ""
    return subject.fault("asymmetric-return", f"the reverse-path filter is strict: {dropped}{grown}")


def _mss(gateway: GatewayExpectation, facts: GatewayFacts) -> Iterator[LinkResult]:
    for tunnel in {tunnel.interface: tunnel for tunnel in gateway.tunnels}.values():
        subject = Subject("mss", gateway.host, tunnel.interface)
        yield _judge(subject, _clamp, tunnel, facts)


def _clamp(subject: Subject, tunnel: TunnelExpectation, facts: GatewayFacts) -> LinkResult:
    rules = facts.parsed("rules", routing.clamped)
    missing = [
        text
        for direction, text in (("oifname", "towards AWS"), ("iifname", "towards the site"))
        if not any(rule[:2] == (direction, tunnel.interface) and rule[2] <= tunnel.mss for rule in rules)
    ]
    if missing:
        return subject.fault("mss-not-clamped", f"no rule sets the MSS to {tunnel.mss} {' and '.join(missing)}")
    return subject.passed(f"{tunnel.mss} in both directions")


def _paths(gateway: GatewayExpectation, facts: GatewayFacts) -> Iterator[LinkResult]:
    """Yield the results of packet sizes and round-trip times, of tunnels that are up."""
    for tunnel in gateway.tunnels:
        subject = Subject("mtu", gateway.host, f"{tunnel.name} {tunnel.inside_remote}")
        try:
            association = facts.associations.get(tunnel.name)
            mtu = facts.parsed("links", routing.interface_mtus).get(tunnel.interface)
        except MissingFactError as error:
            yield subject.unjudged(str(error))
            continue
        if association is None or not association.installed:
            yield subject.unjudged("its tunnel is down")
        elif mtu is not None and mtu != tunnel.mtu:
            yield subject.fault(
                "mtu-of-interface", f"the interface {tunnel.interface} has an MTU of {mtu}, the plan {tunnel.mtu}"
            )
        else:
            yield from path_results(subject, tunnel.inside_remote, facts.data)
