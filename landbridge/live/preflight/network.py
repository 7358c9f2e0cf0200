"""Checks of an existing VPC: its settings match the file, and it has free addresses."""

from collections.abc import Iterator
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.environment import ExistingVpc
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, info, warning
from landbridge.plan.instances.network_interfaces import pool_interfaces
from landbridge.plan.network.addresses import ip_budget
from landbridge.plan.network.endpoints import endpoint_services, needed
from landbridge.plan.network.subnets import used_zones

VPC: DataPath = ("aws", "vpc")


def subnets(scene: Scene, vpc: ExistingVpc) -> dict[str, Any]:
    """Return the description of each subnet in the file that exists, by id. Raises AwsRefusal."""
    descriptions: dict[str, Any] = {}
    for subnet in vpc.subnets.values():
        # One call for each subnet: one unknown id makes the whole call fail.
        try:
            response = scene.aws.ask("ec2", "describe_subnets", SubnetIds=[subnet.id])
        except AwsRefusal as refused:
            if refused.kind is not RefusalKind.ANSWER:
                raise
            continue
        descriptions |= {description["SubnetId"]: description for description in response["Subnets"]}
    return descriptions


@check("the VPC", "ec2:DescribeVpcs", "ec2:DescribeVpcAttribute")
def vpc(scene: Scene) -> Iterator[Finding]:
    """The VPC exists and has the CIDR ranges and the DNS attributes in the file.

    Nodes find VPC endpoints and file systems by name, which needs both DNS attributes.
    Source: VPC User Guide, "DNS attributes in your VPC"; EC2 API reference, DescribeVpcs, DescribeVpcAttribute.
    """
    existing = scene.environment.aws.vpc
    if existing is None:
        return
    try:
        vpc = scene.aws.ask("ec2", "describe_vpcs", VpcIds=[existing.id])["Vpcs"][0]
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        message = f"there is no VPC {existing.id} in {scene.environment.region}: {refused.message}"
        yield error("live-vpc", message, (*VPC, "id"))
        return
    blocks = [b for b in vpc.get("CidrBlockAssociationSet") or () if b["CidrBlockState"]["State"] == "associated"]
    ranges = {block["CidrBlock"] for block in blocks} | {vpc["CidrBlock"]}
    expected: list[tuple[str, DataPath]] = [(str(scene.environment.aws.cidr), ("aws", "cidr"))]
    expected += [
        (str(cidr), ("aws", "secondary_cidrs", index))
        for index, cidr in enumerate(scene.environment.aws.secondary_cidrs)
    ]
    for cidr, path in expected:
        if cidr not in ranges:
            yield error(
                "live-vpc", f"{existing.id} has no range {cidr}", path, f"its ranges: {', '.join(sorted(ranges))}"
            )
    missing = [name for name in ("enableDnsSupport", "enableDnsHostnames") if not _attribute(scene, existing.id, name)]
    if missing and existing.dns_support:
        path = (*VPC, "dns_support")
        fix = f"aws ec2 modify-vpc-attribute --vpc-id {existing.id} --enable-dns-hostnames (and --enable-dns-support)"
        yield error("live-vpc", f"{existing.id} has {' and '.join(missing)} off", path, fix)
    if not missing and not existing.dns_support:
        yield warning("live-vpc", f"{existing.id} has both DNS attributes on", (*VPC, "dns_support"), "write true")


@check("the subnets", "ec2:DescribeSubnets")
def subnet(scene: Scene) -> Iterator[Finding]:
    """Every subnet exists, in the VPC, the zone and with the CIDR range in the file.

    Source: EC2 API reference, DescribeSubnets.
    """
    existing = scene.environment.aws.vpc
    if existing is None:
        return
    descriptions = subnets(scene, existing)
    for zone, subnet in existing.subnets.items():
        path: DataPath = (*VPC, "subnets", zone)
        actual = descriptions.get(subnet.id)
        if actual is None:
            message = f"there is no subnet {subnet.id} in {scene.environment.region}"
            yield error("live-subnet", message, (*path, "id"))
            continue
        if actual["VpcId"] != existing.id:
            message = f"{subnet.id} is in {actual['VpcId']}, not in {existing.id}"
            yield error("live-subnet", message, (*path, "id"), "choose a subnet of the same VPC")
        if actual["AvailabilityZoneId"] != zone:
            message = f"{subnet.id} is in {actual['AvailabilityZoneId']}, not in {zone}"
            yield error("live-subnet", message, path, f"put it under {actual['AvailabilityZoneId']}")
        if actual["CidrBlock"] != str(subnet.cidr):
            message = f"{subnet.id} has the range {actual['CidrBlock']}, not {subnet.cidr}"
            yield error("live-subnet", message, (*path, "cidr"), f"write {actual['CidrBlock']}")
        if actual["State"] != "available":
            yield error("live-subnet", f"{subnet.id} is {actual['State']}", (*path, "id"))


