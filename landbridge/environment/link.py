"""The link between the two sites."""

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Asn, Model


class Vpn(Model):
    """Site-to-Site VPN on a transit gateway: two tunnels, BGP."""

    kind: Literal["vpn"]
    gateway_address: IPv4Address
    onprem_asn: Asn = Field(default=65010, description="a private number, different from AWS's")
    aws_asn: Asn = Field(default=64512, description="AWS's default")
    datapath: Literal["kernel", "userspace"] = Field(
        default="kernel", description="userspace needs no ESP in the kernel and carries one tunnel at about 300 Mbit/s"
    )
    bandwidth: Literal["standard", "large"] = Field(default="standard", description="1.25 or 5 Gbit/s a tunnel")
    inside_cidrs: tuple[IPv4Network, IPv4Network] = Field(
        default=(IPv4Network("169.254.10.0/30"), IPv4Network("169.254.11.0/30")),
        description="AWS takes the first address",
    )
    mtu: int = Field(
        default=1400, ge=576, le=1446, description="what every cipher carries behind NAT too; MSS is clamped to it"
    )


class DirectConnect(Model):
    """A leased line with a transit virtual interface."""

    kind: Literal["direct_connect"]
    connection: Annotated[str, StringConstraints(pattern=r"^dx(con|lag)-[a-z0-9]{8}$")]
    vlan: Annotated[int, Field(ge=1, le=4094)]
    gateway_address: IPv4Address = Field(description="our router's address towards AWS")
    aws_address: IPv4Address | None = Field(default=None, description="AWS's side of the same /30; none: AWS chooses")
    onprem_asn: Asn = Field(default=65010, description="a private number, different from AWS's")
    aws_asn: Asn = Field(default=64512, description="AWS's default")
    encryption: Literal["macsec", "none"] = Field(default="macsec", description="a leased line is clear text by itself")
    mtu: Literal[1500, 8500] = Field(default=8500, description="jumbo frames pass a transit virtual interface")


Link = Annotated[Vpn | DirectConnect, Field(discriminator="kind")]
