"""Leftovers of Direct Connect and transit gateway route tables are found by their tag and deleted in a valid order."""

from datetime import UTC, datetime

from landbridge.aws_api.client import AwsClient
from landbridge.live.sweep import find_leftovers, remove
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of

NOW = datetime(2026, 11, 21, tzinfo=UTC)
KINDS = ["virtual interface", "Direct Connect gateway", "transit gateway route table", "transit gateway"]


def estate(cloud: EmulatorProcess, cluster: str, vlan: int) -> None:
    ec2, lines = client_of(cloud, "ec2"), client_of(cloud, "directconnect")
    mark = [{"Key": "landbridge:cluster", "Value": cluster}]
    small = [{"key": "landbridge:cluster", "value": cluster}]

    def marked(kind: str) -> list[dict[str, object]]:
        return [{"ResourceType": kind, "Tags": mark}]

    hub = ec2.create_transit_gateway(TagSpecifications=marked("transit-gateway"))["TransitGateway"]["TransitGatewayId"]
    table = ec2.create_transit_gateway_route_table(
        TransitGatewayId=hub, TagSpecifications=marked("transit-gateway-route-table")
    )["TransitGatewayRouteTable"]["TransitGatewayRouteTableId"]
    connection = lines.create_connection(location="EqDC2", bandwidth="1Gbps", connectionName=cluster)["connectionId"]
    gateway = lines.create_direct_connect_gateway(directConnectGatewayName=cluster, amazonSideAsn=64513, tags=small)[
        "directConnectGateway"
    ]["directConnectGatewayId"]
    lines.create_direct_connect_gateway_association(
        directConnectGatewayId=gateway,
        gatewayId=hub,
        addAllowedPrefixesToDirectConnectGateway=[{"cidr": "10.60.0.0/16"}],
    )
    interface = {"virtualInterfaceName": cluster, "vlan": vlan, "asn": 65010, "directConnectGatewayId": gateway}
    lines.create_transit_virtual_interface(
        connectionId=connection, newTransitVirtualInterface={**interface, "tags": small}
    )
    filters = [{"Name": "resource-id", "Values": [gateway]}]
    (attachment,) = ec2.describe_transit_gateway_attachments(Filters=filters)["TransitGatewayAttachments"]
    ec2.associate_transit_gateway_route_table(
        TransitGatewayAttachmentId=attachment["TransitGatewayAttachmentId"], TransitGatewayRouteTableId=table
    )


def test_direct_connect_leftovers_are_removed_and_another_clusters_stay(cloud: EmulatorProcess) -> None:
    estate(cloud, "test", 100)
    estate(cloud, "other", 200)

    def leftover_nouns(cluster: str) -> list[str]:
        leftovers = find_leftovers(AwsClient("us-east-1", cloud.endpoint), cluster, (), NOW, standing=False)
        return [item.type.noun for item in leftovers.items]

    assert leftover_nouns("test") == leftover_nouns("other") == KINDS
    leftovers = find_leftovers(AwsClient("us-east-1", cloud.endpoint), "test", (), NOW, standing=False)
    assert {item.type.noun for item in leftovers.billed} == set(KINDS[:2])
    results = remove(lambda: AwsClient("us-east-1", cloud.endpoint), leftovers.items, pause_seconds=0)
    assert [result.reason for result in results] == [None] * 4
    assert leftover_nouns("test") == [] and leftover_nouns("other") == KINDS
