"""Firewall rules of on-prem hosts: the ports of each inventory group and the sources that may connect to them. Pure.

Outgoing connections and their replies need no rule: the role `hardening` allows them, and ssh from the operators' networks.
In AWS, security group rules say the same (plan/aws/slurm_controller.py, login.py, pool.py).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, collapse_addresses
from typing import Any

from landbridge import hostlist
from landbridge.environment import DirectConnectSettings, Environment, NfsHome
from landbridge.plan.network.hosts import GROUPS, ServiceHosts, service_hosts, top_group
from landbridge.plan.network.link import ends_tunnels
from landbridge.plan.network.name_servers import name_server_hosts
from landbridge.plan.other_regions import aws_ranges, vpc_ranges
from landbridge.plan.site.gateway import linked_gateways
from landbridge.plan.site.site_shares import site_lustre
from landbridge.plan.slurm_ports import SLURMCTLD_PORT, SLURMD_PORT, SLURMDBD_PORT, SRUN_PORTS

#: Source: RFC 7530, section 3.1 (NFS 4 has one port), RFC 1035 (DNS), RFC 7296 and 3948 (IKE, ESP in UDP), RFC 4271 (BGP).
NFS_PORT, DNS_PORT, BGP_PORT, IKE_PORTS = 2049, 53, 179, (500, 4500)
#: Source: Lustre Operations Manual, LNet module parameters (accept_port).
LUSTRE_PORT = 988
#: NFS 3 contacts these first; the role nfs_server runs ganesha's mountd there. Source: RFC 1833; IANA, mountd.
RPCBIND_PORT, MOUNTD_PORT = 111, 20048
#: BGP's sessions with AWS are between addresses inside the tunnels. Source: Site-to-Site VPN User Guide, tunnel options.
_INSIDE_TUNNELS = IPv4Network("169.254.0.0/16")
#: Rules name nodes by networks of this prefix length, so that a new node changes no other host's rules.
_NODES_PREFIX_BITS = 24


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
        rules_by_group[group].append(rule)
    for extra in environment.hosts.firewall.rules:
        rule = FirewallRule((str(extra.source),), extra.protocol, (extra.ports,), extra.why)
        rules_by_group.setdefault(extra.at, []).append(rule)
    return {group: tuple(rules) for group, rules in rules_by_group.items() if rules}


def firewall_rule_lines(environment: Environment) -> Iterator[str]:
    """Yield the rules as text for network administrators: destination, ports, sources, reason. ssh, which is always open, first."""
    served = service_hosts(environment)
    yield f"every host        {_ports('tcp', map(str, _ssh_ports(served)))} from {_from(_operators(environment, served))}: operators"
    for group, rules in firewall_rules(environment).items():
        for rule in rules:
            yield f"{group:<17} {_ports(rule.protocol, rule.ports)} from {_from(rule.sources)}: {rule.why}"


def node_ranges(environment: Environment) -> tuple[IPv4Network, ...]:
    """Return the networks of the on-prem nodes: /24s, or the site's CIDR where that is smaller."""
    if environment.onprem is None:
        return ()
    site = environment.onprem.cidr
    ranges = set()
    for group in environment.node_groups:
        for address in _row(environment, group.hosts, group.address):
            block = IPv4Network((address, max(_NODES_PREFIX_BITS, site.prefixlen)), strict=False)
            ranges.add(block)
    return tuple(collapse_addresses(ranges))


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
        # The account that operators use is never locked out.
        "hardening_ssh_root": "keys" if "keys" in (settings.ssh.root, _root(served)) else "no",
        "hardening_updates": "off" if settings.security_updates == "none" else "security",
    }


