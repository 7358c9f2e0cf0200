"""Barriers of the network between a host of the site and nodes in AWS: nftables, and the nodes' security groups."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network

from landbridge.findings import DataPath
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.ops.residency.graph import Barrier
from landbridge.plan.network.host_role import top_group
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.service_flows import port_range
from landbridge.plan.network.services.serving import cloud_model_servers


def firewall_barrier(
    forms: CompiledForms, group: str, host: str, port: int, region: str, path: DataPath
) -> Barrier | None:
    """Return the barrier of a host's nftables rules for connections from the nodes of a region; None if nftables does not
    drop packets there.
    """
    environment = forms.environment
    if environment.hosts.firewall.mode != "enforce" or environment.onprem is None:
        return None
    name = f"firewall of {host}"
    # Hosts of model servers are not nodes: serving_access.py has what the gateway gives them.
    addresses = service_hosts(environment).addresses
    no_nodes = {IPv4Network(addresses[each]) for each in cloud_model_servers(environment) if each in addresses}
    for place in dict.fromkeys((top_group(environment), group, host)):
        for rule in forms.firewall.get(place, ()):
            networks = [IPv4Network(source) for source in rule.sources]
            sources = [network for network in networks if network not in no_nodes]
            if networks and not sources:
                continue
            has_port = rule.protocol in ("tcp", "all") and (not rule.ports or _contains(rule.ports, port))
            if has_port and (not sources or overlap(sources, forms.networks[region])):
                why = f"port {port} is open to {', '.join(rule.sources) or 'any source'}: {rule.why}"
                return Barrier(name, True, why, _rule_path(forms, place, rule.why) or path)
    return Barrier(name, False, f"no rule opens port {port} to nodes in {region}", path)


def egress_barrier(forms: CompiledForms, host: str, port: int, region: str, path: DataPath) -> Barrier:
    """Return the barrier of the nodes' security groups for connections to a port of a host at the site."""
    environment = forms.environment
    served = service_hosts(environment)
    address = served.addresses.get(host)
    name = f"security group of nodes in {region}"
    for rule in forms.egress[region]:
        has_port = rule.protocol == "-1" or (
            rule.protocol == "tcp" and rule.ports is not None and rule.ports[0] <= port <= rule.ports[1]
        )
        if rule.direction == "out" and rule.peer != "self" and has_port and _reaches(rule.peer, address, served.cidr):
            return Barrier(name, True, f"the rule {rule.key} permits port {port} of {rule.peer}", path)
    return Barrier(name, False, f"no rule permits port {port} of {host}", path)


def exports_barrier(forms: CompiledForms, region: str, path: DataPath) -> Barrier | None:
    """Return the barrier of the NFS server's exports for nodes of a region; None if Landbridge does not configure it."""
    if forms.exports is None:
        return None
    admitted = [network for network in forms.exports if overlap([network], forms.networks[region])]
    if admitted:
        why = f"the NFS server exports homes to {', '.join(map(str, admitted))}"
        return Barrier("NFS exports", True, why, path, "write on_cloud_nodes: false")
    return Barrier("NFS exports", False, f"homes are not exported to nodes in {region}", path)


def overlap(first: Iterable[IPv4Network], second: Iterable[IPv4Network]) -> bool:
    """Return whether two sets of networks have a common address."""
    others = tuple(second)
    return any(network.overlaps(other) for network in first for other in others)


def _contains(ports: Iterable[str], port: int) -> bool:
    return any(first <= port <= last for first, last in map(port_range, ports))


def _reaches(peer: str, address: IPv4Address | None, site: IPv4Network) -> bool:
    network = IPv4Network(peer)
    return address in network if address is not None else network.overlaps(site)


def _rule_path(forms: CompiledForms, place: str, why: str) -> DataPath | None:
    for index, rule in enumerate(forms.environment.hosts.firewall.rules):
        if rule.at == place and rule.why == why:
            return ("hosts", "firewall", "rules", index)
    return None
