"""Nodes that the ladder runs on, and the host that starts its jobs: from an environment, or from options for a site that
uses only the roles.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from landbridge import hostlist
from landbridge.catalog import InstanceType, Platform, instances, platforms
from landbridge.environment import Environment
from landbridge.ops.scontrol import ssh
from landbridge.plan.ansible.acceptance import domain_of, platform_of
from landbridge.plan.ansible.pool_acceptance import pool_of
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.slurm.partitions import ONPREM

_SSH = ("ssh", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=10", "--")
_SUDO = ("sudo", "--non-interactive")
#: The value of --at for the machine on which the ladder is called.
HERE = "localhost"


class SiteError(Exception):
    """Value of an option that does not fit; `option` is its name."""

    def __init__(self, message: str, option: str) -> None:
        super().__init__(message)
        self.option = option


@dataclass(frozen=True, slots=True)
class AcceptanceSite:
    """Nodes by name, with their platform or instance type; how to start jobs on them.

    `ssh`: command line to the host that starts the jobs, empty for this machine; `privileged`: the words that make its
    commands run as root.
    """

    name: str
    partition: str
    ssh: Sequence[str]
    privileged: Sequence[str]
    platforms: Mapping[str, Platform] = field(default_factory=dict)
    instances: Mapping[str, InstanceType] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)

    @property
    def gpus(self) -> dict[str, int]:
        """Return the number of GPUs of each node."""
        counts = {name: platform.gpus.count for name, platform in self.platforms.items()}
        types = self.instances.items()
        return counts | {name: kind.accelerators.count for name, kind in types if kind.accelerators is not None}


def environment_site(
    environment: Environment, nodes: str | None, at: str | None = None, partition: str | None = None
) -> AcceptanceSite:
    """Return nodes of an environment: of its site (all by default), or of one pool. Raises SiteError."""
    services = service_hosts(environment)
    host = at or services.logins[0]
    if host not in services.names:
        raise SiteError(f"{host} is not a service host of the site", "--at")
    privileged = () if services.access.user == "root" else _SUDO
    names = _expanded(nodes, "NODES") if nodes else []
    pools = {name: pool for name in names if (pool := pool_of(environment, name)) is not None}
    if pools:
        first = next(iter(pools.values()))
        if len(pools) < len(names) or any(pool is not first for pool in pools.values()):
            raise SiteError("name nodes of one pool, or of the site", "NODES")
        kind = instances().get(first.instance)
        if kind is None:
            raise SiteError(f"the catalogue lacks {first.instance} of pool {first.name}", "NODES")
        types = dict.fromkeys(names, kind)
        return AcceptanceSite(
            environment.name, partition or first.name, ssh(environment, host), privileged, instances=types
        )
    names = names or [name for group in environment.node_groups for name in hostlist.expand(group.hosts)]
    known = {name: platform for name in names if (platform := platform_of(environment, name)) is not None}
    unknown = [name for name in names if name not in known]
    if unknown or not known:
        raise SiteError(f"{', '.join(unknown) or 'none'}: not a node of the site", "NODES")
    if partition is None and environment.existing_slurm is not None:
        raise SiteError("name a partition with these nodes: Slurm was not configured by Landbridge", "--partition")
    domains = {name: domain for name in known if (domain := domain_of(environment, name))}
    return AcceptanceSite(
        environment.name, partition or ONPREM, ssh(environment, host), privileged, known, domains=domains
    )


def roles_site(
    nodes: str | None, given: Sequence[str], at: str | None = None, partition: str | None = None
) -> AcceptanceSite:
    """Return nodes of a site without an environment file. Raises SiteError.

    `given`: platforms, each as `PLATFORM` for all nodes or as `NODES=PLATFORM`; `at`: [user@]host, or this machine.
    """
    by_name = _platform_names(nodes, given)
    unknown = sorted(set(by_name.values()) - set(platforms()))
    if unknown:
        raise SiteError(f"{', '.join(unknown)}: the platforms are {', '.join(platforms())}", "--platform")
    if partition is None:
        raise SiteError("name the partition of the nodes", "--partition")
    known = {name: platforms()[platform] for name, platform in by_name.items()}
    if at in (None, HERE):
        return AcceptanceSite(
            "site", partition, (), () if os.geteuid() == 0 else _SUDO, known, domains=_domains(by_name)
        )
    privileged = () if at.startswith("root@") else _SUDO
    return AcceptanceSite("site", partition, (*_SSH, at), privileged, known, domains=_domains(by_name))


def _platform_names(nodes: str | None, given: Sequence[str]) -> dict[str, str]:
    """Return the platform's name of each node."""
    by_name: dict[str, str] = {}
    for text in given:
        hosts, separator, platform = text.rpartition("=")
        if separator:
            by_name |= dict.fromkeys(_expanded(hosts, "--platform"), platform)
        elif nodes is None:
            raise SiteError("name the nodes, or write NODES=PLATFORM", "NODES")
        else:
            by_name |= dict.fromkeys(_expanded(nodes, "NODES"), platform)
    if nodes is None:
        return by_name
    names = _expanded(nodes, "NODES")
    without = [name for name in names if name not in by_name]
    if without:
        raise SiteError(f"{', '.join(without)}: no platform is given", "--platform")
    return {name: by_name[name] for name in names}


def _domains(by_name: Mapping[str, str]) -> dict[str, str]:
    """Return the NVLink domains: nodes of one platform that follow each other, as many as the platform has in one."""
    domains: dict[str, str] = {}
    for platform, members in groupby(by_name, key=lambda name: by_name[name]):
        domain = platforms()[platform].domain
        if domain is not None:
            domains |= {name: f"{platform}/{index // domain.nodes}" for index, name in enumerate(members)}
    return domains


def _expanded(nodes: str, option: str) -> list[str]:
    try:
        return list(dict.fromkeys(hostlist.expand(nodes)))
    except hostlist.HostlistError as error:
        raise SiteError(error.reason, option) from None
