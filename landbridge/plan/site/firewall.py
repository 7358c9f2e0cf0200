"""Firewall rules of on-prem hosts: the ports of each inventory group and the sources that may connect to them. Pure.

Outgoing connections and their replies need no rule: the role `hardening` allows them, and ssh from the operators' networks.
In AWS, security groups have the same rules (plan/aws/slurm_controller.py, login.py, pool.py).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.firewall_rule import FirewallRule, without_overlaps
from landbridge.plan.network.host_role import groups, host_roles, site_of, top_group
from landbridge.plan.network.hosts import ServiceHosts, service_hosts
from landbridge.plan.site.serving_hosts import without_serving


def firewall_rules(environment: Environment) -> dict[str, tuple[FirewallRule, ...]]:
    """Return the firewall rules by inventory group, or by host for the environment file's own rules; no empty groups."""
    site = site_of(environment)
    rules_by_group: dict[str, list[FirewallRule]] = {group: [] for group in (top_group(environment), *groups())}
    for role in host_roles().values():
        for group, rule in role.firewall(site):
            sources = rule.sources if rule.to_serving else without_serving(environment, rule.sources)
            if sources or not rule.sources:
                rules_by_group[group].append(replace(rule, sources=sources))
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
    return list(without_overlaps((*map(str, operators), *_hosts(served, (*served.logins, *served.controllers)))))


def _hosts(served: ServiceHosts, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{served.addresses[name]}/32" for name in names if name in served.addresses))
