"""Firewall rules of on-prem hosts: the ports of each inventory group and the sources that may connect to them. Pure.

Outgoing connections and their replies need no rule: the role `hardening` allows them, and ssh from the operators' networks.
In AWS, security groups have the same rules (plan/aws/slurm_controller.py, login.py, pool.py).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import Any

from landbridge.environment import Environment, NfsHome
from landbridge.plan.network.hosts import GROUPS, ServiceHosts, service_hosts, top_group
from landbridge.plan.network.link import ends_tunnels
from landbridge.plan.network.name_servers import name_server_hosts
from landbridge.plan.network.node_networks import node_ranges
from landbridge.plan.network.service_flows import NFS_PORT, service_flows
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.object_store import store_port
from landbridge.plan.network.services.pipelines import pipelines_of
from landbridge.plan.other_regions import aws_ranges, vpc_ranges
from landbridge.plan.site.link.gateway import linked_gateways
from landbridge.plan.site.monitoring_flows import log_flows, monitoring_flows
from landbridge.plan.site.serving_flows import serving_flows, without_serving
from landbridge.plan.site.site_shares import site_lustre
from landbridge.plan.slurm_ports import SLURMDBD_PORT, slurm_ports

#: Source: RFC 1035 (DNS), RFC 7296 and 3948 (IKE, ESP in UDP), RFC 4271 (BGP).
DNS_PORT, BGP_PORT, IKE_PORTS = 53, 179, (500, 4500)
#: Source: Lustre Operations Manual, LNet module parameters (accept_port).
LUSTRE_PORT = 988
#: NFS 3 clients connect to these first; the role nfs_server configures ganesha's mountd port. Source: RFC 1833; IANA,
#: mountd.
RPCBIND_PORT, MOUNTD_PORT = 111, 20048
#: BGP sessions with AWS use the inside addresses of the tunnels. Source: Site-to-Site VPN User Guide, tunnel options.
_INSIDE_TUNNELS = IPv4Network("169.254.0.0/16")


@dataclass(frozen=True, slots=True)
class FirewallRule:
    """Firewall rule for incoming connections: `sources` (empty: any), protocol, `ports` (empty: all) and the reason."""

    sources: tuple[str, ...]
    protocol: str
    ports: tuple[str, ...]
    why: str

    def as_variable(self) -> dict[str, Any]:
        """Return the rule as a dictionary of the role hardening's variable."""
        variable: dict[str, Any] = {"protocol": self.protocol, "why": self.why}
        return variable | {
            key: list(value) for key, value in (("sources", self.sources), ("ports", self.ports)) if value
        }


def firewall_rules(environment: Environment) -> dict[str, tuple[FirewallRule, ...]]:
    """Return the firewall rules by inventory group, or by host for the environment file's own rules; no empty groups."""
    rules_by_group: dict[str, list[FirewallRule]] = {group: [] for group in (top_group(environment), *GROUPS[1:])}
    for group, rule in _rules_by_group(environment, service_hosts(environment)):
        sources = without_serving(environment, group, rule.sources)
        if sources or not rule.sources:
            rules_by_group[group].append(replace(rule, sources=sources))
    for flow in serving_flows(environment):
        rule = FirewallRule(_without_overlaps(flow.sources), flow.protocol, flow.ports, flow.why)
        rules_by_group[flow.group].append(rule)
    for extra in environment.hosts.firewall.rules:
        rule = FirewallRule((str(extra.source),), extra.protocol, (extra.ports,), extra.why)
        rules_by_group.setdefault(extra.at, []).append(rule)
    return {group: tuple(rules) for group, rules in rules_by_group.items() if rules}


def firewall_rule_lines(environment: Environment) -> Iterator[str]:
    """Yield the rules as text for network administrators: destination, ports, sources, reason. First ssh, which is
    always open.
    """
    served = service_hosts(environment)
    yield f"every host        {_ports('tcp', map(str, _ssh_ports(served)))} from {_from(_operators(environment, served))}: operators"
    for group, rules in firewall_rules(environment).items():
        for rule in rules:
            yield f"{group:<17} {_ports(rule.protocol, rule.ports)} from {_from(rule.sources)}: {rule.why}"


def firewall_variables(environment: Environment) -> dict[str, Any]:
    """Return the role hardening's variables for every host; in AWS the security groups are the only firewall."""
    settings, served = environment.hosts, service_hosts(environment)
    mode = settings.firewall.mode if served.site == "onprem" else "off"
    matrix = {group: [rule.as_variable() for rule in rules] for group, rules in firewall_rules(environment).items()}
    return {
        "landbridge_hardening": settings.hardening,
        "hardening_firewall": mode,
        "hardening_firewall_rules": matrix if mode != "off" else {},
        "hardening_ssh_ports": _ssh_ports(served),
        "hardening_ssh_sources": _operators(environment, served),
        "hardening_ssh_keys_only": not settings.ssh.passwords,
        # root stays permitted if operators log in as root.
        "hardening_ssh_root": "keys" if "keys" in (settings.ssh.root, _root(served)) else "no",
        "hardening_updates": "off" if settings.security_updates == "none" else "security",
    }


