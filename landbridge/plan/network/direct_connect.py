"""A leased line: what AWS's side of it is told."""

from ipaddress import IPv4Address, IPv4Network

from landbridge.environment import DirectConnectSettings, Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.other_regions import aws_ranges


class DirectConnectArgs(Args):
    """A transit virtual interface on a connection that is there, and the Direct Connect gateway behind it.

    `allowed_prefixes` is what AWS tells our router; they are told as they stand here, whatever the VPC has.
    """

    cluster: str
    connection: str
    vlan: int
    mtu: int
    customer_address: str
    aws_address: str
    onprem_asn: int
    asn: int
    allowed_prefixes: tuple[str, ...]
    tags: dict[str, str]


def direct_connect_args(environment: Environment, line: DirectConnectSettings) -> DirectConnectArgs:
    """Plan the line. Where tunnels run inside it, it carries those alone: nothing of the VPC is told on it.

    In clear text the VPC's own ranges are told, no wider and no narrower: the VPN tells the same, so that both sides can
    prefer the line. Source: Direct Connect User Guide, "Allowed prefixes interactions".
    """
    if line.encryption == "vpn":
        prefixes = [str(line.line_vpn.cidr)] if line.line_vpn else []
    else:
        prefixes = [str(cidr) for cidr in aws_ranges(environment)]
        prefixes += [str(site.cidr) for site in line.sites.values()] if line.sites_meet else []
    aws_address = line.aws_address or other_host(line.gateway_address)
    length = peer_prefix(line.gateway_address, aws_address)
    return DirectConnectArgs(
        cluster=environment.name,
        connection=line.connection,
        vlan=line.vlan,
        mtu=line.mtu,
        customer_address=f"{line.gateway_address}/{length}",
        aws_address=f"{aws_address}/{length}",
        onprem_asn=line.onprem_asn,
        asn=line.line_asn,
        allowed_prefixes=tuple(prefixes),
        tags=tags(environment),
    )


def around(address: IPv4Address, prefix: int) -> IPv4Network:
    """The network of that length which an address is in."""
    return IPv4Network((int(address), prefix), strict=False)


def other_host(address: IPv4Address) -> IPv4Address:
    """The other host of an address's /30, or of its /31 where it is none of the /30's two."""
    hosts = list(around(address, 30).hosts())
    if address in hosts:
        return hosts[1] if address == hosts[0] else hosts[0]
    pair = list(around(address, 31))
    return pair[1] if address == pair[0] else pair[0]


def peer_prefix(address: IPv4Address, other: IPv4Address) -> int:
    """The length of the network that two peers are the two hosts of: a /30, else a /31."""
    hosts = set(around(address, 30).hosts())
    return 30 if {address, other} == hosts else 31