@check("free addresses", "ec2:DescribeSubnets", "ec2:DescribeInstances")
def free_address(scene: Scene) -> Iterator[Finding]:
    """The subnets have as many free addresses as the environment needs, besides those that others use.

    Source: EC2 API reference, DescribeSubnets (AvailableIpAddressCount); the need is computed by `ip_budget`.
    """
    existing = scene.environment.aws.vpc
    if existing is None:
        return
    descriptions = subnets(scene, existing)
    budgets = {plan.zone: plan for plan in ip_budget(scene.environment) if plan.tier == "private"}
    for zone, subnet in existing.subnets.items():
        actual, plan = descriptions.get(subnet.id), budgets.get(zone)
        if actual is None or plan is None:
            continue
        free = actual["AvailableIpAddressCount"] + _own_addresses(scene, subnet.id)
        if free < plan.needed:
            pools = ", ".join(f"{name} {count}" for name, count in plan.per_pool.items())
            message = (
                f"{subnet.id} has {free} free addresses, and {plan.needed} are needed ({pools or 'endpoints, storage'})"
            )
            fix = "fewer max_nodes, nics: ip_optimised (one address a node), or a larger subnet"
            yield error("live-free-address", message, (*VPC, "subnets", zone, "cidr"), fix)


@check("routes of the subnets", "ec2:DescribeRouteTables")
def route(scene: Scene) -> Iterator[Finding]:
    """`public` of a subnet is true if its route table has a route to an internet gateway, else false.

    Nodes have no public address: in a public subnet they cannot reach the internet, and do not use a NAT gateway of
    another subnet.
    Source: VPC User Guide, "Route tables" (a subnet without an associated table uses the main one).
    """
    existing = scene.environment.aws.vpc
    if existing is None:
        return
    filters = [{"Name": "vpc-id", "Values": [existing.id]}]
    tables = scene.aws.all("ec2", "describe_route_tables", "RouteTables", Filters=filters)
    if not tables:
        return
    for zone, subnet in existing.subnets.items():
        public = any(str(entry.get("GatewayId", "")).startswith("igw-") for entry in _routes(tables, subnet.id))
        path: DataPath = (*VPC, "subnets", zone, "public")
        if subnet.public and not public:
            yield error("live-route", f"{subnet.id} has no route to an internet gateway", path, "write public: false")
        elif public and not subnet.public:
            message = (
                f"{subnet.id} has a route to an internet gateway, and nodes there have no public address to use it with"
            )
            fix = "choose a private subnet, or write public: true"
            yield warning("live-route", message, path, fix)


