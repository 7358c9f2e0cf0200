"""Plan of Direct Connect: transit virtual interface and Direct Connect gateway."""

from ipaddress import IPv4Address, IPv4Network

from landbridge.environment import DirectConnectSettings, Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.other_regions import aws_ranges


class DirectConnectArgs(Args):
    """Transit virtual interface on an existing connection, and its Direct Connect gateway.

    AWS announces exactly `allowed_prefixes` to our router, independent of the VPC's ranges.
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
    """Plan Direct Connect. With VPN tunnels inside it, it carries only them, and no range of the VPC is announced on
    it.

    Without a VPN, exactly the VPC's ranges are announced: the backup VPN announces the same, so that both sides can
    prefer Direct Connect. Source: Direct Connect User Guide, "Allowed prefixes interactions".
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


def network_of(address: IPv4Address, prefix: int) -> IPv4Network:
    """Return the network with prefix length `prefix` that contains an address."""
    return IPv4Network((int(address), prefix), strict=False)


def other_host(address: IPv4Address) -> IPv4Address:
    """Return the other host of an address's /30, or of its /31 if the address is not a host of the /30."""
    hosts = list(network_of(address, 30).hosts())
    if address in hosts:
        return hosts[1] if address == hosts[0] else hosts[0]
    pair = list(network_of(address, 31))
    return pair[1] if address == pair[0] else pair[0]


def peer_prefix(address: IPv4Address, other: IPv4Address) -> int:
    """Return the prefix length of the network whose two hosts are these peers: 30, else 31."""
    hosts = set(network_of(address, 30).hosts())
    return 30 if {address, other} == hosts else 31
