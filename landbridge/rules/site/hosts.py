"""Rules about names and addresses of configured hosts."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.environment.cached import cached
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.serving import cloud_model_servers
from landbridge.rules.registry import rule


@dataclass(frozen=True, slots=True)
class Host:
    """Host, its address (None: above 255.255.255.255), its path in the file, and related paths."""

    name: str
    address: IPv4Address | None
    path: DataPath
    related: tuple[DataPath, ...] = ()


@cached
def hosts(environment: Environment) -> tuple[Host, ...]:
    """Return all hosts, repeated ones too (cached): first services, then the nodes of each group."""
    return tuple(_hosts(environment))


def _hosts(environment: Environment) -> Iterator[Host]:
    services, in_aws = service_hosts(environment), cloud_model_servers(environment)
    for name, service_address in services.addresses.items():
        if name in in_aws:
            # Planned in a subnet of AWS: serving_aws_hosts checks them.
            continue
        yield Host(name, service_address, (*services.path, "addresses", name))
    for index, group in enumerate(environment.node_groups):
        base: DataPath = ("onprem", "nodes", index)
        for offset, name in enumerate(hostlist.expand(group.hosts)):
            is_valid = int(group.address) + offset < 2**32
            address = group.address + offset if is_valid else None
            yield Host(name, address, (*base, "hosts"), ((*base, "address"),))


@rule
def address_in_site(environment: Environment) -> Iterator[Finding]:
    """A host's address is in the site's range, and not its network or broadcast address.

    Source: RFC 950 and RFC 1812 for the two addresses; Landbridge's routes, which contain the site's range only.
    """
    if environment.onprem is None:
        return
    cidr = environment.onprem.cidr
    site: DataPath = ("onprem", "cidr")
    for host in hosts(environment):
        path = host.related[0] if host.related else host.path
        related = (site, host.path, *host.related)
        if host.address is None or host.address not in cidr:
            message = (
                f"{host.name}'s address {host.address or 'above 255.255.255.255'} is outside the site's range {cidr}"
            )
            yield error(path, message, fix="change the address, or widen onprem.cidr", related=related)
        elif cidr.prefixlen < 31 and host.address in (cidr.network_address, cidr.broadcast_address):
            message = f"{host.name}'s address {host.address} is the network or broadcast address of {cidr}"
            yield error(path, message, related=related)


@rule
def duplicate_address(environment: Environment) -> Iterator[Finding]:
    """No two hosts have the same address.

    Source: RFC 5227, IPv4 Address Conflict Detection.
    """
    seen: dict[IPv4Address, Host] = {}
    for host in hosts(environment):
        first = seen.setdefault(host.address, host) if host.address is not None else host
        if first is not host and first.name != host.name:
            message = f"{host.name} and {first.name} both have the address {host.address}"
            path = host.related[0] if host.related else host.path
            related = (host.path, first.path, *host.related, *first.related)
            yield error(path, message, related=related)


@rule
def duplicate_host(environment: Environment) -> Iterator[Finding]:
    """A host is written once among the nodes; a service on a node has the node's address.

    Source: slurm.conf(5), NodeName; Ansible's inventory, in which a host has one set of variables.
    """
    seen: dict[str, Host] = {}
    for host in hosts(environment):
        first = seen.setdefault(host.name, host)
        if first is not host:
            message = f'the host "{host.name}" is repeated'
            fix = "write every host once; a node's address follows from its group"
            yield error(host.path, message, fix=fix, related=(first.path,))


@rule
def service_without_address(environment: Environment) -> Iterator[Finding]:
    """Every service host has an address in onprem.addresses or as a node: Landbridge writes host names to /etc/hosts.

    Source: the role base, which writes /etc/hosts.
    """
    if environment.onprem is None:
        return
    services = environment.onprem.services
    host_names = {host.name for host in hosts(environment)}
    nodes: tuple[DataPath, ...] = (("onprem", "nodes", "*", "hosts"),)
    for field in type(services).model_fields:
        value = getattr(services, field)
        names = value if isinstance(value, tuple) else () if value is None else (value,)
        for index, name in enumerate(names):
            if name not in host_names:
                path: DataPath = ("onprem", "services", field, *((index,) if isinstance(value, tuple) else ()))
                related: tuple[DataPath, ...] = (("onprem", "addresses", name), ("onprem", "services", field), *nodes)
                yield error(
                    path,
                    f"the {field} host {name} has no address",
                    fix=f"add {name}: to onprem.addresses",
                    related=related,
                )


@rule
def unused_address(environment: Environment) -> Iterator[Finding]:
    """Every address belongs to a service host; an address without a service is often misspelt.

    Source: Landbridge, which writes all addresses to every node's /etc/hosts.
    """
    hosts = service_hosts(environment)
    services: DataPath = ("onprem", "services") if environment.onprem is not None else hosts.path
    for name in hosts.addresses:
        if name not in hosts.names:
            message = f"the host {name} has an address and no service"
            path: DataPath = (*hosts.path, "addresses", name)
            yield warning(path, message, fix="remove it, or correct the name", related=(services,))
