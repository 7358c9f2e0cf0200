"""Environment key `link`: the connection between the sites."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.aws.iam import Pem
from landbridge.environment.base import Asn, HostName, Model, Word

AcmCertificateArn = Annotated[
    str, StringConstraints(pattern=r"^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[A-Za-z0-9-]+$")
]
PrivateCaArn = Annotated[
    str,
    StringConstraints(pattern=r"^arn:aws[a-z-]*:acm-pca:[a-z0-9-]+:\d{12}:certificate-authority/[A-Za-z0-9-]+$"),
]
TunnelRanges = Annotated[tuple[IPv4Network, ...], Field(min_length=2, max_length=4)]


class Tunnels(Model):
    """The organisation's end of a Site-to-Site VPN connection to each gateway: two tunnels, BGP in both."""

    gateway_address: IPv4Address | tuple[IPv4Address, IPv4Address] = Field(
        description="public address of your VPN gateway, after NAT; for two gateways, a list of their two addresses"
    )
    datapath: Literal["kernel", "userspace"] = Field(
        default="kernel",
        description="userspace needs no ESP in the kernel, and is limited to one tunnel with about 300 Mbit/s",
    )
    bandwidth: Literal["standard", "large"] = Field(
        default="standard", description="standard: 1.25 Gbit/s per tunnel; large: 5 Gbit/s"
    )
    inside_cidrs: TunnelRanges | None = Field(
        default=None,
        description="ranges inside the tunnels; AWS uses the first address of each; none: AWS chooses the ranges; two "
        "gateways: two ranges for each in their order, or AWS chooses those of the second",
    )
    mtu: int = Field(
        default=1400,
        ge=576,
        le=1446,
        description="MTU of the tunnels; the default fits every cipher, also behind NAT; MSS is clamped to it",
    )

    @property
    def gateway_addresses(self) -> tuple[IPv4Address, ...]:
        """The addresses of all gateways."""
        return self.gateway_address if isinstance(self.gateway_address, tuple) else (self.gateway_address,)


class LinkedSite(Tunnels):
    """Another site of the organisation, with a separate VPN to the same VPC. Its gateway has the same configuration."""

    cidr: IPv4Network = Field(description="address range of that site")
    gateway: HostName = Field(description="gateway host of that site")
    address: IPv4Address = Field(description="private address of the gateway host in that site")
    asn: Asn = Field(
        default=65010, description="BGP ASN of the site; sites that reach one another need different numbers"
    )


class TunnelCertificates(Model):
    """Certificates of a subordinate CA in AWS Private CA, with which both ends of every tunnel authenticate."""

    arn: AcmCertificateArn = Field(
        description="a private certificate of the CA in ACM, for the customer gateways; AWS accepts every certificate with "
        "the same chain, so that a gateway's own key never leaves its host"
    )
    authority_arn: PrivateCaArn = Field(
        description="the subordinate CA in AWS Private CA, which signs the requests of the gateways and AWS's ends"
    )
    authorities: Pem = Field(
        description="certificates of that CA and of those above it, in PEM, the issuing one first; the CA issues certificates "
        "of tunnels only"
    )
    days: int = Field(default=90, ge=8, le=398, description="validity of a gateway's certificate in days")
    renew_days: int = Field(
        default=45,
        ge=2,
        le=397,
        description="`landbridge configure` renews a gateway's certificate if fewer days remain",
    )
    alarm_days: int = Field(
        default=21, ge=1, le=396, description="days before the end from which the gateway reports its certificate"
    )


class _Link(Model):
    """Keys of both kinds of link."""

    kind: Literal["vpn", "direct_connect"]
    onprem_asn: Asn = Field(default=65010, description="BGP ASN of the site: a private number, different from aws_asn")
    aws_asn: Asn = Field(default=64512, description="BGP ASN of the transit gateway; AWS's default")
    logs: bool = Field(
        default=True, description="logs of tunnels and of their BGP sessions, kept for aws.logs.retention_days"
    )
    sites: Mapping[Word, LinkedSite] = Field(
        default={}, description="more sites that are connected to the VPC; aws.ingress specifies what they may reach"
    )
    sites_meet: bool = Field(default=False, description="sites reach one another through AWS")
    second_gateway: Literal["standby", "active"] = Field(
        default="standby",
        description="with two gateways. standby: the second carries traffic while the first has no tunnel; active: AWS "
        "divides connections over both (ECMP)",
    )
    certificate: TunnelCertificates | None = Field(
        default=None,
        description="certificates instead of pre-shared keys, for every tunnel; none: AWS creates a key for each tunnel",
    )
    shared_address: IPv4Address | None = Field(
        default=None,
        description="address in the site that two gateways share (VRRP): the next hop of the site's hosts to AWS",
    )
    router: IPv4Address | None = Field(
        default=None,
        description="your router's address in the site; the gateways announce the tunnels' routes to it by BGP, those of "
        "a backup or of a standby gateway with a lower preference",
    )
    bgp_hold_seconds: int = Field(
        default=30,
        ge=3,
        le=180,
        description="time without a BGP message after which a tunnel's routes are withdrawn; both ends use the smaller "
        "of their values, and AWS's is 30",
    )


class VpnSettings(Tunnels, _Link):
    """Site-to-Site VPN on a transit gateway: two tunnels, BGP."""

    kind: Literal["vpn"]
    inside_cidrs: TunnelRanges = Field(
        default=(IPv4Network("169.254.10.0/30"), IPv4Network("169.254.11.0/30")),
        description="ranges inside the tunnels; AWS uses the first address of each; two gateways: two ranges for each in "
        "their order, or AWS chooses those of the second",
    )


class LineVpn(Tunnels):
    """VPN over Direct Connect, between private addresses."""

    cidr: IPv4Network = Field(
        default=IPv4Network("100.127.254.0/24"),
        description="range for AWS's ends of the tunnels; a /24 or larger that nothing else uses",
    )


class DirectConnectSettings(_Link):
    """Direct Connect connection with a transit virtual interface."""

    kind: Literal["direct_connect"]
    connection: Annotated[str, StringConstraints(pattern=r"^dx(con|lag)-[a-z0-9]{8}$")]
    vlan: Annotated[int, Field(ge=1, le=4094)]
    gateway_address: IPv4Address = Field(description="address of your router on the virtual interface")
    aws_address: IPv4Address | None = Field(
        default=None, description="address of AWS on the virtual interface; none: the other host of the router's /30"
    )
    line_asn: Asn = Field(
        default=64513,
        description="ASN of the Direct Connect gateway, with which your router peers; not that of the transit gateway",
    )
    port: Literal["1g", "10g", "100g", "400g"] | None = Field(
        default=None, description="the connection's bandwidth; none: its price is not included in cost estimates"
    )
    encryption: Literal["macsec", "vpn", "none"] = Field(
        default="macsec", description="Direct Connect is not encrypted by default; vpn: tunnels over it, see line_vpn"
    )
    line_vpn: LineVpn | None = Field(default=None, description="with encryption: vpn, the site's end of those tunnels")
    backup: Tunnels | None = Field(
        default=None, description="VPN over the internet, used while Direct Connect is down; none: no backup"
    )
    mtu: Literal[1500, 8500] = Field(
        default=8500, description="8500 for jumbo frames, which a transit virtual interface supports"
    )


Link = Annotated[VpnSettings | DirectConnectSettings, Field(discriminator="kind")]
