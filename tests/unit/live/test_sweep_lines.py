"""Leftovers of Direct Connect and of transit gateway route tables are found by their tag and deleted in an order that AWS accepts."""

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
    own = {"virtualInterfaceName": cluster, "vlan": vlan, "asn": 65010, "directConnectGatewayId": gateway}
    lines.create_transit_virtual_interface(connectionId=connection, newTransitVirtualInterface={**own, "tags": small})
    filters = [{"Name": "resource-id", "Values": [gateway]}]
    (attachment,) = ec2.describe_transit_gateway_attachments(Filters=filters)["TransitGatewayAttachments"]
    ec2.associate_transit_gateway_route_table(
        TransitGatewayAttachmentId=attachment["TransitGatewayAttachmentId"], TransitGatewayRouteTableId=table
    )


def test_a_line_is_found_and_removed_and_another_cluster_s_stays(cloud: EmulatorProcess) -> None:
    estate(cloud, "test", 100)
    estate(cloud, "other", 200)

    def left(cluster: str) -> list[str]:
        found = find_leftovers(AwsClient("us-east-1", cloud.endpoint), cluster, (), NOW, standing=False)
        return [one.type.noun for one in found.items]

    assert left("test") == left("other") == KINDS
    found = find_leftovers(AwsClient("us-east-1", cloud.endpoint), "test", (), NOW, standing=False)
    assert {one.type.noun for one in found.billed} == set(KINDS[:2])
    done = remove(lambda: AwsClient("us-east-1", cloud.endpoint), found.items, pause_seconds=0)
    assert [one.reason for one in done] == [None] * 4
    assert left("test") == [] and left("other") == KINDS
