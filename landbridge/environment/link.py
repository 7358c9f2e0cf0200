"""The link between the sites."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Asn, HostName, Model, Word

Pair = tuple[IPv4Network, IPv4Network]


class Tunnels(Model):
    """Our end of one Site-to-Site VPN connection: two tunnels to one gateway of ours, BGP in both."""

    gateway_address: IPv4Address = Field(description="of our VPN gateway, as AWS sees it")
    datapath: Literal["kernel", "userspace"] = Field(
        default="kernel", description="userspace needs no ESP in the kernel and carries one tunnel at about 300 Mbit/s"
    )
    bandwidth: Literal["standard", "large"] = Field(default="standard", description="1.25 or 5 Gbit/s a tunnel")
    inside_cidrs: Pair | None = Field(
        default=None, description="AWS takes the first address of each; none: AWS chooses the ranges too"
    )
    mtu: int = Field(
        default=1400, ge=576, le=1446, description="what every cipher carries behind NAT too; MSS is clamped to it"
    )


class LinkedSite(Tunnels):
    """Another site of ours, with a VPN of its own to the same VPC. Its gateway is configured as ours is."""

    cidr: IPv4Network = Field(description="every address of that site")
    gateway: HostName = Field(description="the host that is that site's end of the link")
    address: IPv4Address = Field(description="the host's own address in that site")
    asn: Asn = Field(default=65010, description="sites that reach one another have different numbers")


class _Link(Model):
    """Keys that both kinds of link have."""

    kind: Literal["vpn", "direct_connect"]
    onprem_asn: Asn = Field(default=65010, description="a private number, different from AWS's")
    aws_asn: Asn = Field(default=64512, description="AWS's default")
    logs: bool = Field(default=True, description="of tunnels and of their BGP sessions, kept as long as aws.logs says")
    sites: Mapping[Word, LinkedSite] = Field(
        default={}, description="more sites that reach the VPC; aws.ingress says what they may do there"
    )
    sites_meet: bool = Field(default=False, description="whether sites reach one another through AWS")


class VpnSettings(Tunnels, _Link):
    """Site-to-Site VPN on a transit gateway: two tunnels, BGP."""

    kind: Literal["vpn"]
    inside_cidrs: Pair = Field(
        default=(IPv4Network("169.254.10.0/30"), IPv4Network("169.254.11.0/30")),
        description="AWS takes the first address",
    )


class LineVpn(Tunnels):
    """A VPN inside the leased line, from private address to private address."""

    cidr: IPv4Network = Field(
        default=IPv4Network("100.127.254.0/24"),
        description="where AWS's ends of the tunnels get their addresses; a /24 or larger that is used for nothing else",
    )


class DirectConnectSettings(_Link):
    """A leased line with a transit virtual interface."""

    kind: Literal["direct_connect"]
    connection: Annotated[str, StringConstraints(pattern=r"^dx(con|lag)-[a-z0-9]{8}$")]
    vlan: Annotated[int, Field(ge=1, le=4094)]
    gateway_address: IPv4Address = Field(description="our router's address towards AWS")
    aws_address: IPv4Address | None = Field(
        default=None, description="AWS's side; none: the other host of our router's /30"
    )
    line_asn: Asn = Field(
        default=64513, description="AWS's on the line, where our router peers; not the transit gateway's"
    )
    port: Literal["1g", "10g", "100g", "400g"] | None = Field(
        default=None, description="the connection's bandwidth; none: its price is not counted"
    )
    encryption: Literal["macsec", "vpn", "none"] = Field(
        default="macsec", description="a leased line is clear text by itself; vpn: tunnels inside it, see line_vpn"
    )
    line_vpn: LineVpn | None = Field(default=None, description="with encryption: vpn, our end of those tunnels")
    backup: Tunnels | None = Field(
        default=None, description="a VPN over the internet that carries while the line does not; none: nothing does"
    )
    router: IPv4Address | None = Field(
        default=None,
        description="our router's address in the site; the VPN gateway tells it by BGP what the tunnels reach, less preferred",
    )
    mtu: Literal[1500, 8500] = Field(default=8500, description="jumbo frames pass a transit virtual interface")


Link = Annotated[VpnSettings | DirectConnectSettings, Field(discriminator="kind")]
