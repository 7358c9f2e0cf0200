"""Rules about a leased line, and about a VPN inside it."""

from collections.abc import Iterator

from landbridge.catalog.aws.limits import limits
from landbridge.environment import DirectConnectSettings, Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.direct_connect import around, direct_connect_args, other_host
from landbridge.rules.registry import rule

_KIND: DataPath = ("link", "kind")


@rule
def direct_connect_asn(environment: Environment) -> Iterator[Finding]:
    """The line's gateway, the transit gateway behind it and our router have three AS numbers.

    AWS refuses to associate two gateways of one number, and its default for both is the same.
    Source: Direct Connect User Guide, "Create a transit virtual interface to the Direct Connect gateway".
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings):
        return
    for key, value in (("aws_asn", link.aws_asn), ("onprem_asn", link.onprem_asn)):
        if link.line_asn == value:
            message = f"{key} is {value} too"
            related: tuple[DataPath, ...] = (("link", key), _KIND)
            yield error(("link", "line_asn"), message, fix="such as 64513", related=related)


@rule
def direct_connect_vpn(environment: Environment) -> Iterator[Finding]:
    """Tunnels inside the line are there exactly where its encryption is to be theirs.

    Source: Site-to-Site VPN User Guide, "Private IP AWS Site-to-Site VPN with AWS Direct Connect".
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings):
        return
    path: DataPath = ("link", "encryption")
    if link.encryption == "vpn" and link.line_vpn is None:
        fix = "say where they end: line_vpn: {gateway_address: ...}"
        yield error(path, "the tunnels inside the line end nowhere", fix=fix, related=(("link", "line_vpn"),))
    if link.encryption != "vpn" and link.line_vpn is not None:
        message = f"encryption is {link.encryption}, and nothing uses these tunnels"
        fix = "use encryption: vpn, or take line_vpn out"
        yield error(("link", "line_vpn"), message, fix=fix, related=(path,))


@rule
def direct_connect_vpn_address(environment: Environment) -> Iterator[Finding]:
    """Inside the line our gateway is reached by its own private address, and AWS's ends have a whole range to themselves.

    Source: EC2 CreateCustomerGateway; EC2 API Reference, TransitGatewayRequestOptions: a /24 or larger.
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings) or link.line_vpn is None:
        return
    address, cidr, least = link.line_vpn.gateway_address, link.line_vpn.cidr, limits().direct_connect.private_range
    if not address.is_private or address.is_link_local:
        message = f"{address} is no private address; inside the line nothing else is routed"
        at: DataPath = ("link", "line_vpn", "gateway_address")
        yield error(at, message, fix="put the gateway's address in the site")
    if cidr.prefixlen > least or cidr.overlaps(limits().vpn.inside_range):
        message = f"{cidr} cannot be a transit gateway's range: a /{least} or larger, and not link-local"
        yield error(("link", "line_vpn", "cidr"), message, fix="such as 100.127.254.0/24")


@rule
def macsec_port(environment: Environment) -> Iterator[Finding]:
    """MACsec is there on dedicated connections of 10 Gbit/s and more: a smaller line is encrypted by a VPN inside it.

    Source: Direct Connect User Guide, "MAC Security in Direct Connect".
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings) or link.encryption != "macsec" or link.port is None:
        return
    known = limits().direct_connect.macsec_ports
    if link.port not in known:
        message = f"a port of {link.port} has no MACsec; {', '.join(known)} have"
        related: tuple[DataPath, ...] = (("link", "port"), _KIND)
        yield error(("link", "encryption"), message, fix="use encryption: vpn", related=related)


@rule
def direct_connect_without_backup(environment: Environment) -> Iterator[Finding]:
    """A single line has a backup: AWS maintains its routers, and a digger finds the fibre.

    Source: Direct Connect Resiliency Recommendations; Direct Connect User Guide, "Backup VPN connection".
    """
    link = environment.link
    if isinstance(link, DirectConnectSettings) and link.backup is None:
        message = "nothing carries while the line does not: running jobs in AWS lose their controller"
        fix = "add a VPN over the internet: backup: {gateway_address: ...}"
        yield warning(_KIND, message, fix=fix, related=(("link", "backup"),))


