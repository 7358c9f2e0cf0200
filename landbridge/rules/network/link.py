"""Rules about the link between the sites."""

from collections.abc import Iterator

from landbridge.catalog.aws.limits import limits
from landbridge.catalog.network import network
from landbridge.environment import DirectConnectSettings, Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.link import connections, first_connections
from landbridge.rules.registry import rule

_KIND: DataPath = ("link", "kind")
_AWS_GATEWAYS = {"aws_asn": "transit gateway", "line_asn": "Direct Connect gateway"}


@rule
def same_asn(environment: Environment) -> Iterator[Finding]:
    """The two ends of a BGP session have different AS numbers: otherwise each drops the other's routes as a loop.

    Source: RFC 4271, section 9.1.2; EC2 CreateTransitGateway.
    """
    link = environment.link
    if link is None:
        return
    onprem_numbers: dict[DataPath, int] = {("link", "onprem_asn"): link.onprem_asn}
    onprem_numbers |= {("link", "sites", name, "asn"): site.asn for name, site in link.sites.items()}
    for path, asn in onprem_numbers.items():
        if asn == link.aws_asn:
            message = f"both ends of the link have the AS number {asn}"
            fix = f"write another private number (64512 to 65534) for {path[-1]}"
            related: tuple[DataPath, ...] = (("link", "aws_asn"), _KIND)
            yield error(path, message, fix=fix, related=related)


@rule
def reserved_asn(environment: Environment) -> Iterator[Finding]:
    """An AS number is not reserved, not AWS's own, and not for documentation.

    Source: RFC 7607, RFC 6793, RFC 7300, RFC 5398; EC2 CreateCustomerGateway; landbridge/catalog/network.yaml.
    """
    for path, value in _numbers(environment):
        if value in network().asn_reserved:
            yield error(path, f"the AS number {value} is reserved", fix="write a private number, such as 65010")
        elif any(first <= value <= last for first, last in network().asn_documentation):
            message = f"the AS number {value} is reserved for documentation"
            yield warning(path, message, fix="write a private number, such as 65010")


@rule
def aws_asn_private(environment: Environment) -> Iterator[Finding]:
    """AWS's end of a BGP session has a private AS number: its gateways allow no other.

    Source: EC2 CreateTransitGateway, CreateDirectConnectGateway: 64512 to 65534, or 4200000000 to 4294967294.
    """
    for path, number in _numbers(environment):
        if path[-1] in _AWS_GATEWAYS and not _is_private(number):
            message = f"a {_AWS_GATEWAYS[str(path[-1])]} cannot have the AS number {number}"
            yield error(path, message, fix="write a private number, such as 64512 or 64513")


@rule
def onprem_asn_public(environment: Environment) -> Iterator[Finding]:
    """A public on-prem AS number belongs to the organisation: otherwise providers filter its routes.

    Source: RFC 6996; Site-to-Site VPN User Guide, "Customer gateway options".
    """
    if environment.link is None:
        return
    value = environment.link.onprem_asn
    is_reserved = value in network().asn_reserved or any(
        low <= value <= high for low, high in network().asn_documentation
    )
    if not is_reserved and not _is_private(value):
        message = f"the AS number {value} is public"
        fix = "suppress this if it is yours; otherwise write a private one, such as 65010"
        yield warning(("link", "onprem_asn"), message, fix=fix)


@rule(public_aws=True)
def gateway_example_address(environment: Environment) -> Iterator[Finding]:
    """The VPN gateway's address is not from the documentation ranges, which no network routes.

    Source: RFC 5737.
    """
    for connection in connections(environment):
        address = connection.gateway_address
        if connection.over != "line" and any(address in documented for documented in network().documentation):
            message = f"the gateway address {address} is in a documentation range"
            yield warning(connection.address_path, message, fix="write your gateway's public address")


@rule
def gateway_address(environment: Environment) -> Iterator[Finding]:
    """The VPN gateway's address is public, and outside the site's range.

    Source: EC2 CreateCustomerGateway.
    """
    site = environment.onprem
    for connection in connections(environment):
        address, path = connection.gateway_address, connection.address_path
        if connection.over == "line":
            continue
        if any(address in documented for documented in network().documentation):
            continue
        if (site is not None and address in site.cidr) or address in environment.aws.cidr:
            message = f"the gateway address {address} is inside a site's range; AWS needs its public address"
            related: tuple[DataPath, ...] = (("onprem", "cidr"), ("aws", "cidr"), _KIND)
            yield error(path, message, related=related)
        elif (
            not address.is_global or address.is_multicast or any(address in unusable for unusable in network().unusable)
        ):
            message = f"the gateway address {address} is not public, so AWS cannot reach it"
            yield error(path, message, fix="behind NAT, write the public address of the NAT device")


