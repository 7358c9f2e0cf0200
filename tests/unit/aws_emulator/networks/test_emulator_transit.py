"""Errors of transit gateways and Direct Connect, and their cascading deletions."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.network.direct_connect import connection_id
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of


def code_of(call: Callable[..., Any], **arguments: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    return str(caught.value.response["Error"]["Code"])


class Hub:
    """A transit gateway without default associations, an attached VPC, a VPN and route tables."""

    def __init__(self, ec2: Any) -> None:
        self.ec2 = ec2
        off = {"DefaultRouteTableAssociation": "disable", "DefaultRouteTablePropagation": "disable"}
        self.id = ec2.create_transit_gateway(Options=off)["TransitGateway"]["TransitGatewayId"]
        self.vpc = ec2.create_vpc(CidrBlock="10.70.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(VpcId=self.vpc, CidrBlock="10.70.1.0/24")["Subnet"]["SubnetId"]
        self.attachment = ec2.create_transit_gateway_vpc_attachment(
            TransitGatewayId=self.id, VpcId=self.vpc, SubnetIds=[subnet]
        )["TransitGatewayVpcAttachment"]["TransitGatewayAttachmentId"]
        customer = ec2.create_customer_gateway(Type="ipsec.1", BgpAsn=65010, PublicIp="3.3.3.3")["CustomerGateway"]
        self.vpn = ec2.create_vpn_connection(
            Type="ipsec.1", CustomerGatewayId=customer["CustomerGatewayId"], TransitGatewayId=self.id
        )["VpnConnection"]["VpnConnectionId"]
        self.table, self.other = (self.new_table() for _ in range(2))

    def new_table(self) -> str:
        table = self.ec2.create_transit_gateway_route_table(TransitGatewayId=self.id)["TransitGatewayRouteTable"]
        return str(table["TransitGatewayRouteTableId"])

    def of(self, resource: str) -> str:
        """Return the attachment of a VPN or a Direct Connect gateway."""
        filters = [{"Name": "resource-id", "Values": [resource]}]
        (attachment,) = self.ec2.describe_transit_gateway_attachments(Filters=filters)["TransitGatewayAttachments"]
        return str(attachment["TransitGatewayAttachmentId"])

    def pair(self, attachment: str, table: str | None = None) -> dict[str, str]:
        return {"TransitGatewayAttachmentId": attachment, "TransitGatewayRouteTableId": table or self.table}

    def associated(self, table: str | None = None) -> set[str]:
        response = self.ec2.get_transit_gateway_route_table_associations(TransitGatewayRouteTableId=table or self.table)
        return {association["TransitGatewayAttachmentId"] for association in response["Associations"]}

    def propagated(self, table: str | None = None) -> set[str]:
        response = self.ec2.get_transit_gateway_route_table_propagations(TransitGatewayRouteTableId=table or self.table)
        return {
            propagation["TransitGatewayAttachmentId"]
            for propagation in response["TransitGatewayRouteTablePropagations"]
        }


def test_nothing_is_associated_without_the_defaults_of_the_gateway(ec2: Any) -> None:
    hub = Hub(ec2)
    tables = ec2.describe_transit_gateway_route_tables()["TransitGatewayRouteTables"]
    mine = [table["TransitGatewayRouteTableId"] for table in tables if table["TransitGatewayId"] == hub.id]
    assert len(mine) >= 2 and all(hub.associated(table) == set() for table in mine)


def test_an_attachment_is_associated_with_one_table_and_propagated_to_several(ec2: Any) -> None:
    hub = Hub(ec2)
    vpn = hub.of(hub.vpn)
    ec2.associate_transit_gateway_route_table(**hub.pair(vpn))
    associate = ec2.associate_transit_gateway_route_table
    assert code_of(associate, **hub.pair(vpn, hub.other)) == "Resource.AlreadyAssociated"
    for table in (hub.table, hub.other):
        ec2.enable_transit_gateway_route_table_propagation(**hub.pair(vpn, table))
    enable = ec2.enable_transit_gateway_route_table_propagation
    assert code_of(enable, **hub.pair(vpn)) == "TransitGatewayRouteTablePropagation.Duplicate"
    ec2.disable_transit_gateway_route_table_propagation(**hub.pair(vpn))
    assert (hub.propagated(), hub.propagated(hub.other)) == (set(), {vpn})
    ec2.disable_transit_gateway_route_table_propagation(**hub.pair(vpn, hub.other))
    disable = ec2.disable_transit_gateway_route_table_propagation
    assert code_of(disable, **hub.pair(vpn)) == "TransitGatewayRouteTablePropagation.NotFound"


def test_a_route_table_is_deleted_only_without_associations(ec2: Any) -> None:
    hub = Hub(ec2)
    for attachment in (hub.attachment, hub.of(hub.vpn)):
        ec2.associate_transit_gateway_route_table(**hub.pair(attachment))
        ec2.enable_transit_gateway_route_table_propagation(**hub.pair(attachment, hub.other))
    delete = ec2.delete_transit_gateway_route_table
    assert code_of(delete, TransitGatewayRouteTableId=hub.table) == "IncorrectState"
    # A deleted attachment removes its associations and propagations.
    ec2.delete_vpn_connection(VpnConnectionId=hub.vpn)
    assert hub.associated() == hub.propagated(hub.other) == {hub.attachment}
    ec2.delete_transit_gateway_vpc_attachment(TransitGatewayAttachmentId=hub.attachment)
    assert hub.associated() == hub.propagated(hub.other) == set()
    delete(TransitGatewayRouteTableId=hub.table)
    assert code_of(delete, TransitGatewayRouteTableId=hub.table) == "InvalidRouteTableID.NotFound"
    ec2.delete_transit_gateway(TransitGatewayId=hub.id)
    assert code_of(delete, TransitGatewayRouteTableId=hub.other) == "InvalidRouteTableID.NotFound"


class Connection:
    """A Direct Connect connection and gateway."""

    def __init__(self, cloud: EmulatorProcess) -> None:
        self.api = client_of(cloud, "directconnect")
        response = self.api.create_connection(location="EqDC2", bandwidth="10Gbps", connectionName="ours")
        self.connection = response["connectionId"]
        self.gateway = self.api.create_direct_connect_gateway(directConnectGatewayName="ours", amazonSideAsn=64513)
        self.gateway = self.gateway["directConnectGateway"]["directConnectGatewayId"]

    def associate(self, hub: str, **parameters: Any) -> Any:
        prefixes = {"addAllowedPrefixesToDirectConnectGateway": [{"cidr": "10.70.0.0/16"}], **parameters}
        return self.api.create_direct_connect_gateway_association(
            directConnectGatewayId=self.gateway, gatewayId=hub, **prefixes
        )["directConnectGatewayAssociation"]["associationId"]

    def interface(self, connection: str | None = None, **parameters: Any) -> Any:
        virtual_interface = {
            "virtualInterfaceName": "v",
            "vlan": 100,
            "asn": 65010,
            "directConnectGatewayId": self.gateway,
            **parameters,
        }
        return self.api.create_transit_virtual_interface(
            connectionId=connection or self.connection, newTransitVirtualInterface=virtual_interface
        )["virtualInterface"]["virtualInterfaceId"]


def test_direct_connect_has_the_errors_of_aws(cloud: EmulatorProcess, ec2: Any) -> None:
    hub, direct_connect = Hub(ec2), Connection(cloud)
    assert direct_connect.connection == connection_id("ours")
    same = ec2.create_transit_gateway(Options={"AmazonSideAsn": 64513})["TransitGateway"]["TransitGatewayId"]
    refused = "DirectConnectClientException"
    assert code_of(direct_connect.associate, hub=same) == refused, "two gateways of one AS number"
    assert code_of(direct_connect.associate, hub="tgw-0123456789abcdef0") == refused
    assert code_of(direct_connect.associate, hub=hub.id, addAllowedPrefixesToDirectConnectGateway=[]) == refused
    assert code_of(direct_connect.interface, connection="dxcon-fabc1234") == refused
    amazon_address = {"amazonAddress": "169.254.80.2/30"}
    assert code_of(direct_connect.interface, **amazon_address) == refused, "one peer's address without the other's"
    assert code_of(direct_connect.interface, **amazon_address, customerAddress="169.254.90.1/30") == refused
    direct_connect.interface(**amazon_address, customerAddress="169.254.80.1/30")
    assert code_of(direct_connect.interface) == refused, "a VLAN that is in use"


def test_direct_connect_is_deleted_in_the_sequence_that_aws_accepts(cloud: EmulatorProcess, ec2: Any) -> None:
    hub, direct_connect = Hub(ec2), Connection(cloud)
    association, interface = direct_connect.associate(hub.id), direct_connect.interface()
    attachment = hub.of(direct_connect.gateway)
    ec2.associate_transit_gateway_route_table(**hub.pair(attachment))
    ec2.delete_vpn_connection(VpnConnectionId=hub.vpn)
    ec2.delete_transit_gateway_vpc_attachment(TransitGatewayAttachmentId=hub.attachment)
    assert code_of(ec2.delete_transit_gateway, TransitGatewayId=hub.id) == "IncorrectState"
    gateway = {"directConnectGatewayId": direct_connect.gateway}
    assert code_of(direct_connect.api.delete_direct_connect_gateway, **gateway) == "DirectConnectClientException"
    direct_connect.api.delete_direct_connect_gateway_association(associationId=association)
    assert hub.associated() == set()
    assert code_of(direct_connect.api.delete_direct_connect_gateway, **gateway) == "DirectConnectClientException"
    direct_connect.api.delete_virtual_interface(virtualInterfaceId=interface)
    direct_connect.api.delete_direct_connect_gateway(**gateway)
    ec2.delete_transit_gateway(TransitGatewayId=hub.id)
    assert direct_connect.api.describe_direct_connect_gateways()["directConnectGateways"] == []


def test_cidr_blocks_of_a_transit_gateway_are_added_and_removed(ec2: Any) -> None:
    transit_gateway = ec2.create_transit_gateway(Options={"TransitGatewayCidrBlocks": ["100.127.254.0/24"]})[
        "TransitGateway"
    ]
    change = {"AddTransitGatewayCidrBlocks": ["10.99.0.0/24"], "RemoveTransitGatewayCidrBlocks": ["100.127.254.0/24"]}
    ec2.modify_transit_gateway(TransitGatewayId=transit_gateway["TransitGatewayId"], Options=change)
    (transit_gateway,) = ec2.describe_transit_gateways(TransitGatewayIds=[transit_gateway["TransitGatewayId"]])[
        "TransitGateways"
    ]
    assert transit_gateway["Options"]["TransitGatewayCidrBlocks"] == ["10.99.0.0/24"]