@rule
def direct_connect_backup_datapath(environment: Environment) -> Iterator[Finding]:
    """The tunnels in the line and those beside it end on one gateway, which encrypts both in one way.

    Source: landbridge/plan/site/gateway.py, which configures them; strongSwan, kernel-libipsec: one tunnel.
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings) or link.backup is None or link.line_vpn is None:
        return
    if "userspace" in (link.backup.datapath, link.line_vpn.datapath):
        message = "the userspace datapath carries one tunnel: the backup would never be up"
        related: tuple[DataPath, ...] = (("link", "line_vpn", "datapath"), ("link", "backup", "datapath"))
        at: DataPath = ("link", "backup")
        yield error(at, message, fix="use datapath: kernel for both", related=related)


@rule
def direct_connect_prefixes(environment: Environment) -> Iterator[Finding]:
    """What AWS tells our router on the line fits into the list of allowed prefixes.

    Source: Direct Connect User Guide, "Quotas".
    """
    link, most = environment.link, limits().direct_connect.allowed_prefixes
    if isinstance(link, DirectConnectSettings) and len(direct_connect_args(environment, link).allowed_prefixes) > most:
        message = (
            f"{len(direct_connect_args(environment, link).allowed_prefixes)} prefixes on one line; AWS tells {most}"
        )
        related: tuple[DataPath, ...] = (("link", "sites"), ("aws", "secondary_cidrs"))
        yield error(("link", "sites_meet"), message, fix="let sites stay apart", related=related)


@rule
def direct_connect_peer_addresses(environment: Environment) -> Iterator[Finding]:
    """The two routers of a leased line have two addresses of one /30 or /31, and neither is its network's own.

    Source: Direct Connect User Guide, "Prerequisites for virtual interfaces": peer IP addresses.
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings) or link.aws_address is None:
        return
    path: DataPath = ("link", "aws_address")
    ours, theirs = link.gateway_address, link.aws_address
    related: tuple[DataPath, ...] = (("link", "gateway_address"), _KIND)
    if ours == theirs:
        yield error(path, f"both routers have the address {ours}", related=related)
    elif theirs not in around(ours, 30) and theirs not in around(ours, 31):
        message = f"{theirs} and {ours} are in no common /30"
        yield error(path, message, fix=f"such as {other_host(ours)}", related=related)
    elif theirs not in around(ours, 31):
        whole = around(ours, 30)
        if whole.network_address in (ours, theirs) or whole.broadcast_address in (ours, theirs):
            message = f"{ours} and {theirs} are not the two hosts of {whole}"
            yield error(path, message, related=related)


@rule
def direct_connect_unencrypted(environment: Environment) -> Iterator[Finding]:
    """A leased line is clear text by itself: data of a regime that wants encryption in transit does not cross it so.

    Source: Direct Connect User Guide, "MACsec"; NIST SP 800-53 SC-8.
    """
    link = environment.link
    if not isinstance(link, DirectConnectSettings) or link.encryption != "none":
        return
    regulated = [name for name, one in environment.data_classes.items() if one.regime and "aws" in one.sites]
    path: DataPath = ("link", "encryption")
    related: tuple[DataPath, ...] = (("data_classes",), _KIND)
    if regulated:
        message = f"the line is not encrypted, and data of class {regulated[0]} crosses it"
        yield error(path, message, fix="use encryption: macsec, or vpn with line_vpn", related=related)
    else:
        message = "the line is not encrypted: munge's credentials and NFS cross it as they are"
        fix = "use encryption: macsec, or vpn with line_vpn"
        yield warning(path, message, fix=fix, related=related)
