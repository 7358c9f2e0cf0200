"""EC2: transit gateways, their attachments and route tables, and Site-to-Site VPN."""

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import Inputs, Recover, ResourceType, Sweep
from landbridge.aws_resources.search import Ec2Listing, delete_by


def _recover_relation(operation: str, key: str) -> Recover:
    """Return a search for the relation of an attachment and a route table. The provider's id joins both."""

    def find(aws: AwsClient, inputs: Inputs) -> list[str]:
        table, attachment = inputs["transitGatewayRouteTableId"], inputs["transitGatewayAttachmentId"]
        filters = [{"Name": "transit-gateway-attachment-id", "Values": [attachment]}]
        relations = aws.all("ec2", operation, key, TransitGatewayRouteTableId=table, Filters=filters)
        return [f"{table}_{attachment}"] if relations else []

    return find


def _recover_accepter(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the peering attachment that this side has accepted; its id is the accepter's."""
    attachment = str(inputs["transitGatewayAttachmentId"])
    filters = [{"Name": "transit-gateway-attachment-id", "Values": [attachment]}]
    key = "TransitGatewayPeeringAttachments"
    items = aws.all("ec2", "describe_transit_gateway_peering_attachments", key, Filters=filters)
    return [attachment] if any(item["State"] == "available" for item in items) else []


def _recover_route(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the static route to this destination. The provider's id joins table and destination."""
    table, cidr = inputs["transitGatewayRouteTableId"], inputs["destinationCidrBlock"]
    filters = [{"Name": "type", "Values": ["static"]}, {"Name": "route-search.exact-match", "Values": [cidr]}]
    answer = aws.ask("ec2", "search_transit_gateway_routes", TransitGatewayRouteTableId=table, Filters=filters)
    return [f"{table}_{cidr}"] if answer["Routes"] else []


_ATTACHMENT = "TransitGatewayAttachmentId"
_GATEWAYS = Ec2Listing("describe_transit_gateways", "TransitGateways", "TransitGatewayId")
_ATTACHMENTS = Ec2Listing(
    "describe_transit_gateway_vpc_attachments", "TransitGatewayVpcAttachments", _ATTACHMENT, by_tag=False
)
_PEERINGS = Ec2Listing("describe_transit_gateway_peering_attachments", "TransitGatewayPeeringAttachments", _ATTACHMENT)
_TABLES = Ec2Listing(
    "describe_transit_gateway_route_tables", "TransitGatewayRouteTables", "TransitGatewayRouteTableId", by_tag=False
)
_CONNECTIONS = Ec2Listing("describe_vpn_connections", "VpnConnections", "VpnConnectionId", pages=False)
_CUSTOMERS = Ec2Listing("describe_customer_gateways", "CustomerGateways", "CustomerGatewayId", pages=False)

RESOURCE_TYPES = (
    ResourceType(
        "transit gateway", "aws:ec2transitgateway/transitGateway:TransitGateway",
        recover=_GATEWAYS.recover({"description": "Description"}),
        sweep=Sweep(100, _GATEWAYS.in_states("pending", "available"), "TransitGatewayId",
                    delete_by("ec2", "delete_transit_gateway", "TransitGatewayId", "TransitGatewayId"))),
    ResourceType(
        "transit gateway VPC attachment", "aws:ec2transitgateway/vpcAttachment:VpcAttachment", billed=True,
        recover=_ATTACHMENTS.recover({"vpcId": "VpcId", "transitGatewayId": "TransitGatewayId"}),
        sweep=Sweep(50, _ATTACHMENTS.in_states("pending", "available"), _ATTACHMENT,
                    delete_by("ec2", "delete_transit_gateway_vpc_attachment", _ATTACHMENT, _ATTACHMENT))),
    ResourceType(
        "transit gateway peering attachment", "aws:ec2transitgateway/peeringAttachment:PeeringAttachment", billed=True,
        recover=_PEERINGS.recover({"transitGatewayId": "RequesterTgwInfo.TransitGatewayId",
                                   "peerTransitGatewayId": "AccepterTgwInfo.TransitGatewayId"}),
        sweep=Sweep(60, _PEERINGS.in_states("initiating", "initiatingrequest", "pendingacceptance", "pending",
                                            "available", "modifying"),
                    _ATTACHMENT,
                    delete_by("ec2", "delete_transit_gateway_peering_attachment", _ATTACHMENT, _ATTACHMENT))),
    ResourceType(
        "transit gateway peering attachment",
        "aws:ec2transitgateway/peeringAttachmentAccepter:PeeringAttachmentAccepter", recover=_recover_accepter),
    ResourceType(
        "transit gateway route table", "aws:ec2transitgateway/routeTable:RouteTable",
        recover=_TABLES.recover({"transitGatewayId": "TransitGatewayId"}),
        # AWS refuses its deletion while an attachment uses it.
        sweep=Sweep(90, _TABLES.in_states("pending", "available"), "TransitGatewayRouteTableId",
                    delete_by("ec2", "delete_transit_gateway_route_table", "TransitGatewayRouteTableId",
                              "TransitGatewayRouteTableId"))),
    ResourceType(
        "transit gateway route table association",
        "aws:ec2transitgateway/routeTableAssociation:RouteTableAssociation",
        recover=_recover_relation("get_transit_gateway_route_table_associations", "Associations")),
    ResourceType(
        "transit gateway route table propagation",
        "aws:ec2transitgateway/routeTablePropagation:RouteTablePropagation",
        recover=_recover_relation("get_transit_gateway_route_table_propagations",
                                  "TransitGatewayRouteTablePropagations")),
    ResourceType("transit gateway route", "aws:ec2transitgateway/route:Route", recover=_recover_route),
    ResourceType(
        "VPN connection", "aws:ec2/vpnConnection:VpnConnection", billed=True,
        recover=_CONNECTIONS.recover({"customerGatewayId": "CustomerGatewayId", "transitGatewayId": "TransitGatewayId"}),
        sweep=Sweep(40, _CONNECTIONS.in_states("pending", "available"), "VpnConnectionId",
                    delete_by("ec2", "delete_vpn_connection", "VpnConnectionId", "VpnConnectionId"))),
    ResourceType(
        "customer gateway", "aws:ec2/customerGateway:CustomerGateway",
        recover=_CUSTOMERS.recover({"ipAddress": "IpAddress", "bgpAsn": "BgpAsn", "type": "Type"}),
        sweep=Sweep(110, _CUSTOMERS.in_states("pending", "available"), "CustomerGatewayId",
                    delete_by("ec2", "delete_customer_gateway", "CustomerGatewayId", "CustomerGatewayId"))),
)  # fmt: skip
