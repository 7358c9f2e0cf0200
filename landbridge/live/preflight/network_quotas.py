"""Checks of the account's quotas for the network that `up` builds."""

from collections import Counter
from collections.abc import Iterator

from landbridge.catalog import limits
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.quotas import ASK, quota_value
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error
from landbridge.plan.instances.network_interfaces import pool_interfaces
from landbridge.plan.network.endpoints import endpoint_services
from landbridge.plan.network.link import connections
from landbridge.plan.network.subnets import nat_zones, used_zones

_ENDED = ("deleted", "deleting")


@check("quota of VPCs", *ASK, "ec2:DescribeVpcs")
def vpc_quota(scene: Scene) -> Iterator[Finding]:
    """The quota permits one more VPC, if Landbridge creates one.

    The default quota is five VPCs.
    Source: VPC User Guide, "Amazon VPC quotas".
    """
    if scene.environment.aws.vpc is not None:
        return
    vpcs = scene.aws.all("ec2", "describe_vpcs", "Vpcs")
    if not any(scene.is_mine(vpc.get("Tags")) for vpc in vpcs):
        yield from _quota_finding(
            scene, "live-vpc-quota", "vpc", 1, len(vpcs), ("aws", "cidr"), "write an existing VPC under aws.vpc"
        )


@check("quota of addresses for NAT", *ASK, "ec2:DescribeAddresses")
def address_quota(scene: Scene) -> Iterator[Finding]:
    """The quota permits the elastic IP addresses of the NAT gateways.

    Each gateway has one; the default quota is five in a region.
    Source: VPC User Guide, "Amazon VPC quotas", Elastic IP addresses.
    """
    needed = len(nat_zones(scene.environment, used_zones(scene.environment)))
    if needed:
        addresses = scene.aws.ask("ec2", "describe_addresses")["Addresses"]
        used = sum(not scene.is_mine(address.get("Tags")) for address in addresses)
        yield from _quota_finding(
            scene, "live-address-quota", "address", needed, used, ("aws", "nat"), "nat: single needs one"
        )


@check("quota of NAT gateways", *ASK, "ec2:DescribeNatGateways", "ec2:DescribeSubnets")
def gateway_quota(scene: Scene) -> Iterator[Finding]:
    """The quota permits a NAT gateway in each zone that gets one.

    Source: VPC User Guide, "Amazon VPC quotas", gateways.
    """
    zones = nat_zones(scene.environment, used_zones(scene.environment))
    if not zones:
        return
    gateways = scene.aws.all("ec2", "describe_nat_gateways", "NatGateways")
    zone_by_subnet = {
        subnet["SubnetId"]: subnet["AvailabilityZoneId"]
        for subnet in scene.aws.all("ec2", "describe_subnets", "Subnets")
    }
    alive = [
        gateway
        for gateway in gateways
        if gateway["State"] in ("pending", "available") and not scene.is_mine(gateway.get("Tags"))
    ]
    used = Counter(zone_by_subnet.get(gateway.get("SubnetId", "")) for gateway in alive)
    for zone in zones:
        yield from _quota_finding(
            scene,
            "live-gateway-quota",
            "gateway",
            1,
            used[zone],
            ("aws", "nat"),
            f"nat: single, in a zone other than {zone}",
        )


@check("quota of network interfaces", *ASK, "ec2:DescribeNetworkInterfaces")
def interface_quota(scene: Scene) -> Iterator[Finding]:
    """The region's quota permits the network interfaces of all nodes.

    A p5.48xlarge has 33 interfaces: about 150 instances reach the default of 5000.
    Source: VPC User Guide, "Amazon VPC quotas", network interfaces.
    """
    by_pool: dict[str, int] = {}
    for bought in scene.bought():
        count = len(pool_interfaces(bought.pool, bought.terms.instance)) * bought.pool.max_nodes
        by_pool[bought.pool.name] = max(count, by_pool.get(bought.pool.name, 0))
    if by_pool:
        interfaces = scene.aws.all("ec2", "describe_network_interfaces", "NetworkInterfaces")
        used = sum(not scene.is_mine(interface.get("TagSet")) for interface in interfaces)
        largest = max(by_pool, key=lambda name: by_pool[name])
        index = [pool.name for pool in scene.environment.aws.pools].index(largest)
        path: DataPath = ("aws", "pools", index, "max_nodes")
        yield from _quota_finding(
            scene, "live-interface-quota", "interface", sum(by_pool.values()), used, path, "fewer max_nodes"
        )


@check(
    "quotas of the link",
    *ASK,
    "ec2:DescribeTransitGateways",
    "ec2:DescribeCustomerGateways",
    "ec2:DescribeVpnConnections",
)
def link_quota(scene: Scene) -> Iterator[Finding]:
    """The quotas permit the link: a transit gateway, and a customer gateway and a VPN connection for each connection.

    The default quota is five transit gateways in an account.
    Source: Transit Gateway User Guide and Site-to-Site VPN User Guide, "Quotas".
    """
    resource_kinds = [("transit_gateway", "describe_transit_gateways", "TransitGateways", 1)]
    vpns = len(connections(scene.environment))
    if vpns:
        resource_kinds += [
            ("customer_gateway", "describe_customer_gateways", "CustomerGateways", vpns),
            ("vpn_connection", "describe_vpn_connections", "VpnConnections", vpns),
        ]
    for unit, operation, key, needed in resource_kinds:
        existing = [
            resource for resource in scene.aws.ask("ec2", operation)[key] if resource.get("State") not in _ENDED
        ]
        missing = needed - sum(scene.is_mine(resource.get("Tags")) for resource in existing)
        if missing > 0:
            fix = "remove an unused one"
            yield from _quota_finding(scene, "live-link-quota", unit, missing, len(existing), ("link",), fix)


@check("quota of endpoints", *ASK, "ec2:DescribeVpcEndpoints")
def endpoint_quota(scene: Scene) -> Iterator[Finding]:
    """The quota of the VPC permits the interface endpoints that the environment needs.

    Source: VPC User Guide (AWS PrivateLink), "Quotas".
    """
    needed = sum(endpoint_service.kind == "interface" for endpoint_service in endpoint_services(scene.environment))
    if not needed:
        return
    used, existing = 0, scene.environment.aws.vpc
    if existing is not None:
        filters = [{"Name": "vpc-id", "Values": [existing.id]}]
        endpoints = scene.aws.all("ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=filters)
        used = sum(
            endpoint.get("VpcEndpointType") == "Interface" and not scene.is_mine(endpoint.get("Tags"))
            for endpoint in endpoints
        )
    path: DataPath = ("aws", "vpc_endpoints")
    yield from _quota_finding(
        scene, "live-endpoint-quota", "interface_endpoint", needed, used, path, "vpc_endpoints: gateway"
    )


def _quota_finding(
    scene: Scene, rule: str, unit: str, needed: int, used: int, path: DataPath, alternative: str
) -> Iterator[Finding]:
    row = next((row for row in limits().quotas.rows if row.unit == unit), None)
    limit = quota_value(scene, row.service, row.code) if row is not None else None
    if row is not None and limit is not None and needed + used > limit:
        message = f"{row.name}: {needed} more are needed besides {used}, and the quota is {limit:.0f}"
        fix = (
            f"aws service-quotas request-service-quota-increase --service-code {row.service} --quota-code {row.code} "
            f"--desired-value {needed + used}; or {alternative}"
        )
        yield error(rule, message, path, fix)