@rule
def inside_cidr(environment: Environment) -> Iterator[Finding]:
    """A tunnel's inside range is a /30 in 169.254.0.0/16, and not one of the seven that AWS reserves.

    Source: Site-to-Site VPN User Guide, "Tunnel options".
    """
    vpn = limits().vpn
    for connection in first_connections(environment):
        for index, inside in enumerate(connection.tunnels.inside_cidrs or ()):
            path: DataPath = (*connection.path, "inside_cidrs", index)
            if inside.prefixlen != vpn.inside_prefix or not inside.subnet_of(vpn.inside_range):
                message = f"the inside range {inside} is not a /{vpn.inside_prefix} in {vpn.inside_range}"
                yield error(path, message, fix="write a range such as 169.254.10.0/30")
            elif inside in vpn.inside_reserved:
                yield error(
                    path, f"the inside range {inside} is reserved by AWS", fix="write a range such as 169.254.10.0/30"
                )


@rule(public_aws=True)
def one_tunnel(environment: Environment) -> Iterator[Finding]:
    """Both VPN tunnels are up: AWS replaces tunnel endpoints one at a time. The userspace datapath has one tunnel.

    Source: Site-to-Site VPN User Guide, "Tunnel endpoint replacements".
    """
    for connection in first_connections(environment):
        if connection.tunnels.datapath == "userspace":
            message = "the userspace datapath carries one of the two tunnels"
            fix = "use datapath: kernel on a gateway with ESP in its kernel"
            yield warning((*connection.path, "datapath"), message, fix=fix)


@rule
def userspace_bandwidth(environment: Environment) -> Iterator[Finding]:
    """A userspace gateway has standard tunnels: it cannot use the bandwidth of large ones, which cost several times more.

    Source: Site-to-Site VPN pricing, large bandwidth tunnels; about 300 Mbit/s measured with kernel-libipsec.
    """
    for connection in first_connections(environment):
        if connection.tunnels.datapath == "userspace" and connection.tunnels.bandwidth == "large":
            message = f"{limits().vpn.large_tunnel_gbps:g} Gbit/s are billed; the userspace datapath carries about 0.3"
            path, related = (*connection.path, "bandwidth"), ((*connection.path, "datapath"),)
            yield warning(path, message, fix="use standard", related=related)


@rule
def tunnel_mtu(environment: Environment) -> Iterator[Finding]:
    """The MTU fits the tunnel: with a larger MTU ssh works, and NFS and MPI hang.

    The largest MTU is 1446 for AES-GCM without NAT, and 1438 behind NAT or with the userspace datapath (CBC).
    Source: Site-to-Site VPN User Guide, "Best practices for your customer gateway device": MTU.
    """
    for connection in first_connections(environment):
        path, max_mtu, mtu = (*connection.path, "mtu"), network().vpn_mtu_with_nat, connection.tunnels.mtu
        if mtu > max_mtu and connection.tunnels.datapath == "userspace":
            message = f"an MTU of {mtu} bytes is too large for the userspace datapath"
            yield error(path, message, fix=f"use {max_mtu} or less", related=((*connection.path, "datapath"),))
        elif mtu > max_mtu:
            message = f"an MTU of {mtu} bytes is too large behind NAT"
            yield warning(path, message, fix=f"write {max_mtu} or less, or suppress this if there is no NAT")


def _numbers(environment: Environment) -> Iterator[tuple[DataPath, int]]:
    """Yield the path and value of every AS number of the link."""
    link = environment.link
    if link is None:
        return
    yield ("link", "onprem_asn"), link.onprem_asn
    yield ("link", "aws_asn"), link.aws_asn
    if isinstance(link, DirectConnectSettings):
        yield ("link", "line_asn"), link.line_asn
    for name, site in link.sites.items():
        yield ("link", "sites", name, "asn"), site.asn


def _is_private(number: int) -> bool:
    return any(first <= number <= last for first, last in limits().vpn.asn_private)
