"""The link between the sites: VPN connections on a transit gateway, each two tunnels with BGP, and a leased line."""

from dataclasses import dataclass
from typing import Literal

from landbridge.environment import DirectConnectSettings, Environment, VpnSettings
from landbridge.environment.link import LineVpn, Tunnels
from landbridge.findings import DataPath
from landbridge.plan.args import Args, tags
from landbridge.plan.network.direct_connect import DirectConnectArgs, direct_connect_args

#: The keys of our own site's ways; every other one is a site's name.
OWN, LINE = "onprem", "line"
_STRONGSWAN = {
    "AES256-GCM-16": "aes256gcm16",
    "AES256": "aes256",
    "SHA2-256": "sha256",
    "SHA2-384": "sha384",
    14: "modp2048",
    20: "ecp384",
}


class Cipher(Args):
    """Ciphers of both ends of a tunnel, in AWS's words and in strongSwan's."""

    encryption: str
    integrity: str
    dh_group: int

    @property
    def ike_proposal(self) -> str:
        """strongSwan's `proposals` (phase 1)."""
        integrity = _STRONGSWAN[self.integrity]
        # An authenticated cipher needs no integrity algorithm, only a function to derive keys.
        middle = f"prf{integrity}" if "GCM" in self.encryption else integrity
        return f"{_STRONGSWAN[self.encryption]}-{middle}-{_STRONGSWAN[self.dh_group]}"

    @property
    def esp_proposal(self) -> str:
        """strongSwan's `esp_proposals` (phase 2)."""
        middle = "" if "GCM" in self.encryption else f"-{_STRONGSWAN[self.integrity]}"
        return f"{_STRONGSWAN[self.encryption]}{middle}-{_STRONGSWAN[self.dh_group]}"


#: CNSA's suite; AWS has offered it on every VPN endpoint since 2020.
KERNEL_CIPHER = Cipher(encryption="AES256-GCM-16", integrity="SHA2-384", dh_group=20)
#: What strongSwan's kernel-libipsec has been run with; AWS offers it too.
USERSPACE_CIPHER = Cipher(encryption="AES256", integrity="SHA2-256", dh_group=14)


class VpnArgs(Args):
    """One connection to one gateway of ours. Outside addresses and pre-shared keys are AWS's to choose.

    `inside_cidrs` is None where AWS chooses those too; `private`: it runs inside the leased line.
    """

    gateway_address: str
    asn: int
    inside_cidrs: tuple[str, str] | None
    bandwidth: str
    cipher: Cipher
    private: bool = False
    phase1_seconds: int = 28800
    phase2_seconds: int = 3600
    dpd_seconds: int = 30


class LogArgs(Args):
    """Log group of tunnels and their BGP sessions."""

    group: str
    retention_days: int


class LinkArgs(Args):
    """A transit gateway and every way to it. `networks` has the ranges behind each site, ours under `onprem`.

    `vpns` by way: `onprem` over the internet, `line` inside the leased line, and each further site by its name.
    """

    cluster: str
    aws_asn: int
    networks: dict[str, str]
    vpns: dict[str, VpnArgs]
    line: DirectConnectArgs | None = None
    private_cidr: str | None = None
    sites_meet: bool = False
    #: Whether other regions are reached through this transit gateway.
    other_regions: bool = False
    logs: LogArgs | None = None
    tags: dict[str, str]


@dataclass(frozen=True, slots=True)
class Connection:
    """A VPN connection as the environment has it, and where."""

    key: str
    path: DataPath
    tunnels: Tunnels
    asn: int
    over: Literal["internet", "line"] = "internet"


def connections(environment: Environment) -> tuple[Connection, ...]:
    """Every VPN connection: our own site's (inside the line before the one over the internet), then the other sites'."""
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
    for name, site in link.sites.items():
        all_connections.append(Connection(name, ("link", "sites", name), site, site.asn))
    return tuple(all_connections)


def ends_tunnels(environment: Environment) -> bool:
    """Return whether a tunnel ends at the environment's own site."""
    return any(connection.key in (OWN, LINE) for connection in connections(environment))


def cipher_of(tunnels: Tunnels) -> Cipher:
    """Return what both ends use: a gateway that encrypts in user space has fewer algorithms."""
    return USERSPACE_CIPHER if tunnels.datapath == "userspace" else KERNEL_CIPHER


def link_args(environment: Environment) -> LinkArgs:
    """Plan the transit gateway and every way to it. Raises ValueError for an environment without a site to link."""
    link, onprem = environment.link, environment.onprem
    if link is None or onprem is None:
        raise ValueError(f"{environment.name} has no site to link")
    line = direct_connect_args(environment, link) if isinstance(link, DirectConnectSettings) else None
    inside = [connection.tunnels for connection in connections(environment) if isinstance(connection.tunnels, LineVpn)]
    return LinkArgs(
        cluster=environment.name,
        aws_asn=link.aws_asn,
        networks={
            OWN: str(onprem.cidr),
            **{name: str(site.cidr) for name, site in link.sites.items()},
        },
        vpns={connection.key: _vpn(connection) for connection in connections(environment)},
        line=line,
        private_cidr=str(inside[0].cidr) if inside else None,
        sites_meet=link.sites_meet,
        other_regions=bool(environment.aws.other_regions),
        logs=_logs(environment) if link.logs and connections(environment) else None,
        tags=tags(environment),
    )


def _vpn(connection: Connection) -> VpnArgs:
    cidrs = connection.tunnels.inside_cidrs
    return VpnArgs(
        gateway_address=str(connection.tunnels.gateway_address),
        asn=connection.asn,
        inside_cidrs=None if cidrs is None else (str(cidrs[0]), str(cidrs[1])),
        bandwidth=connection.tunnels.bandwidth,
        cipher=cipher_of(connection.tunnels),
        private=connection.over == "line",
    )


def _logs(environment: Environment) -> LogArgs:
    """The group's name begins as AWS's own do: then its delivery's policy does not grow with each group.

    Source: CloudWatch Logs User Guide, "Enable logging from AWS services" (log group resource policy size).
    """
    return LogArgs(
        group=f"/aws/vendedlogs/landbridge/{environment.name}/vpn",
        retention_days=environment.aws.logs.retention_days,
    )