def node_updates(environment: Environment) -> dict[str, Any]:
    """Return the variables that differ on GPU nodes: no updates under a running job, unless the site asks for them."""
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
    nodes, cloud = _text(node_ranges(environment)), _cloud(environment) if environment.aws.pools else ()
    controllers, logins = _hosts(served, served.controllers), _hosts(served, served.logins)
    all_groups = (*nodes, *controllers, *logins, *_hosts(served, (served.database,)), *cloud)
    slurmctld, slurmd, srun = _slurm_ports(environment)
    yield "slurm_controller", _tcp(all_groups, slurmctld, "slurmd, sackd, slurmdbd and commands reach slurmctld")
    yield "slurm_controller", _tcp((*nodes, *cloud), srun, "tasks reach the srun that an operator started")
    yield (
        "slurm_database",
        _tcp((*controllers, *logins, *nodes), SLURMDBD_PORT, "slurmctld, sacct and sacctmgr reach slurmdbd"),
    )
    if nodes:
        yield (
            "slurm_node",
            FirewallRule(nodes, "all", (), "jobs choose their ports themselves: MPI, NCCL, rendezvous of frameworks"),
        )
    yield (
        "slurm_node",
        _tcp((*controllers, *logins, *cloud), slurmd, "slurmctld, srun and forwarded messages reach slurmd"),
    )
    if cloud:
        yield "slurm_node", _tcp(cloud, srun, "tasks reach an srun inside a job")
    yield "slurm_login", FirewallRule((), "tcp", ("22", *_other_ssh(served)), "people log in here")
    yield "slurm_login", _tcp(controllers, slurmd, "slurmctld tells sackd of a new configuration")
    yield "slurm_login", _tcp((*nodes, *cloud), srun, "tasks reach the srun that started them")
    home = environment.storage.home
    if isinstance(home, NfsHome):
        clients = (str(served.cidr), *(_nodes(environment) if home.on_cloud_nodes else ()))
        yield "nfs_server", _tcp(clients, NFS_PORT, "homes, to whom they are exported")
        if home.server == "ganesha":
            older = tuple(map(str, (RPCBIND_PORT, MOUNTD_PORT)))
            yield (
                "nfs_server",
                FirewallRule(
                    _without_overlaps(clients), "tcp", older, "clients of version 3, which ganesha serves too"
                ),
            )
    yield (
        "mlflow",
        _tcp((str(served.cidr), *_cloud(environment)), environment.mlops.mlflow.port, "runs and people reach MLflow"),
    )
    yield from _lustre(environment, served)
    yield from _names(environment, served)
    yield from _link(environment)


def _lustre(environment: Environment, served: ServiceHosts) -> Iterator[tuple[str, FirewallRule]]:
    """Yield the rules for Lustre servers, which connect back to clients. Only servers named by address are known; InfiniBand has no ports."""
    nids = [nid for share in site_lustre(environment) for nid in re.split("[:,]", share.source.rpartition(":/")[0])]
    named = [nid.partition("@")[0] for nid in nids if nid.partition("@")[2].startswith("tcp")]
    if named:
        host_ranges = (f"{name}/32" for name in named if re.fullmatch(r"[0-9.]+", name))
        yield (
            "lustre_client",
            _tcp((str(served.cidr), *host_ranges), LUSTRE_PORT, "Lustre's servers call their clients back"),
        )


def _names(environment: Environment, served: ServiceHosts) -> Iterator[tuple[str, FirewallRule]]:
    if name_server_hosts(environment):
        for protocol in ("udp", "tcp"):
            asking = (str(served.cidr), *_cloud(environment))
            yield (
                "site_dns",
                FirewallRule(
                    _without_overlaps(asking), protocol, (str(DNS_PORT),), "names of the site and of AWS, both ways"
                ),
            )


def _link(environment: Environment) -> Iterator[tuple[str, FirewallRule]]:
    if not (ends_tunnels(environment) or linked_gateways(environment)):
        return
    # Both ends may initiate. AWS's addresses are known only once the stack is built; IKE authenticates every peer.
    yield "site_gateway", FirewallRule((), "udp", tuple(map(str, IKE_PORTS)), "IKE, and ESP behind NAT")
    yield "site_gateway", FirewallRule((), "esp", (), "the tunnels themselves, without NAT")
    inside = [str(_INSIDE_TUNNELS)]
    if isinstance(environment.link, DirectConnectSettings) and environment.link.router is not None:
        inside.append(f"{environment.link.router}/32")
    yield "site_gateway", _tcp(tuple(inside), BGP_PORT, "BGP inside the tunnels, and with the site's router")


def _slurm_ports(environment: Environment) -> tuple[str, str, str]:
    """Return the ports of slurmctld, slurmd and srun, with the site's overrides; srun uses any port without SrunPortRange."""
    overrides = {key.casefold(): value for key, value in environment.scheduler.overrides.slurm_conf.items()}

    def at(key: str, default: str, unset: str) -> str:
        value = overrides.get(key.casefold(), default)
        return unset if value is None else str(value)

    srun = f"{SRUN_PORTS[0]}-{SRUN_PORTS[1]}"
    return (
        at("SlurmctldPort", str(SLURMCTLD_PORT), str(SLURMCTLD_PORT)),
        at("SlurmdPort", str(SLURMD_PORT), str(SLURMD_PORT)),
        at("SrunPortRange", srun, "1024-65535"),
    )


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


def _row(environment: Environment, hosts: str, first: IPv4Address) -> Iterator[IPv4Address]:
    """Yield the first and last address of a node group, and one address of each network between them."""
    last = first + len(hostlist.expand(hosts)) - 1
    yield from (IPv4Address(address) for address in range(int(first), int(last), 2 ** (32 - _NODES_PREFIX_BITS)))
    yield last