@check("endpoints in the VPC", "ec2:DescribeVpcEndpoints")
def endpoint(scene: Scene) -> Iterator[Finding]:
    """No VPC endpoint that Landbridge creates exists already.

    A second endpoint of a service cannot have the private DNS name, and `up` fails with a conflicting DNS domain.
    Source: VPC User Guide (AWS PrivateLink), "Private DNS names for endpoints".
    """
    existing = scene.environment.aws.vpc
    if existing is None:
        return
    filters = [{"Name": "vpc-id", "Values": [existing.id]}]
    endpoints = scene.aws.all("ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=filters)
    foreign_endpoints = {
        endpoint["ServiceName"]: endpoint for endpoint in endpoints if not scene.is_mine(endpoint.get("Tags"))
    }
    for endpoint_service in endpoint_services(scene.environment):
        name = f"com.amazonaws.{scene.environment.region}.{endpoint_service.service}"
        if (
            endpoint_service.kind == "interface"
            and name in foreign_endpoints
            and foreign_endpoints[name].get("PrivateDnsEnabled")
        ):
            message = f"{existing.id} has an endpoint of {endpoint_service.service} with the private name: {foreign_endpoints[name]['VpcEndpointId']}"
            fix = "vpc_endpoints: gateway, if the existing endpoint serves the nodes"
            yield error("live-endpoint", message, ("aws", "vpc_endpoints"), fix)


@check("zones of endpoint services", "ec2:DescribeVpcEndpointServices", "ec2:DescribeAvailabilityZones")
def endpoint_zone(scene: Scene) -> Iterator[Finding]:
    """Every service for which Landbridge creates an interface endpoint has a zone in common with the subnets.

    The endpoint gets an address in these zones only; nodes of the other zones reach it there, across zones.
    Source: AWS PrivateLink Guide, "Subnets and Availability Zones"; EC2 API reference, DescribeVpcEndpointServices.
    """
    region = scene.environment.region
    names = [
        f"com.amazonaws.{region}.{planned.service}"
        for planned in endpoint_services(scene.environment)
        if planned.kind == "interface"
    ]
    if not names:
        return
    zones = set(used_zones(scene.environment))
    ids = {
        zone["ZoneName"]: zone["ZoneId"]
        for zone in scene.aws.ask("ec2", "describe_availability_zones")["AvailabilityZones"]
    }
    for service in scene.aws.all("ec2", "describe_vpc_endpoint_services", "ServiceDetails", ServiceNames=names):
        served = {ids.get(name) for name in service["AvailabilityZones"]}
        name = service["ServiceName"].removeprefix(f"com.amazonaws.{region}.")
        path: DataPath = ("aws", "vpc_endpoints")
        if not zones & served:
            message = f"AWS has no endpoint of {name} in the zones of the subnets ({', '.join(sorted(zones))})"
            fix = f"add a pool in another zone ({', '.join(sorted(zone for zone in served if zone))}), or nat: single"
            yield error("live-endpoint-zone", message, path, fix)
        elif lacking := zones - served:
            message = (
                f"AWS has no endpoint of {name} in {', '.join(sorted(lacking))}: nodes there use it in another zone"
            )
            yield info("live-endpoint-zone", message, path)


@check("ways out of the subnets", "ec2:DescribeRouteTables", "ec2:DescribeVpcEndpoints")
def way_out(scene: Scene) -> Iterator[Finding]:
    """Nodes reach the AWS services they need: over a default route, or over an endpoint in the VPC.

    A node that cannot read Slurm's key never registers: it boots, is billed, and is terminated after resume_timeout.
    Source: VPC User Guide (AWS PrivateLink), "Access AWS services"; the services are those of the plan
    (endpoints.yaml).
    """
    existing = scene.environment.aws.vpc
    if existing is None:
        return
    filters = [{"Name": "vpc-id", "Values": [existing.id]}]
    tables = scene.aws.all("ec2", "describe_route_tables", "RouteTables", Filters=filters)
    existing_services = {
        endpoint["ServiceName"]
        for endpoint in scene.aws.all("ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=filters)
    }
    planned = {endpoint_service.service for endpoint_service in endpoint_services(scene.environment)}
    prefix = f"com.amazonaws.{scene.environment.region}."
    missing = [
        endpoint_service.service
        for endpoint_service in needed(scene.environment)
        if endpoint_service.service not in planned and f"{prefix}{endpoint_service.service}" not in existing_services
    ]
    for zone, subnet in existing.subnets.items() if missing and tables else ():
        if not any(route.get("DestinationCidrBlock") == "0.0.0.0/0" for route in _routes(tables, subnet.id)):
            names = ", ".join(dict.fromkeys(missing))
            message = f"{subnet.id} has no default route, and {existing.id} no endpoint of {names}"
            fix = "vpc_endpoints: derived creates them, or give the subnet a route to a NAT gateway"
            yield warning("live-way-out", message, (*VPC, "subnets", zone), fix)


def _attribute(scene: Scene, vpc_id: str, name: str) -> bool:
    answer = scene.aws.ask("ec2", "describe_vpc_attribute", VpcId=vpc_id, Attribute=name)
    return bool(answer[name[0].upper() + name[1:]]["Value"])


def _routes(tables: Any, subnet_id: str) -> Iterator[Any]:
    matching_tables = [t for t in tables if any(a.get("SubnetId") == subnet_id for a in t.get("Associations") or ())]
    main = [t for t in tables if any(a.get("Main") for a in t.get("Associations") or ())]
    for table in matching_tables or main:
        yield from table.get("Routes") or ()


def _own_addresses(scene: Scene, subnet_id: str) -> int:
    """Return the number of addresses of this environment's nodes, which are part of its need."""
    filters = [
        *scene.mine(),
        {"Name": "subnet-id", "Values": [subnet_id]},
        {"Name": "instance-state-name", "Values": ["pending", "running"]},
    ]
    pools = {pool.name: pool for pool in scene.environment.aws.pools}
    total = 0
    for reservation in scene.aws.all("ec2", "describe_instances", "Reservations", Filters=filters):
        for instance in reservation["Instances"]:
            name = next((tag["Value"] for tag in instance.get("Tags") or () if tag["Key"] == "landbridge:pool"), "")
            pool = pools.get(name)
            total += sum(nic.ip for nic in pool_interfaces(pool, instance["InstanceType"])) if pool is not None else 1
    return total