def node_updates(environment: Environment) -> dict[str, Any]:
    """Return the variables that differ on GPU nodes: no updates while a job may run, unless the site enables them."""
    return {"hardening_updates": "security" if environment.hosts.security_updates == "all" else "off"}


def _root(served: ServiceHosts) -> str:
    return "keys" if served.access.user == "root" else ""


def _ssh_ports(served: ServiceHosts) -> list[int]:
    return sorted({22, served.access.port})


def _ports(protocol: str, ports: Iterable[str]) -> str:
    return f"{protocol} {', '.join(ports)}".strip() if protocol != "all" else "everything"


def _from(sources: Iterable[str]) -> str:
    return ", ".join(source.removesuffix("/32") for source in sources) or "anywhere"


def _operators(environment: Environment, served: ServiceHosts) -> list[str]:
    """Return the sources of ssh for hosts other than login hosts; empty means any source."""
    operators = environment.hosts.firewall.operators
    if not operators:
        return []
    return list(_without_overlaps((*map(str, operators), *_hosts(served, (*served.logins, *served.controllers)))))


def _rules_by_group(environment: Environment, served: ServiceHosts) -> Iterator[tuple[str, FirewallRule]]:
    flows = {(flow.group, flow.protocol, flow.ports) for flow in service_flows(environment)}

    def from_aws(group: str, ports: int | str) -> tuple[str, ...]:
        """Return the ranges of nodes in AWS if these connect to this service."""
        is_used = bool(environment.aws.pools) and (group, "tcp", str(ports)) in flows
        return _cloud(environment) if is_used else ()

    node_cidrs = _text(node_ranges(environment))
    controllers, logins = _hosts(served, served.controllers), _hosts(served, served.logins)
    pipelines = _hosts(served, (served.mlops,)) if pipelines_of(environment) is not None else ()
    slurmctld, slurmd, srun = slurm_ports(environment)
    all_groups = (*node_cidrs, *controllers, *logins, *_hosts(served, (served.database,)), *pipelines)
    yield (
        "slurm_controller",
        _tcp(
            (*all_groups, *from_aws("slurm_controller", slurmctld)),
            slurmctld,
            "slurmd, sackd, slurmdbd and commands reach slurmctld",
        ),
    )
    yield (
        "slurm_controller",
        _tcp((*node_cidrs, *from_aws("slurm_controller", srun)), srun, "tasks reach the srun that an operator started"),
    )
    yield (
        "slurm_database",
        _tcp(
            (*controllers, *logins, *node_cidrs, *pipelines),
            SLURMDBD_PORT,
            "slurmctld, sacct and sacctmgr reach slurmdbd",
        ),
    )
    if node_cidrs:
        yield (
            "slurm_node",
            FirewallRule(node_cidrs, "all", (), "jobs use any port: MPI, NCCL, rendezvous of frameworks"),
        )
    yield (
        "slurm_node",
        _tcp(
            (*controllers, *logins, *from_aws("slurm_node", slurmd)),
            slurmd,
            "slurmctld, srun and forwarded messages reach slurmd",
        ),
    )
    if from_aws("slurm_node", srun):
        yield "slurm_node", _tcp(from_aws("slurm_node", srun), srun, "tasks reach an srun inside a job")
    yield "slurm_login", FirewallRule((), "tcp", ("22", *_other_ssh(served)), "users log in by ssh")
    yield "slurm_login", _tcp(controllers, slurmd, "slurmctld sends new configuration to sackd")
    if pipelines:
        yield "pipelines", _tcp(controllers, slurmd, "slurmctld sends new configuration to sackd")
    yield (
        "slurm_login",
        _tcp((*node_cidrs, *from_aws("slurm_login", srun)), srun, "tasks reach the srun that started them"),
    )
    home = environment.storage.home
    if isinstance(home, NfsHome):
        clients = (str(served.cidr), *(_nodes(environment) if home.on_cloud_nodes else ()))
        yield "nfs_server", _tcp(clients, NFS_PORT, "home directories, for the hosts in the exports")
        if home.server == "ganesha":
            nfs3_ports = tuple(map(str, (RPCBIND_PORT, MOUNTD_PORT)))
            # Nodes in AWS mount homes by NFS 4.
            yield (
                "nfs_server",
                FirewallRule((str(served.cidr),), "tcp", nfs3_ports, "NFS 3 clients, which ganesha also serves"),
            )
    yield from _mlflow(environment, served)
    if served.object_store is not None:
        yield "object_store", _tcp((str(served.cidr),), store_port(environment), "jobs reach the object store")
    yield from _lustre(environment, served)
    yield from _names(environment, served)
    for group, sources, port, why in (*monitoring_flows(environment), *log_flows(environment)):
        yield group, _tcp(sources, port, why)
    yield from _link(environment)


