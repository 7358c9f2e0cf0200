"""Link between the sites: a transit gateway with VPN connections (two tunnels with BGP each), and Direct Connect."""

from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network
from typing import Literal

from landbridge.environment import DirectConnectSettings, Environment, VpnSettings
from landbridge.environment.link import LineVpn, Tunnels
from landbridge.findings import DataPath
from landbridge.plan.args import Args, tags
from landbridge.plan.network.direct_connect import DirectConnectArgs, direct_connect_args

#: Keys of the connections of our own site: VPN over the internet, and Direct Connect. Other keys are names of sites.
OWN, LINE = "onprem", "line"
#: The same connections of the second gateway.
SECOND_OWN, SECOND_LINE = "onprem-2", "line-2"
#: Keys of the connections of each of our own gateways.
OWN_KEYS = ((LINE, OWN), (SECOND_LINE, SECOND_OWN))
TUNNELS_OF_A_CONNECTION = 2
_STRONGSWAN = {
    "AES256-GCM-16": "aes256gcm16",
    "AES256": "aes256",
    "SHA2-256": "sha256",
    "SHA2-384": "sha384",
    14: "modp2048",
    20: "ecp384",
}


class Cipher(Args):
    """Ciphers of both ends of a tunnel, by AWS's and by strongSwan's names."""

    encryption: str
    integrity: str
    dh_group: int

    @property
    def ike_proposal(self) -> str:
        """strongSwan's `proposals` (phase 1)."""
        integrity = _STRONGSWAN[self.integrity]
        # An authenticated cipher needs no integrity algorithm, only a function to derive keys.
        prf_or_integrity = f"prf{integrity}" if "GCM" in self.encryption else integrity
        return f"{_STRONGSWAN[self.encryption]}-{prf_or_integrity}-{_STRONGSWAN[self.dh_group]}"

    @property
    def esp_proposal(self) -> str:
        """strongSwan's `esp_proposals` (phase 2)."""
        integrity = "" if "GCM" in self.encryption else f"-{_STRONGSWAN[self.integrity]}"
        return f"{_STRONGSWAN[self.encryption]}{integrity}-{_STRONGSWAN[self.dh_group]}"


#: Cipher suite of CNSA; AWS supports it on every VPN endpoint since 2020.
KERNEL_CIPHER = Cipher(encryption="AES256-GCM-16", integrity="SHA2-384", dh_group=20)
#: Cipher suite that was tested with strongSwan's kernel-libipsec; AWS supports it too.
USERSPACE_CIPHER = Cipher(encryption="AES256", integrity="SHA2-256", dh_group=14)


class VpnArgs(Args):
    """VPN connection to one of our gateways. AWS chooses the outside addresses and pre-shared keys.

    `inside_cidrs` is None if AWS chooses them too; `private`: the VPN runs inside Direct Connect.
    """

    gateway_address: str
    asn: int
    inside_cidrs: tuple[str, str] | None
    bandwidth: str
    cipher: Cipher
    private: bool = False
    #: Certificate of the customer gateway; None: pre-shared keys.
    certificate_arn: str | None = None
    phase1_seconds: int = 28800
    phase2_seconds: int = 3600
    dpd_seconds: int = 30


class LogArgs(Args):
    """Log group of tunnels and their BGP sessions."""

    group: str
    retention_days: int


class LinkArgs(Args):
    """Transit gateway and its connections. `networks` has the range of each site, our own under `onprem`.

    `vpns` by connection: `onprem` over the internet, `line` inside Direct Connect, both with `-2` for a second gateway, and
    each further site by its name.
    """

    cluster: str
    aws_asn: int
    networks: dict[str, str]
    vpns: dict[str, VpnArgs]
    line: DirectConnectArgs | None = None
    private_cidr: str | None = None
    sites_meet: bool = False
    #: True if this transit gateway is peered with other regions.
    other_regions: bool = False
    logs: LogArgs | None = None
    tags: dict[str, str]


