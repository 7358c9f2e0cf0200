"""Rules about the operating system of hosts: firewall, user directory and kernel."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.network.host_role import groups, top_group
from landbridge.plan.network.hosts import service_hosts
from landbridge.rules.registry import rule

_HOSTS: DataPath = ("hosts",)
_FIREWALL: DataPath = ("hosts", "firewall")


@rule
def firewall_rule_unknown_host(environment: Environment) -> Iterator[Finding]:
    """A firewall rule applies to a group of the inventory or to a host.

    Source: landbridge/plan/site/firewall.py.
    """
    nodes = (name for group in environment.node_groups for name in hostlist.expand(group.hosts))
    known_names = {top_group(environment), *groups(), *service_hosts(environment).names, *nodes}
    for number, firewall_rule in enumerate(environment.hosts.firewall.rules):
        if firewall_rule.at not in known_names:
            path: DataPath = (*_FIREWALL, "rules", number, "at")
            message = (
                f"{firewall_rule.at} is neither a group of the inventory nor a host, so the firewall rule has no effect"
            )
            related: tuple[DataPath, ...] = (("onprem", "nodes"), ("onprem", "services"), ("onprem", "addresses"))
            yield error(path, message, fix=did_you_mean(firewall_rule.at, known_names), related=related)


@rule
def firewall_rule_open_to_all(environment: Environment) -> Iterator[Finding]:
    """A firewall rule has a source range; ssh is open in any case.

    Source: CIS Debian Linux Benchmark, "Ensure nftables default deny firewall policy".
    """
    for number, firewall_rule in enumerate(environment.hosts.firewall.rules):
        if firewall_rule.source.prefixlen == 0:
            path: DataPath = (*_FIREWALL, "rules", number, "source")
            message = f"{firewall_rule.ports} at {firewall_rule.at} is open to all addresses"
            yield warning(path, message, fix="write the range of the clients")


@rule(public_aws=True)
def no_firewall(environment: Environment) -> Iterator[Finding]:
    """Hosts have a firewall: Slurm's metrics, NFS and MLflow do not authenticate clients.

    Source: slurm.conf(5), MetricsType; NFS with sec=sys (RFC 8881, section 1.9).
    """
    hosts = environment.hosts
    if environment.onprem is None:
        return
    if not hosts.hardening or hosts.firewall.mode == "off":
        path: DataPath = (*_HOSTS, "hardening") if not hosts.hardening else (*_FIREWALL, "mode")
        message = "the hosts have no firewall: every client of the site's network reaches Slurm's metrics and the home directories"
        fix = "write firewall: {mode: log} first, which only logs what would be dropped"
        yield warning(path, message, fix=fix)


@rule
def uid_in_directory_range(environment: Environment) -> Iterator[Finding]:
    """Uids of users are below the uid range of the directory: two users with one uid own each other's files.

    Source: sssd.conf(5), min_id.
    """
    directory = environment.hosts.directory
    if directory is None:
        return
    for number, user in enumerate(environment.users):
        if user.uid >= directory.min_uid:
            path: DataPath = ("users", number, "uid")
            message = f"the uid {user.uid} of {user.name} may belong to another user of the directory, whose uids start at {directory.min_uid}"
            fix = "write a lower uid, or raise hosts.directory.min_uid"
            related: tuple[DataPath, ...] = ((*_HOSTS, "directory", "min_uid"),)
            yield warning(path, message, fix=fix, related=related)


@rule
def huge_pages_fit(environment: Environment) -> Iterator[Finding]:
    """Huge pages take at most half of the memory of the smallest node.

    Source: Linux, Documentation/admin-guide/mm/hugetlbpage.
    """
    huge_mib = 2 * environment.hosts.tuning.huge_pages
    known_platforms = platforms()
    for number, group in enumerate(environment.node_groups):
        platform = known_platforms.get(group.platform)
        memory = group.hardware.memory_mib or (platform.memory_mib if platform is not None else None)
        if memory is not None and huge_mib * 2 > memory:
            path: DataPath = (*_HOSTS, "tuning", "huge_pages")
            message = f"{huge_mib} MiB of huge pages are more than half of what {group.hosts} has, {memory} MiB"
            related: tuple[DataPath, ...] = (("onprem", "nodes", number),)
            yield error(path, message, fix=f"write {memory // 4} or less", related=related)
