"""Rules about addresses, ranges and names of hosts."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from itertools import combinations

from landbridge import hostlist
from landbridge.environment import Environment, Vpn
from landbridge.findings import DataPath, Finding, Severity
from landbridge.rules.registry import rule


@dataclass(frozen=True, slots=True)
class _Host:
    name: str
    address: IPv4Address | None
    path: DataPath
    related: tuple[DataPath, ...] = ()


def _ranges(environment: Environment) -> Iterator[tuple[str, IPv4Network, DataPath]]:
    yield "the on-prem range", environment.onprem.cidr, ("onprem", "cidr")
    yield "the AWS range", environment.aws.cidr, ("aws", "cidr")
    for name, network in environment.onprem.container_cidrs.items():
        yield f"the container range {name}", network, ("onprem", "container_cidrs", name)
    if isinstance(environment.link, Vpn):
        for index, network in enumerate(environment.link.inside_cidrs):
            yield f"tunnel {index + 1}'s inside range", network, ("link", "inside_cidrs", index)


def _hosts(environment: Environment) -> Iterator[_Host]:
    for name, own in environment.onprem.addresses.items():
        yield _Host(name, own, ("onprem", "addresses", name))
    for index, group in enumerate(environment.onprem.nodes):
        base: DataPath = ("onprem", "nodes", index)
        for offset, name in enumerate(hostlist.expand(group.hosts)):
            within = int(group.address) + offset < 2**32
            address = group.address + offset if within else None
            yield _Host(name, address, (*base, "hosts"), ((*base, "address"),))


@rule
def overlapping_cidrs(environment: Environment) -> Iterator[Finding]:
    """No two ranges may overlap: a node sends to its own site what was meant for the other.

    Docker's default bridge (172.17.0.0/16) and pod ranges count too: they shadow the site on every node that has them.
    Two container ranges may overlap each other; they never meet. Source: AWS VPC and Docker networking guides.
    """
    for (one, first, first_path), (other, second, second_path) in combinations(_ranges(environment), 2):
        if first.overlaps(second) and not ("container" in one and "container" in other):
            yield Finding(
                "overlapping-cidrs",
                f"{other} {second} overlaps {one} {first}",
                second_path,
                "choose ranges that share no address",
                related=(first_path,),
            )


@rule
def private_cidr(environment: Environment) -> Iterator[Finding]:
    """Both sites need private ranges (RFC 1918, RFC 6598): a public one hides its real owner from every node."""
    carrier = IPv4Network("100.64.0.0/10")
    for name, network, path in list(_ranges(environment))[:2]:
        if not network.is_private and not network.subnet_of(carrier):
            fix = "use a range inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"
            yield Finding("private-cidr", f"{name} {network} is public address space", path, fix)


@rule
def vpc_size(environment: Environment) -> Iterator[Finding]:
    """A VPC is a /16 at most and a subnet a /28 at least (VPC User Guide); each zone's subnet is an eighth of the VPC.

    Where NAT gateways stand, their subnets are an eighth of an eighth.
    """
    smallest = 25 if environment.aws.nat == "none" else 22
    if not 16 <= environment.aws.cidr.prefixlen <= smallest:
        message = f"a VPC of this shape is a /16 to a /{smallest}, not a /{environment.aws.cidr.prefixlen}"
        yield Finding("vpc-size", message, ("aws", "cidr"), related=(("aws", "nat"),))


@rule
def address_in_site(environment: Environment) -> Iterator[Finding]:
    """A host's address lies in the site's range, else nothing is routed to it; network and broadcast are no hosts'."""
    cidr = environment.onprem.cidr
    site: DataPath = ("onprem", "cidr")
    for host in _hosts(environment):
        path = host.related[0] if host.related else host.path
        related = (site, host.path, *host.related)
        if host.address is None or host.address not in cidr:
            message = (
                f"{host.name}'s address {host.address or 'past 255.255.255.255'} is outside the site's range {cidr}"
            )
            yield Finding("address-in-site", message, path, "change the address, or widen onprem.cidr", related=related)
        elif cidr.prefixlen < 31 and host.address in (cidr.network_address, cidr.broadcast_address):
            message = f"{host.name}'s address {host.address} is the network's own or its broadcast address"
            yield Finding("address-in-site", message, path, related=related)


@rule
def duplicate_address(environment: Environment) -> Iterator[Finding]:
    """Two hosts with one address answer in turn, which looks like anything but that."""
    seen: dict[IPv4Address, _Host] = {}
    for host in _hosts(environment):
        first = seen.setdefault(host.address, host) if host.address is not None else host
        if first is not host and first.name != host.name:
            message = f"{host.name} and {first.name} both have the address {host.address}"
            path = host.related[0] if host.related else host.path
            related = (host.path, first.path, *host.related, *first.related)
            yield Finding("duplicate-address", message, path, related=related)


@rule
def duplicate_host(environment: Environment) -> Iterator[Finding]:
    """A host is named once among the nodes; a service may run on a node, whose address then is the node's."""
    seen: dict[str, _Host] = {}
    for host in _hosts(environment):
        first = seen.setdefault(host.name, host)
        if first is not host:
            message = f'the host "{host.name}" is here a second time'
            fix = "name every host once; a node's address follows from its group"
            yield Finding("duplicate-host", message, host.path, fix, related=(first.path,))


@rule
def service_without_address(environment: Environment) -> Iterator[Finding]:
    """Every service host needs an address, of its own or as a node: host names are laid down by Landbridge, not by DNS."""
    services = environment.onprem.services
    known = {host.name for host in _hosts(environment)}
    nodes: tuple[DataPath, ...] = tuple(
        ("onprem", "nodes", index, "hosts") for index in range(len(environment.onprem.nodes))
    )
    for field in type(services).model_fields:
        value = getattr(services, field)
        names = value if isinstance(value, tuple) else (value,)
        for index, name in enumerate(names):
            if name not in known:
                path: DataPath = ("onprem", "services", field, *((index,) if isinstance(value, tuple) else ()))
                related: tuple[DataPath, ...] = (("onprem", "addresses", name), ("onprem", "services", field), *nodes)
                yield Finding(
                    "service-without-address",
                    f"the {field} host {name} has no address",
                    path,
                    f"add {name}: to onprem.addresses",
                    related=related,
                )


@rule
def unused_address(environment: Environment) -> Iterator[Finding]:
    """An address without a service is often a misspelt host."""
    used = set(environment.onprem.services.hosts())
    services: DataPath = ("onprem", "services")
    for name in environment.onprem.addresses:
        if name not in used:
            message = f"{name} has an address, but serves nothing"
            path: DataPath = ("onprem", "addresses", name)
            yield Finding("unused-address", message, path, severity=Severity.WARNING, related=(services,))