def _mlflow(environment: Environment, served: ServiceHosts) -> Iterator[tuple[str, FirewallRule]]:
    """Yield the rules of MLflow's servers: a server of data that must stay on-prem is not open to AWS."""
    everywhere = (str(served.cidr), *_cloud(environment))
    for clients, in_aws in ((everywhere, True), ((str(served.cidr),), False)):
        ports = tuple(str(server.port) for server in mlflow_servers(environment) if server.in_aws is in_aws)
        if ports:
            where = "" if in_aws else " with data that must stay on-prem"
            why = f"jobs and users reach MLflow{where}"
            yield "mlflow", FirewallRule(_without_overlaps(clients), "tcp", ports, why)


def _lustre(environment: Environment, served: ServiceHosts) -> Iterator[tuple[str, FirewallRule]]:
    """Yield the rules for Lustre servers, which connect back to clients: for servers with a known address; InfiniBand
    has no ports.
    """
    nids = [nid for share in site_lustre(environment) for nid in re.split("[:,]", share.source.rpartition(":/")[0])]
    tcp_servers = [nid.partition("@")[0] for nid in nids if nid.partition("@")[2].startswith("tcp")]
    if tcp_servers:
        host_ranges = (f"{name}/32" for name in tcp_servers if re.fullmatch(r"[0-9.]+", name))
        yield (
            "lustre_client",
            _tcp((str(served.cidr), *host_ranges), LUSTRE_PORT, "Lustre servers connect to their clients"),
        )


def _names(environment: Environment, served: ServiceHosts) -> Iterator[tuple[str, FirewallRule]]:
    if name_server_hosts(environment):
        for protocol in ("udp", "tcp"):
            clients = (str(served.cidr), *_cloud(environment))
            yield (
                "site_dns",
                FirewallRule(
                    _without_overlaps(clients),
                    protocol,
                    (str(DNS_PORT),),
                    "DNS queries for names of the site and of AWS",
                ),
            )


def _link(environment: Environment) -> Iterator[tuple[str, FirewallRule]]:
    if not (ends_tunnels(environment) or linked_gateways(environment)):
        return
    # Both ends may initiate. AWS's addresses are known only once the stack is built; IKE authenticates every peer.
    yield "site_gateway", FirewallRule((), "udp", tuple(map(str, IKE_PORTS)), "IKE, and ESP behind NAT")
    yield "site_gateway", FirewallRule((), "esp", (), "ESP without NAT")
    served, link = service_hosts(environment), environment.link
    pair = _hosts(served, served.gateway_pair)
    router = [f"{link.router}/32"] if link is not None and link.router is not None else []
    yield (
        "site_gateway",
        _tcp((str(_INSIDE_TUNNELS), *router, *pair), BGP_PORT, "BGP inside the tunnels, and with the site's router"),
    )
    if pair:
        # nft resolves the protocol's name only if /etc/protocols exists. Source: RFC 9568, section 5.1.1.4.
        yield "site_gateway", FirewallRule(pair, "112", (), "VRRP between the two gateways")


def _tcp(sources: Iterable[str], ports: int | str, why: str) -> FirewallRule:
    return FirewallRule(_without_overlaps(sources), "tcp", (str(ports),), why)


def _without_overlaps(sources: Iterable[str]) -> tuple[str, ...]:
    """Drop networks that lie inside another one: nft refuses a set with overlapping elements."""
    networks = list(dict.fromkeys(map(IPv4Network, sources)))
    return tuple(
        str(network)
        for network in networks
        if not any(network != other and network.subnet_of(other) for other in networks)
    )


def _cloud(environment: Environment) -> tuple[str, ...]:
    return tuple(map(str, aws_ranges(environment)))


def _nodes(environment: Environment) -> tuple[str, ...]:
    """Return the networks of nodes in AWS: the primary CIDR of each VPC."""
    return tuple(map(str, vpc_ranges(environment)))


def _hosts(served: ServiceHosts, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{served.addresses[name]}/32" for name in names if name in served.addresses))


def _other_ssh(served: ServiceHosts) -> tuple[str, ...]:
    return () if served.access.port == 22 else (str(served.access.port),)


def _text(ranges: Iterable[IPv4Network]) -> tuple[str, ...]:
    return tuple(map(str, ranges))
