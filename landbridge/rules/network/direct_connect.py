"""Rules about Direct Connect, and about a VPN inside it."""

from collections.abc import Iterator

from landbridge.catalog.aws.limits import limits
from landbridge.environment import DirectConnectSettings, Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.direct_connect import direct_connect_args, network_of, other_host
from landbridge.plan.network.link import connections
from landbridge.rules.registry import rule

_KIND: DataPath = ("link", "kind")


@rule
def direct_connect_asn(environment: Environment) -> Iterator[Finding]:
    """The Direct Connect gateway, the transit gateway and the on-prem router have different AS numbers.

    AWS refuses to associate two gateways with the same number, and its default for both is the same.
    Source: Direct Connect User Guide, "Create a transit virtual interface to the Direct Connect gateway".
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings):
        return
    for key, value in (("aws_asn", link.aws_asn), ("onprem_asn", link.onprem_asn)):
        if link.line_asn == value:
            message = f"line_asn {value} is also the number of {key}"
            related: tuple[DataPath, ...] = (("link", key), _KIND)
            yield error(
                ("link", "line_asn"), message, fix="write another private number, such as 64513", related=related
            )


@rule
def direct_connect_vpn(environment: Environment) -> Iterator[Finding]:
    """line_vpn is written if encryption is vpn, and only then.

    Source: Site-to-Site VPN User Guide, "Private IP AWS Site-to-Site VPN with AWS Direct Connect".
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings):
        return
    path: DataPath = ("link", "encryption")
    if link.encryption == "vpn" and link.line_vpn is None:
        fix = "write line_vpn: {gateway_address: ...}"
        yield error(path, "encryption is vpn, and line_vpn is missing", fix=fix, related=(("link", "line_vpn"),))
    if link.encryption != "vpn" and link.line_vpn is not None:
        message = f"line_vpn has no effect with encryption: {link.encryption}"
        fix = "use encryption: vpn, or remove line_vpn"
        yield error(("link", "line_vpn"), message, fix=fix, related=(path,))


@rule
def direct_connect_vpn_address(environment: Environment) -> Iterator[Finding]:
    """line_vpn has a private gateway address, and a separate range for AWS's tunnel endpoints.

    Source: EC2 CreateCustomerGateway; EC2 API Reference, TransitGatewayRequestOptions: a /24 or larger.
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings) or link.line_vpn is None:
        return
    cidr, max_prefix = link.line_vpn.cidr, limits().direct_connect.private_range
    for connection in connections(environment):
        address = connection.gateway_address
        if connection.over == "line" and (not address.is_private or address.is_link_local):
            message = f"{address} is not a private address: others are not routed inside Direct Connect"
            yield error(connection.address_path, message, fix="write the gateway's address in the site")
    if cidr.prefixlen > max_prefix or cidr.overlaps(limits().vpn.inside_range):
        message = f"{cidr} is not allowed for a transit gateway: it needs a /{max_prefix} or larger, not link-local"
        yield error(("link", "line_vpn", "cidr"), message, fix="write a range such as 100.127.254.0/24")


@rule
def macsec_port(environment: Environment) -> Iterator[Finding]:
    """MACsec needs a dedicated connection of 10 Gbit/s or more.

    Source: Direct Connect User Guide, "MAC Security in Direct Connect".
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings) or link.encryption != "macsec" or link.port is None:
        return
    port_speeds = limits().direct_connect.macsec_ports
    if link.port not in port_speeds:
        message = f"a port of {link.port} does not support MACsec; {', '.join(port_speeds)} do"
        related: tuple[DataPath, ...] = (("link", "port"), _KIND)
        yield error(("link", "encryption"), message, fix="use encryption: vpn", related=related)


@rule
def direct_connect_without_backup(environment: Environment) -> Iterator[Finding]:
    """A Direct Connect connection has a backup VPN: routers are maintained and fibres are cut.

    Source: Direct Connect Resiliency Recommendations; Direct Connect User Guide, "Backup VPN connection".
    """
    link = environment.link
    if isinstance(link, DirectConnectSettings) and link.backup is None:
        message = "Direct Connect has no backup: during an outage, jobs in AWS lose their controller"
        fix = "add a VPN over the internet: backup: {gateway_address: ...}"
        yield warning(_KIND, message, fix=fix, related=(("link", "backup"),))


