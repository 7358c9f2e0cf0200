"""Rules about the link between the sites."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network

from landbridge.catalog.limits import limits
from landbridge.catalog.network import network
from landbridge.environment import DirectConnect, Environment, Vpn
from landbridge.findings import DataPath, Finding, Severity
from landbridge.rules.registry import rule
from landbridge.rules.walk import emulated

_KIND: DataPath = ("link", "kind")


@rule
def same_asn(environment: Environment) -> Iterator[Finding]:
    """The two ends of the BGP session have different numbers, else each drops the other's routes as a loop.

    Source: RFC 4271, section 9.1.2; EC2 CreateTransitGateway.
    """
    link = environment.link
    if link.onprem_asn == link.aws_asn:
        message = f"both ends of the link have the AS number {link.onprem_asn}"
        fix = "choose another private number (64512 to 65534) for onprem_asn"
        related: tuple[DataPath, ...] = (("link", "aws_asn"), _KIND)
        yield Finding("same-asn", message, ("link", "onprem_asn"), fix, related=related)


@rule
def reserved_asn(environment: Environment) -> Iterator[Finding]:
    """An AS number is not reserved, nor AWS's own in some region, nor one from documentation.

    Source: RFC 7607, RFC 6793, RFC 7300, RFC 5398; EC2 CreateCustomerGateway; landbridge/catalog/network.yaml.
    """
    for key in ("onprem_asn", "aws_asn"):
        value = getattr(environment.link, key)
        if value in network().asn_reserved:
            yield Finding("reserved-asn", f"the AS number {value} is reserved", ("link", key), "such as 65010")
        elif any(first <= value <= last for first, last in network().asn_documentation):
            message = f"the AS number {value} is one for examples"
            yield Finding("reserved-asn", message, ("link", key), "such as 65010", Severity.WARNING)


@rule
def aws_asn_private(environment: Environment) -> Iterator[Finding]:
    """AWS's side of the session has a private number: a transit gateway takes no other.

    Source: EC2 CreateTransitGateway: 64512 to 65534, or 4200000000 to 4294967294.
    """
    value = environment.link.aws_asn
    if not _is_private(value):
        message = f"a transit gateway cannot have the AS number {value}"
        yield Finding("aws-asn-private", message, ("link", "aws_asn"), "64512 is AWS's default")


@rule
def onprem_asn_public(environment: Environment) -> Iterator[Finding]:
    """A public number of our side is our own: with somebody else's, providers filter what we announce.

    Source: RFC 6996; Site-to-Site VPN User Guide, "Customer gateway options".
    """
    value = environment.link.onprem_asn
    known = value in network().asn_reserved or any(low <= value <= high for low, high in network().asn_documentation)
    if not known and not _is_private(value):
        message = f"{value} is a public AS number"
        fix = "right if it is yours; else a private one, such as 65010"
        yield Finding("onprem-asn-public", message, ("link", "onprem_asn"), fix, Severity.WARNING)


@rule
def gateway_address(environment: Environment) -> Iterator[Finding]:
    """AWS reaches our VPN gateway over the internet: its address is public, and not one of the site's own.

    Documentation ranges are what the sandbox's internet uses; on a real one nothing answers there, so they are a warning
    unless the AWS in use is an emulated one.
    Source: EC2 CreateCustomerGateway; RFC 5737.
    """
    link, path = environment.link, ("link", "gateway_address")
    if not isinstance(link, Vpn):
        return
    address = link.gateway_address
    if any(address in one for one in network().documentation):
        if not emulated(environment):
            message = f"{address} is an example from the documentation ranges; nothing answers there"
            yield Finding("gateway-address", message, path, "put your gateway's public address", Severity.WARNING)
    elif address in environment.onprem.cidr or address in environment.aws.cidr:
        message = f"{address} is inside a site's range; AWS needs the gateway's public address"
        related: tuple[DataPath, ...] = (("onprem", "cidr"), ("aws", "cidr"), _KIND)
        yield Finding("gateway-address", message, path, related=related)
    elif not address.is_global or address.is_multicast or any(address in one for one in network().unusable):
        message = f"{address} is not a public address; AWS cannot reach it"
        yield Finding("gateway-address", message, path, "with NAT, put the address that the internet sees")


@rule
def inside_cidr(environment: Environment) -> Iterator[Finding]:
    """A tunnel's inside range is a /30 in 169.254.0.0/16, outside seven that AWS keeps.

    Source: Site-to-Site VPN User Guide, "Tunnel options".
    """
    if not isinstance(environment.link, Vpn):
        return
    vpn = limits().vpn
    for index, inside in enumerate(environment.link.inside_cidrs):
        path: DataPath = ("link", "inside_cidrs", index)
        if inside.prefixlen != vpn.inside_prefix or not inside.subnet_of(vpn.inside_range):
            message = f"{inside} is not a /{vpn.inside_prefix} in {vpn.inside_range}"
            yield Finding("inside-cidr", message, path, "such as 169.254.10.0/30")
        elif inside in vpn.inside_reserved:
            yield Finding("inside-cidr", f"{inside} is kept by AWS", path, "such as 169.254.10.0/30")


@rule
def one_tunnel(environment: Environment) -> Iterator[Finding]:
    """Both tunnels carry: when AWS replaces the endpoint of the only one, the sites are apart. The userspace datapath has one.

    Source: Site-to-Site VPN User Guide, "Tunnel endpoint replacements".
    """
    link = environment.link
    if isinstance(link, Vpn) and link.datapath == "userspace" and not emulated(environment):
        message = "the userspace datapath carries one of the two tunnels"
        fix = "use datapath: kernel on a gateway whose kernel has ESP"
        yield Finding("one-tunnel", message, ("link", "datapath"), fix, Severity.WARNING)


@rule
def userspace_bandwidth(environment: Environment) -> Iterator[Finding]:
    """A gateway that encrypts in user space does not fill a large tunnel, which costs several times a standard one.

    Source: Site-to-Site VPN pricing, large bandwidth tunnels; about 300 Mbit/s measured with kernel-libipsec.
    """
    link = environment.link
    if isinstance(link, Vpn) and link.datapath == "userspace" and link.bandwidth == "large":
        message = f"{limits().vpn.large_tunnel_gbps:g} Gbit/s are paid for; the userspace datapath carries about 0.3"
        related: tuple[DataPath, ...] = (("link", "datapath"),)
        yield Finding("userspace-bandwidth", message, ("link", "bandwidth"), "use standard", Severity.WARNING, related)


@rule
def tunnel_mtu(environment: Environment) -> Iterator[Finding]:
    """The tunnel's MTU fits through it: one that is too large lets ssh work, and NFS and MPI hang.

    1446 fits AES-GCM with nothing in between; behind NAT, or with the userspace datapath's CBC, 1438 does.
    Source: Site-to-Site VPN User Guide, "Best practices for your customer gateway device": MTU.
    """
    link = environment.link
    if not isinstance(link, Vpn):
        return
    path, least = ("link", "mtu"), network().vpn_mtu_with_nat
    if link.mtu > least and link.datapath == "userspace":
        message = f"packets of {link.mtu} bytes do not fit through a tunnel of the userspace datapath"
        yield Finding("tunnel-mtu", message, path, f"use {least} or less", related=(("link", "datapath"),))
    elif link.mtu > least:
        message = f"packets of {link.mtu} bytes fit only without NAT on the way"
        yield Finding("tunnel-mtu", message, path, f"use {least} or less, or be sure of it", Severity.WARNING)


@rule
def peer_addresses(environment: Environment) -> Iterator[Finding]:
    """The two routers of a leased line have two addresses of one /30 or /31, and neither is its network's own.

    Source: Direct Connect User Guide, "Prerequisites for virtual interfaces": peer IP addresses.
    """
    link = environment.link
    if not isinstance(link, DirectConnect) or link.aws_address is None:
        return
    path: DataPath = ("link", "aws_address")
    ours, theirs = link.gateway_address, link.aws_address
    related: tuple[DataPath, ...] = (("link", "gateway_address"), _KIND)
    if ours == theirs:
        yield Finding("peer-addresses", f"both routers have the address {ours}", path, related=related)
    elif theirs not in _around(ours, 30) and theirs not in _around(ours, 31):
        message = f"{theirs} and {ours} are in no common /30"
        yield Finding("peer-addresses", message, path, f"such as {_other(ours)}", related=related)
    elif theirs not in _around(ours, 31):
        whole = _around(ours, 30)
        if whole.network_address in (ours, theirs) or whole.broadcast_address in (ours, theirs):
            message = f"{ours} and {theirs} are not the two hosts of {whole}"
            yield Finding("peer-addresses", message, path, related=related)


@rule
def clear_text_line(environment: Environment) -> Iterator[Finding]:
    """A leased line is clear text by itself: data of a regime that wants encryption in transit does not cross it so.

    Source: Direct Connect User Guide, "MACsec"; NIST SP 800-53 SC-8.
    """
    link = environment.link
    if not isinstance(link, DirectConnect) or link.encryption != "none":
        return
    regulated = [name for name, one in environment.data_classes.items() if one.regime and "aws" in one.sites]
    path: DataPath = ("link", "encryption")
    related: tuple[DataPath, ...] = (("data_classes",), _KIND)
    if regulated:
        message = f"the line is not encrypted, and data of class {regulated[0]} crosses it"
        yield Finding("clear-text-line", message, path, "use macsec, or a VPN over the line", related=related)
    else:
        message = "the line is not encrypted: munge's credentials and NFS cross it as they are"
        fix = "use macsec, or a VPN over the line"
        yield Finding("clear-text-line", message, path, fix, Severity.WARNING, related)


def _is_private(number: int) -> bool:
    return any(first <= number <= last for first, last in limits().vpn.asn_private)


def _around(address: IPv4Address, prefix: int) -> IPv4Network:
    return IPv4Network((int(address), prefix), strict=False)


def _other(address: IPv4Address) -> IPv4Address:
    """The other host of an address's /30, or of its /31 where it is none of the /30's two."""
    hosts = list(_around(address, 30).hosts())
    if address in hosts:
        return hosts[1] if address == hosts[0] else hosts[0]
    pair = list(_around(address, 31))
    return pair[1] if address == pair[0] else pair[0]
