"""Checks of an organisation's VPC: its owner, its name servers, its network ACLs, and the routes to the site that it has
already.
"""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from landbridge.environment import Efs, EfsHome, ExistingEfs, ExistingVpc
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning
from landbridge.plan.network.endpoints import endpoint_services
from landbridge.plan.slurm_ports import SLURMCTLD_PORT, SLURMD_PORT

VPC: DataPath = ("aws", "vpc")


@check("owner of the VPC", "ec2:DescribeVpcs")
def vpc_owner(scene: Scene) -> Iterator[Finding]:
    """The account owns the VPC, if Landbridge creates something in it that only its owner may create.

    An account with shared subnets may launch instances and create security groups. EC2 refuses it endpoints, routes,
    attachments of a transit gateway and flow logs of the VPC, so that `up` would stop in the middle.
    Source: VPC User Guide, "Responsibilities and permissions for owners and participants".
    """
    existing, environment = scene.environment.aws.vpc, scene.environment
    if existing is None or scene.account is None:
        return
    owner = str(scene.aws.ask("ec2", "describe_vpcs", VpcIds=[existing.id])["Vpcs"][0].get("OwnerId", scene.account))
    if owner == scene.account:
        return
    created: list[tuple[str, DataPath]] = []
    if environment.link is not None and environment.onprem is not None:
        created.append(("the link's attachment and routes", ("link",)))
    if endpoint_services(environment):
        created.append(("VPC endpoints", ("aws", "vpc_endpoints")))
    if environment.aws.logs.flow_logs:
        created.append(("its flow logs", ("aws", "logs", "flow_logs")))
    for words, path in created:
        message = f"{existing.id} is a VPC of account {owner}, and only its owner may create {words}"
        yield error("live-vpc-owner", message, path, "run Landbridge in the owner's account, or use a VPC of your own")


@check("name servers of the VPC", "ec2:DescribeVpcs", "ec2:DescribeDhcpOptions")
def vpc_names(scene: Scene) -> Iterator[Finding]:
    """The DHCP options of the VPC name Amazon's resolver.

    Other name servers do not know private names of endpoints and file systems, and those of the site are away when the link is.
    An environment whose nodes need such names names the forwarders to AWS in `dns`.
    Source: VPC User Guide, "DHCP option sets in Amazon VPC".
    """
    existing = scene.environment.aws.vpc
    if existing is None:
        return
    for vpc in scene.aws.ask("ec2", "describe_vpcs", VpcIds=[existing.id])["Vpcs"]:
        # By filter: a VPC without options has the id "default", which EC2 does not know.
        filters = [{"Name": "dhcp-options-id", "Values": [vpc.get("DhcpOptionsId", "default")]}]
        for answer in scene.aws.ask("ec2", "describe_dhcp_options", Filters=filters)["DhcpOptions"]:
            servers = [
                value["Value"]
                for entry in answer["DhcpConfigurations"]
                if entry["Key"] == "domain-name-servers"
                for value in entry["Values"]
            ]
            if servers and "AmazonProvidedDNS" not in servers:
                message = f"nodes in {existing.id} ask the name servers {', '.join(servers)}, not Amazon's"
                fix = (
                    "forward the names of AWS there to the VPC's resolver, or set AmazonProvidedDNS in the DHCP options"
                )
                needs_names = scene.environment.dns is None and _has_private_names(scene)
                yield (error if needs_names else warning)("live-vpc-names", message, (*VPC, "id"), fix)


@check("network ACLs of the subnets", "ec2:DescribeNetworkAcls")
def network_acl(scene: Scene) -> Iterator[Finding]:
    """No network ACL denies the traffic between the nodes, and between them and the site.

    Tunnels and BGP are up then, and no node registers: it boots, is billed, and is terminated after resume_timeout.
    Tried are the ports of Slurm, and the first and last port of Linux for the answers.
    Source: VPC User Guide, "Network ACLs" (the first rule that matches decides; the last one denies).
    """
    existing = scene.environment.aws.vpc
    if existing is None:
        return
    peers = {str(scene.environment.aws.cidr): "the VPC", **dict.fromkeys(_site_ranges(scene), "the site")}
    for zone, subnet in existing.subnets.items():
        filters = [{"Name": "association.subnet-id", "Values": [subnet.id]}]
        for acl in scene.aws.all("ec2", "describe_network_acls", "NetworkAcls", Filters=filters):
            for cidr, words in peers.items():
                denied = [
                    f"{'to' if egress else 'from'} port {port}"
                    for egress in (True, False)
                    for port in _PORTS
                    if _denies(acl["Entries"], egress, IPv4Network(cidr), port)
                ]
                if denied:
                    message = f"{acl['NetworkAclId']} of {subnet.id} denies traffic with {words} ({cidr}): {', '.join(denied)}"
                    fix = "allow tcp with this range in both directions before the rules that deny"
                    yield error("live-network-acl", message, (*VPC, "subnets", zone), fix)