@rule
def direct_connect_backup_datapath(environment: Environment) -> Iterator[Finding]:
    """The backup VPN and the VPN inside Direct Connect use the kernel datapath: userspace supports one tunnel only.

    Source: landbridge/plan/site/link/gateway.py, which configures them; strongSwan, kernel-libipsec: one tunnel.
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings) or link.backup is None or link.line_vpn is None:
        return
    if "userspace" in (link.backup.datapath, link.line_vpn.datapath):
        message = "the userspace datapath carries one tunnel, so the backup never comes up"
        related: tuple[DataPath, ...] = (("link", "line_vpn", "datapath"), ("link", "backup", "datapath"))
        at: DataPath = ("link", "backup")
        yield error(at, message, fix="use datapath: kernel for both", related=related)


@rule
def direct_connect_prefixes(environment: Environment) -> Iterator[Finding]:
    """The number of allowed prefixes of the Direct Connect gateway is within its quota.

    Source: Direct Connect User Guide, "Quotas".
    """
    link, max_prefixes = environment.link, limits().direct_connect.allowed_prefixes
    if (
        isinstance(link, DirectConnectSettings)
        and len(direct_connect_args(environment, link).allowed_prefixes) > max_prefixes
    ):
        message = f"{len(direct_connect_args(environment, link).allowed_prefixes)} allowed prefixes; Direct Connect allows {max_prefixes}"
        related: tuple[DataPath, ...] = (("link", "sites"), ("aws", "secondary_cidrs"))
        yield error(("link", "sites_meet"), message, fix="remove sites_meet", related=related)


@rule
def direct_connect_peer_addresses(environment: Environment) -> Iterator[Finding]:
    """The two BGP peer addresses are the two hosts of one /30 or /31.

    Source: Direct Connect User Guide, "Prerequisites for virtual interfaces": peer IP addresses.
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings) or link.aws_address is None:
        return
    path: DataPath = ("link", "aws_address")
    gateway_address, aws_address = link.gateway_address, link.aws_address
    related: tuple[DataPath, ...] = (("link", "gateway_address"), _KIND)
    if gateway_address == aws_address:
        yield error(path, f"both routers have the address {gateway_address}", related=related)
    elif aws_address not in network_of(gateway_address, 30) and aws_address not in network_of(gateway_address, 31):
        message = f"{aws_address} and {gateway_address} are not in one /30"
        yield error(path, message, fix=f"write {other_host(gateway_address)}", related=related)
    elif aws_address not in network_of(gateway_address, 31):
        block = network_of(gateway_address, 30)
        if block.network_address in (gateway_address, aws_address) or block.broadcast_address in (
            gateway_address,
            aws_address,
        ):
            message = f"{gateway_address} and {aws_address} are not the two hosts of {block}"
            yield error(path, message, related=related)


@rule
def direct_connect_unencrypted(environment: Environment) -> Iterator[Finding]:
    """A Direct Connect connection is encrypted: regulated data needs encryption in transit.

    Source: Direct Connect User Guide, "MACsec"; NIST SP 800-53 SC-8.
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings) or link.encryption != "none":
        return
    regulated = [
        name for name, data_class in environment.data_classes.items() if data_class.regime and "aws" in data_class.sites
    ]
    path: DataPath = ("link", "encryption")
    related: tuple[DataPath, ...] = (("data_classes",), _KIND)
    if regulated:
        message = f"Direct Connect is not encrypted, and carries data of class {regulated[0]}"
        yield error(path, message, fix="use encryption: macsec, or vpn with line_vpn", related=related)
    else:
        message = "Direct Connect is not encrypted: munge credentials and NFS are sent in clear text"
        fix = "use encryption: macsec, or vpn with line_vpn"
        yield warning(path, message, fix=fix, related=related)
