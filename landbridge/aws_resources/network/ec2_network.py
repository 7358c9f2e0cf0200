"""EC2: VPC, subnets, route tables, gateways, addresses and endpoints."""

from contextlib import suppress

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.aws_resources.resource_type import Inputs, Item, ResourceType, Sweep
from landbridge.aws_resources.search import Ec2Listing, agrees, delete_by, ids_of_tagged

_ROUTE_TARGETS = {
    "gatewayId": "GatewayId",
    "natGatewayId": "NatGatewayId",
    "transitGatewayId": "TransitGatewayId",
    "networkInterfaceId": "NetworkInterfaceId",
}


def _recover_internet_gateway(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the gateways of this VPC, and gateways of no VPC: the attachment is a second call."""
    gateways = [
        gateway
        for gateway in aws.all("ec2", "describe_internet_gateways", "InternetGateways")
        if {attachment["VpcId"] for attachment in gateway.get("Attachments") or ()} <= {inputs.get("vpcId")}
    ]
    return ids_of_tagged(gateways, inputs, {}, "InternetGatewayId")


def _route_table(aws: AwsClient, inputs: Inputs) -> Item:
    tables = aws.ask("ec2", "describe_route_tables", RouteTableIds=[inputs["routeTableId"]])["RouteTables"]
    return dict(tables[0]) if tables else {}


def _recover_route(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the route to this destination over this target. The provider reads it by table and destination."""
    destination = inputs["destinationCidrBlock"]
    for route in _route_table(aws, inputs).get("Routes") or ():
        if route.get("DestinationCidrBlock") == destination and agrees(inputs, route, _ROUTE_TARGETS):
            return [f"r-{inputs['routeTableId']}{destination}"]
    return []


def _recover_route_table_association(aws: AwsClient, inputs: Inputs) -> list[str]:
    associations = _route_table(aws, inputs).get("Associations") or ()
    return [
        str(association["RouteTableAssociationId"])
        for association in associations
        if association.get("SubnetId") == inputs["subnetId"]
    ]


def _recover_cidr_block(aws: AwsClient, inputs: Inputs) -> list[str]:
    vpcs = aws.ask("ec2", "describe_vpcs", VpcIds=[inputs["vpcId"]])["Vpcs"]
    blocks = [block for vpc in vpcs for block in vpc.get("CidrBlockAssociationSet") or ()]
    return [str(block["AssociationId"]) for block in blocks if block["CidrBlock"] == inputs["cidrBlock"]]


def _recover_cidr_reservation(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the reservation of this range: no two of a subnet overlap."""
    answer = aws.ask("ec2", "get_subnet_cidr_reservations", SubnetId=inputs["subnetId"])
    reservations = answer.get("SubnetIpv4CidrReservations") or ()
    return [
        str(reservation["SubnetCidrReservationId"])
        for reservation in reservations
        if agrees(inputs, reservation, {"cidrBlock": "Cidr"})
    ]


def _delete_endpoint(aws: AwsClient, item: Item) -> None:
    answer = aws.ask("ec2", "delete_vpc_endpoints", VpcEndpointIds=[item["VpcEndpointId"]])
    # EC2 answers this call with success and lists the failures.
    for failure in answer.get("Unsuccessful") or ():
        error = failure.get("Error", {})
        raise AwsRefusal("ec2:DeleteVpcEndpoints", str(error.get("Code")), str(error.get("Message")))


def _delete_route_table(aws: AwsClient, item: Item) -> None:
    # Subnets are disassociated first; the main table is deleted with its VPC.
    for association in item.get("Associations") or ():
        with suppress(AwsRefusal):  # the table's deletion reports the obstacle
            if not association.get("Main"):
                aws.ask("ec2", "disassociate_route_table", AssociationId=association["RouteTableAssociationId"])
    aws.ask("ec2", "delete_route_table", RouteTableId=item["RouteTableId"])


def _delete_internet_gateway(aws: AwsClient, item: Item) -> None:
    gateway = {"InternetGatewayId": item["InternetGatewayId"]}
    for attachment in item.get("Attachments") or ():
        with suppress(AwsRefusal):
            aws.ask("ec2", "detach_internet_gateway", VpcId=attachment["VpcId"], **gateway)
    aws.ask("ec2", "delete_internet_gateway", **gateway)


_VPCS = Ec2Listing("describe_vpcs", "Vpcs", "VpcId")
_SUBNETS = Ec2Listing("describe_subnets", "Subnets", "SubnetId")
_TABLES = Ec2Listing("describe_route_tables", "RouteTables", "RouteTableId")
_INTERNET_GATEWAYS = Ec2Listing("describe_internet_gateways", "InternetGateways", "InternetGatewayId")
_NAT_GATEWAYS = Ec2Listing("describe_nat_gateways", "NatGateways", "NatGatewayId")
_ADDRESSES = Ec2Listing("describe_addresses", "Addresses", "AllocationId", pages=False)
_INTERFACES = Ec2Listing("describe_network_interfaces", "NetworkInterfaces", "NetworkInterfaceId")
_ENDPOINTS = Ec2Listing("describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId")
_FLOW_LOGS = Ec2Listing("describe_flow_logs", "FlowLogs", "FlowLogId", filters="Filter")

RESOURCE_TYPES = (
    ResourceType(
        "VPC", "aws:ec2/vpc:Vpc", recover=_VPCS.recover({"cidrBlock": "CidrBlock"}),
        sweep=Sweep(340, _VPCS.in_states(), "VpcId", delete_by("ec2", "delete_vpc", "VpcId", "VpcId"))),
    ResourceType(
        "VPC CIDR block", "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
        recover=_recover_cidr_block),
    ResourceType(
        "subnet", "aws:ec2/subnet:Subnet", recover=_SUBNETS.recover({"vpcId": "VpcId", "cidrBlock": "CidrBlock"}),
        sweep=Sweep(320, _SUBNETS.in_states(), "SubnetId", delete_by("ec2", "delete_subnet", "SubnetId", "SubnetId"))),
    ResourceType(
        "subnet CIDR reservation", "aws:ec2/subnetCidrReservation:SubnetCidrReservation",
        recover=_recover_cidr_reservation),
    ResourceType(
        "route table", "aws:ec2/routeTable:RouteTable", recover=_TABLES.recover({"vpcId": "VpcId"}),
        sweep=Sweep(310, _TABLES.in_states(), "RouteTableId", _delete_route_table)),
    ResourceType(
        "route table association", "aws:ec2/routeTableAssociation:RouteTableAssociation",
        recover=_recover_route_table_association),
    ResourceType("route", "aws:ec2/route:Route", recover=_recover_route),
    ResourceType(
        "internet gateway", "aws:ec2/internetGateway:InternetGateway", recover=_recover_internet_gateway,
        sweep=Sweep(330, _INTERNET_GATEWAYS.in_states(), "InternetGatewayId", _delete_internet_gateway)),
    ResourceType(
        "NAT gateway", "aws:ec2/natGateway:NatGateway", billed=True,
        recover=_NAT_GATEWAYS.recover({"subnetId": "SubnetId"}),
        sweep=Sweep(30, _NAT_GATEWAYS.in_states("pending", "available"), "NatGatewayId",
                    delete_by("ec2", "delete_nat_gateway", "NatGatewayId", "NatGatewayId"))),
    ResourceType(
        "elastic IP address", "aws:ec2/eip:Eip", recover=_ADDRESSES.recover({"domain": "Domain"}), billed=True,
        sweep=Sweep(250, _ADDRESSES.in_states(), "AllocationId",
                    delete_by("ec2", "release_address", "AllocationId", "AllocationId"))),
    # A network interface of an instance is deleted with it.
    ResourceType(
        "network interface",
        sweep=Sweep(240, _INTERFACES.in_states("available", "pending"), "NetworkInterfaceId",
                    delete_by("ec2", "delete_network_interface", "NetworkInterfaceId", "NetworkInterfaceId"),
                    tags_key="TagSet")),
    ResourceType(
        "VPC endpoint", "aws:ec2/vpcEndpoint:VpcEndpoint", billed=True,
        recover=_ENDPOINTS.recover({"vpcId": "VpcId", "serviceName": "ServiceName"}),
        sweep=Sweep(120, _ENDPOINTS.in_states("pending", "available", "pendingacceptance"), "VpcEndpointId",
                    _delete_endpoint)),
    ResourceType(
        "flow log", "aws:ec2/flowLog:FlowLog",
        recover=_FLOW_LOGS.recover({"vpcId": "ResourceId", "subnetId": "ResourceId", "trafficType": "TrafficType"})),
)  # fmt: skip
