"""Rules about the link between the sites."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from landbridge.environment import Environment, Vpn
from landbridge.findings import DataPath, Finding, Severity
from landbridge.rules.registry import rule

_LINK_LOCAL = IPv4Network("169.254.0.0/16")
# Site-to-Site VPN User Guide, "Tunnel options": these /30s are AWS's own.
_RESERVED = tuple(
    IPv4Network(f"169.254.{third}.{fourth}/30")
    for third, fourth in ((0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (169, 252))
)
_DOCUMENTATION = tuple(IPv4Network(text) for text in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"))
_RESERVED_ASNS = frozenset({0, 7224, 9059, 10124, 17943, 23456, 65535, 4_294_967_295})


@rule
def same_asn(environment: Environment) -> Iterator[Finding]:
    """The two ends of a BGP session between sites need different numbers, else each drops the other's routes as a loop."""
    link = environment.link
    if link.onprem_asn == link.aws_asn:
        message = f"both ends of the link have the AS number {link.onprem_asn}"
        fix = "choose another private number (64512 to 65534) for onprem_asn"
        yield Finding("same-asn", message, ("link", "onprem_asn"), fix, related=(("link", "aws_asn"), ("link", "kind")))


@rule
def reserved_asn(environment: Environment) -> Iterator[Finding]:
    """Some numbers are reserved (RFC 7607, RFC 6793, RFC 7300) or AWS's own in some region."""
    for key in ("onprem_asn", "aws_asn"):
        value = getattr(environment.link, key)
        if value in _RESERVED_ASNS:
            yield Finding("reserved-asn", f"the AS number {value} is reserved", ("link", key), "such as 65010")


@rule
def aws_asn_private(environment: Environment) -> Iterator[Finding]:
    """A transit gateway's number is private: 64512 to 65534, or 4200000000 to 4294967294 (CreateTransitGateway)."""
    value = environment.link.aws_asn
    if not (64512 <= value <= 65534 or 4_200_000_000 <= value <= 4_294_967_294):
        message = f"a transit gateway cannot have the AS number {value}"
        yield Finding("aws-asn-private", message, ("link", "aws_asn"), "64512 is AWS's default")


@rule
def gateway_address(environment: Environment) -> Iterator[Finding]:
    """AWS reaches our VPN gateway over the internet: its address is public, and not one of the site's own.

    Documentation ranges are what the sandbox's internet uses; on a real one nothing answers there, so they are a warning
    unless the AWS in use is an emulated one.
    """
    link, path = environment.link, ("link", "gateway_address")
    if not isinstance(link, Vpn):
        return
    address = link.gateway_address
    if any(address in network for network in _DOCUMENTATION):
        if environment.aws.endpoints.operator is None:
            message = f"{address} is an example from the documentation ranges; nothing answers there"
            yield Finding("gateway-address", message, path, "put your gateway's public address", Severity.WARNING)
    elif address in environment.onprem.cidr or address in environment.aws.cidr:
        message = f"{address} is inside a site's range; AWS needs the gateway's public address"
        related: tuple[DataPath, ...] = (("onprem", "cidr"), ("aws", "cidr"), ("link", "kind"))
        yield Finding("gateway-address", message, path, related=related)
    elif not address.is_global:
        message = f"{address} is not a public address; AWS cannot reach it"
        yield Finding("gateway-address", message, path, "with NAT, put the address that the internet sees")


@rule
def inside_cidr(environment: Environment) -> Iterator[Finding]:
    """A tunnel's inside range is a /30 in 169.254.0.0/16, outside seven that AWS keeps (VPN User Guide)."""
    if not isinstance(environment.link, Vpn):
        return
    for index, network in enumerate(environment.link.inside_cidrs):
        path: DataPath = ("link", "inside_cidrs", index)
        if network.prefixlen != 30 or not network.subnet_of(_LINK_LOCAL):
            yield Finding("inside-cidr", f"{network} is not a /30 in {_LINK_LOCAL}", path, "such as 169.254.10.0/30")
        elif network in _RESERVED:
            yield Finding("inside-cidr", f"{network} is kept by AWS", path, "such as 169.254.10.0/30")


@rule
def one_tunnel(environment: Environment) -> Iterator[Finding]:
    """The userspace datapath carries one tunnel: when AWS replaces that tunnel's endpoint, the sites are apart."""
    link = environment.link
    if isinstance(link, Vpn) and link.datapath == "userspace" and environment.aws.endpoints.operator is None:
        message = "the userspace datapath carries one of the two tunnels"
        fix = "use datapath: kernel on a gateway whose kernel has ESP"
        yield Finding("one-tunnel", message, ("link", "datapath"), fix, Severity.WARNING)