@dataclass(frozen=True, slots=True)
class Connection:
    """VPN connection of the environment, with its path in the file. `gateway`: position of its gateway in the site."""

    key: str
    path: DataPath
    tunnels: Tunnels
    asn: int
    over: Literal["internet", "line"] = "internet"
    gateway: int = 0

    @property
    def gateway_address(self) -> IPv4Address:
        """The address of its gateway, as AWS sees it."""
        return self.tunnels.gateway_addresses[self.gateway]

    @property
    def address_path(self) -> DataPath:
        """The path of this address in the file."""
        is_list = isinstance(self.tunnels.gateway_address, tuple)
        return (*self.path, "gateway_address", *((self.gateway,) if is_list else ()))

    @property
    def inside_cidrs(self) -> tuple[IPv4Network, IPv4Network] | None:
        """The ranges inside its tunnels; None if AWS chooses them."""
        first = self.gateway * TUNNELS_OF_A_CONNECTION
        ranges = (self.tunnels.inside_cidrs or ())[first : first + TUNNELS_OF_A_CONNECTION]
        return (ranges[0], ranges[1]) if len(ranges) == TUNNELS_OF_A_CONNECTION else None


def connections(environment: Environment) -> tuple[Connection, ...]:
    """Return the VPN connections: of our own site (inside Direct Connect, then over the internet), then of its
    second gateway, then of the other sites.
    """
    link, all_connections = environment.link, list[Connection]()
    if link is None:
        return ()
    if isinstance(link, VpnSettings):
        all_connections.append(Connection(OWN, ("link",), link, link.onprem_asn))
    else:
        if link.line_vpn is not None:
            all_connections.append(Connection(LINE, ("link", "line_vpn"), link.line_vpn, link.onprem_asn, "line"))
        if link.backup is not None:
            all_connections.append(Connection(OWN, ("link", "backup"), link.backup, link.onprem_asn))
    second_keys = dict(zip(*OWN_KEYS, strict=True))
    all_connections += [
        replace(connection, key=second_keys[connection.key], gateway=1)
        for connection in all_connections
        if len(connection.tunnels.gateway_addresses) > 1
    ]
    for name, site in link.sites.items():
        all_connections.append(Connection(name, ("link", "sites", name), site, site.asn))
    return tuple(all_connections)


def first_connections(environment: Environment) -> tuple[Connection, ...]:
    """Return the VPN connections without the connections of a second gateway, which have the same settings in the file."""
    return tuple(connection for connection in connections(environment) if connection.gateway == 0)


def ends_tunnels(environment: Environment) -> bool:
    """True if a tunnel ends at the environment's own site."""
    return any(connection.key in (OWN, LINE) for connection in connections(environment))


def cipher_of(tunnels: Tunnels) -> Cipher:
    """Return the ciphers of both ends: a gateway that encrypts in user space supports fewer algorithms."""
    return USERSPACE_CIPHER if tunnels.datapath == "userspace" else KERNEL_CIPHER


def link_args(environment: Environment) -> LinkArgs:
    """Plan the transit gateway and its connections. Raises ValueError for an environment without a site to link."""
    link, onprem = environment.link, environment.onprem
    if link is None or onprem is None:
        raise ValueError(f"{environment.name} has no site to link")
    direct_connect = direct_connect_args(environment, link) if isinstance(link, DirectConnectSettings) else None
    line_vpns = [
        connection.tunnels for connection in connections(environment) if isinstance(connection.tunnels, LineVpn)
    ]
    return LinkArgs(
        cluster=environment.name,
        aws_asn=link.aws_asn,
        networks={
            OWN: str(onprem.cidr),
            **{name: str(site.cidr) for name, site in link.sites.items()},
        },
        vpns={
            connection.key: _vpn(connection, None if link.certificate is None else link.certificate.arn)
            for connection in connections(environment)
        },
        line=direct_connect,
        private_cidr=str(line_vpns[0].cidr) if line_vpns else None,
        sites_meet=link.sites_meet,
        other_regions=bool(environment.aws.other_regions),
        logs=_logs(environment) if link.logs and connections(environment) else None,
        tags=tags(environment),
    )


def _vpn(connection: Connection, certificate_arn: str | None) -> VpnArgs:
    cidrs = connection.inside_cidrs
    return VpnArgs(
        gateway_address=str(connection.gateway_address),
        asn=connection.asn,
        inside_cidrs=None if cidrs is None else (str(cidrs[0]), str(cidrs[1])),
        bandwidth=connection.tunnels.bandwidth,
        cipher=cipher_of(connection.tunnels),
        private=connection.over == "line",
        certificate_arn=certificate_arn,
    )


def _logs(environment: Environment) -> LogArgs:
    """Return the log group. Its name has AWS's prefix, so that the resource policy of log delivery does not grow with
    each group.

    Source: CloudWatch Logs User Guide, "Enable logging from AWS services" (log group resource policy size).
    """
    return LogArgs(
        group=f"/aws/vendedlogs/landbridge/{environment.name}/vpn",
        retention_days=environment.aws.logs.retention_days,
    )