@check("routes to the site", "ec2:DescribeRouteTables", "ec2:DescribeTransitGateways")
def site_route(scene: Scene) -> Iterator[Finding]:
    """No named route table has a route of its own to a range of the sites: `up` stops with RouteAlreadyExists for the same
    range.

    A narrower route takes its part of the site's traffic away from the link; from a wider one the link's route takes the
    site's, for all that use the table.
    Source: EC2 API reference, CreateRoute; VPC User Guide, "Route priority" (the longest prefix).
    """
    existing = scene.environment.aws.vpc
    if existing is None:
        return
    sites = [IPv4Network(cidr) for cidr in _site_ranges(scene)]
    for zone, table in _named_tables(existing):
        for answer in scene.aws.ask("ec2", "describe_route_tables", RouteTableIds=[table])["RouteTables"]:
            for route in answer.get("Routes") or ():
                cidr = IPv4Network(route.get("DestinationCidrBlock") or "0.0.0.0/0")
                site = next((site for site in sites if cidr.prefixlen and site.overlaps(cidr)), None)
                if site is None or route.get("GatewayId") == "local" or _is_own(scene, route):
                    continue
                target = route.get("TransitGatewayId") or route.get("GatewayId") or "another target"
                path: DataPath = (*VPC, "subnets", zone, "route_table")
                message = f"{table} has a route to {cidr} already, through {target}"
                if cidr == site:
                    yield error("live-site-route", message, path)
                elif cidr.subnet_of(site):
                    yield warning("live-site-route", f"{message}, which the link would not carry", path)
                else:
                    yield warning("live-site-route", f"{message}: the link would carry {site} instead", path)


#: slurmctld and slurmd, and the first and last ephemeral port of Linux (Documentation/networking/ip-sysctl.rst).
_PORTS = (SLURMCTLD_PORT, SLURMD_PORT, 32768, 60999)
_TCP_OR_ALL = ("6", "-1")


def _denies(entries: Any, egress: bool, peer: IPv4Network, port: int) -> bool:
    """Return whether the rules of a network ACL deny tcp with a part of a range at a port."""
    for entry in sorted(entries, key=lambda entry: int(entry["RuleNumber"])):
        ports = entry.get("PortRange") or {"From": 0, "To": 65535}
        block = IPv4Network(entry.get("CidrBlock") or "0.0.0.0/32")
        if (
            entry["Egress"] is not egress
            or str(entry["Protocol"]) not in _TCP_OR_ALL
            or not ports["From"] <= port <= ports["To"]
            or not block.overlaps(peer)
        ):
            continue
        if entry["RuleAction"] == "deny":
            return True
        if peer.subnet_of(block):
            return False
    return True


def _site_ranges(scene: Scene) -> list[str]:
    """Return the ranges to which the link adds routes: of our own site, and of the others."""
    link, onprem = scene.environment.link, scene.environment.onprem
    if link is None or onprem is None:
        return []
    return [str(onprem.cidr), *(str(site.cidr) for site in link.sites.values())]


def _has_private_names(scene: Scene) -> bool:
    """Return whether nodes need names that Amazon's resolver alone knows: of interface endpoints, or of EFS."""
    shares = scene.environment.storage.in_aws().values()
    uses_efs = any(isinstance(share, Efs | EfsHome | ExistingEfs) for share in shares)
    return uses_efs or any(service.kind == "interface" for service in endpoint_services(scene.environment))


def _is_own(scene: Scene, route: Mapping[str, Any]) -> bool:
    gateway = route.get("TransitGatewayId")
    if gateway is None:
        return False
    described = scene.aws.ask("ec2", "describe_transit_gateways", TransitGatewayIds=[gateway])["TransitGateways"]
    return any(scene.is_mine(entry.get("Tags")) for entry in described)


def _named_tables(existing: ExistingVpc) -> Iterator[tuple[str, str]]:
    for zone, subnet in existing.subnets.items():
        if subnet.route_table is not None:
            yield zone, subnet.route_table
