"""Checks of an organisation's VPC: its name servers, and the routes to the site that it has already."""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from landbridge.environment import ExistingVpc
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning

VPC: DataPath = ("aws", "vpc")


@check("name servers of the VPC", "ec2:DescribeVpcs", "ec2:DescribeDhcpOptions")
def vpc_names(scene: Scene) -> Iterator[Finding]:
    """The DHCP options of the VPC name Amazon's resolver.

    Other name servers do not know private names of endpoints and file systems, and those of the site are away when the link is.
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
                yield warning("live-vpc-names", message, (*VPC, "id"), fix)


@check("routes to the site", "ec2:DescribeRouteTables", "ec2:DescribeTransitGateways")
def site_route(scene: Scene) -> Iterator[Finding]:
    """No named route table has a route to the site's range already: `up` would stop with RouteAlreadyExists.

    Source: EC2 API reference, CreateRoute.
    """
    existing, site = scene.environment.aws.vpc, scene.environment.onprem
    if existing is None or site is None or scene.environment.link is None:
        return
    for zone, table in _named_tables(existing):
        for answer in scene.aws.ask("ec2", "describe_route_tables", RouteTableIds=[table])["RouteTables"]:
            for route in answer.get("Routes") or ():
                cidr = route.get("DestinationCidrBlock")
                if cidr is not None and IPv4Network(cidr) == site.cidr and not _is_own(scene, route):
                    target = route.get("TransitGatewayId") or route.get("GatewayId") or "another target"
                    path: DataPath = (*VPC, "subnets", zone, "route_table")
                    yield error("live-site-route", f"{table} has a route to {cidr} already, through {target}", path)


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
