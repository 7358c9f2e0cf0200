"""Hosts that an operator names: of the environment, or a running node in AWS by its address."""

from collections.abc import Collection, Iterable
from ipaddress import AddressValueError, IPv4Address

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.ops.netcheck.collect import LinkHost
from landbridge.ops.scontrol import ssh, ssh_to
from landbridge.ops.status.sources import is_local
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.other_regions import aws_ranges


def named_hosts(environment: Environment, texts: Iterable[str]) -> tuple[LinkHost, ...]:
    """Return the hosts of host lists, and of [USER@]ADDRESS in a range of AWS. Raises ValueError for any other text."""
    known = {host.name: (host.site, host.address) for host in hosts(environment)}
    named: dict[str, LinkHost] = {}
    for text in texts:
        if _is_in_aws(environment, text):
            destination = text if "@" in text else f"{service_hosts(environment).access.user}@{text}"
            named[text] = LinkHost(text, "aws", text.rpartition("@")[2], tuple(ssh_to(environment, destination)))
            continue
        try:
            names = hostlist.expand(text)
        except hostlist.HostlistError as error:
            raise ValueError(error.reason) from None
        for name in names:
            if name not in known:
                raise ValueError(
                    f"{name} is not a host of {environment.name}; name a node in AWS by its address, as USER@ADDRESS"
                )
            site, address = known[name]
            words = () if is_local(address) else tuple(ssh(environment, name))
            named[name] = LinkHost(name, "onprem" if site == "onprem" else "aws", address, words)
    return tuple(named.values())


def without_names(texts: Iterable[str], names: Collection[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the texts without the hosts of `names` in their host lists, and these hosts. Text that is not a host list stays."""
    rest, listed_names = list[str](), dict[str, None]()
    for text in texts:
        try:
            listed = hostlist.expand(text)
        except hostlist.HostlistError:
            rest.append(text)
            continue
        if not set(listed) & set(names):
            rest.append(text)
            continue
        listed_names |= dict.fromkeys(name for name in listed if name in names)
        rest += [name for name in listed if name not in names]
    return rest, tuple(listed_names)


def _is_in_aws(environment: Environment, text: str) -> bool:
    try:
        address = IPv4Address(text.rpartition("@")[2])
    except AddressValueError:
        return False
    return any(address in cidr for cidr in aws_ranges(environment))
