"""Rules about what every host's operating system is given: its firewall, its directory of people, its kernel."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.network.hosts import GROUPS, service_hosts, top_group
from landbridge.rules.registry import rule

_HOSTS: DataPath = ("hosts",)
_FIREWALL: DataPath = ("hosts", "firewall")


@rule
def firewall_rule_unknown_host(environment: Environment) -> Iterator[Finding]:
    """What the firewall is to let in besides is let in somewhere: at a group of the inventory, or at a host.

    Source: landbridge/plan/site/firewall.py.
    """
    nodes = (name for group in environment.node_groups for name in hostlist.expand(group.hosts))
    known = {top_group(environment), *GROUPS[1:], *service_hosts(environment).names, *nodes}
    for number, firewall_rule in enumerate(environment.hosts.firewall.rules):
        if firewall_rule.at not in known:
            path: DataPath = (*_FIREWALL, "rules", number, "at")
            message = f"{firewall_rule.at} is no group of the inventory and no host: nothing would be open"
            related: tuple[DataPath, ...] = (("onprem", "nodes"), ("onprem", "services"), ("onprem", "addresses"))
            yield error(path, message, fix=did_you_mean(firewall_rule.at, known), related=related)


@rule
def firewall_rule_open_to_all(environment: Environment) -> Iterator[Finding]:
    """What is open to every address needs no firewall; ssh is open anyway.

    Source: CIS Debian Linux Benchmark, "Ensure nftables default deny firewall policy".
    """
    for number, firewall_rule in enumerate(environment.hosts.firewall.rules):
        if firewall_rule.source.prefixlen == 0:
            path: DataPath = (*_FIREWALL, "rules", number, "source")
            message = f"{firewall_rule.ports} at {firewall_rule.at} is open to every address"
            yield warning(path, message, fix="name who needs it")


@rule(public_aws=True)
def no_firewall(environment: Environment) -> Iterator[Finding]:
    """Slurm's metrics, NFS and MLflow ask nobody who he is: something has to keep others from them.

    Source: slurm.conf(5), MetricsType; NFS with sec=sys (RFC 8881, section 1.9).
    """
    hosts = environment.hosts
    if environment.onprem is None:
        return
    if not hosts.hardening or hosts.firewall.mode == "off":
        path: DataPath = (*_HOSTS, "hardening") if not hosts.hardening else (*_FIREWALL, "mode")
        message = "no firewall on the hosts: whoever reaches the site's network reaches Slurm's metrics and the homes"
        fix = "mode: log shows what would be refused, before anything is"
        yield warning(path, message, fix=fix)


@rule
def directory_password_in_aws(environment: Environment) -> Iterator[Finding]:
    """Nodes in AWS know the people of a directory that answers without a password, because no secret is in an image.

    Source: landbridge/plan/site/user_accounts.py.
    """
    directory = environment.hosts.directory
    if directory is not None and directory.bind_dn is not None and environment.aws.pools:
        path: DataPath = (*_HOSTS, "directory", "bind_dn")
        message = "nodes in AWS do not know the directory's people: no password of it is put into an image"
        fix = "let it answer addresses of the cluster without one, or keep such accounts to on-prem partitions"
        yield warning(path, message, fix=fix, related=(("aws", "pools"),))


@rule
def uid_in_directory_range(environment: Environment) -> Iterator[Finding]:
    """A number that a list gives to one person and a directory to another makes their files each other's.

    Source: sssd.conf(5), min_id.
    """
    directory = environment.hosts.directory
    if directory is None:
        return
    for number, user in enumerate(environment.users):
        if user.uid >= directory.min_uid:
            path: DataPath = ("users", number, "uid")
            message = (
                f"{user.uid} may be somebody else's in the directory, which has the numbers from {directory.min_uid}"
            )
            fix = f"give {user.name} a number below, or raise hosts.directory.min_uid above the list's"
            related: tuple[DataPath, ...] = ((*_HOSTS, "directory", "min_uid"),)
            yield warning(path, message, fix=fix, related=related)


@rule
def huge_pages_fit(environment: Environment) -> Iterator[Finding]:
    """Huge pages are taken from every node's memory: at most half of the smallest one's.

    Source: Linux, Documentation/admin-guide/mm/hugetlbpage.
    """
    aside = 2 * environment.hosts.tuning.huge_pages
    known = platforms()
    for number, group in enumerate(environment.node_groups):
        platform = known.get(group.platform)
        memory = group.hardware.memory_mib or (platform.memory_mib if platform is not None else None)
        if memory is not None and aside * 2 > memory:
            path: DataPath = (*_HOSTS, "tuning", "huge_pages")
            message = f"{aside} MiB of huge pages are more than half of what {group.hosts} has, {memory} MiB"
            related: tuple[DataPath, ...] = (("onprem", "nodes", number),)
            yield error(path, message, fix=f"{memory // 4} at most", related=related)
