"""Transit gateway peering between regions: EC2's errors, and the same view in both regions."""

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.aws_emulator.networks.test_emulator_transit import code_of

OFF = {"DefaultRouteTableAssociation": "disable", "DefaultRouteTablePropagation": "disable"}


class Side:
    """A transit gateway with a route table."""

    def __init__(self, cloud: EmulatorProcess, region: str) -> None:
        self.region, self.ec2 = region, client_of(cloud, "ec2", region=region)
        self.id = self.ec2.create_transit_gateway(Options=OFF)["TransitGateway"]["TransitGatewayId"]
        table = self.ec2.create_transit_gateway_route_table(TransitGatewayId=self.id)["TransitGatewayRouteTable"]
        self.table = table["TransitGatewayRouteTableId"]

    def peer(self, other: "Side") -> str:
        response = self.ec2.create_transit_gateway_peering_attachment(
            TransitGatewayId=self.id,
            PeerTransitGatewayId=other.id,
            PeerRegion=other.region,
            PeerAccountId="123456789012",
            TagSpecifications=[
                {"ResourceType": "transit-gateway-attachment", "Tags": [{"Key": "landbridge:cluster", "Value": "x"}]}
            ],
        )
        return str(response["TransitGatewayPeeringAttachment"]["TransitGatewayAttachmentId"])

    def accept(self, id_: str) -> None:
        self.ec2.accept_transit_gateway_peering_attachment(TransitGatewayAttachmentId=id_)

    def states(self) -> dict[str, str]:
        attachments = self.ec2.describe_transit_gateway_peering_attachments()["TransitGatewayPeeringAttachments"]
        return {attachment["TransitGatewayAttachmentId"]: attachment["State"] for attachment in attachments}

    def pair(self, attachment: str) -> dict[str, str]:
        return {"TransitGatewayAttachmentId": attachment, "TransitGatewayRouteTableId": self.table}

    def route(self, cidr: str, attachment: str) -> dict[str, str]:
        return {**self.pair(attachment), "DestinationCidrBlock": cidr}

    def routes(self) -> dict[str, str]:
        filters = [{"Name": "type", "Values": ["static"]}]
        response = self.ec2.search_transit_gateway_routes(TransitGatewayRouteTableId=self.table, Filters=filters)
        return {route["DestinationCidrBlock"]: route["State"] for route in response["Routes"]}


@pytest.fixture
def sides(cloud: EmulatorProcess) -> tuple[Side, Side]:
    return Side(cloud, "us-east-1"), Side(cloud, "us-east-2")


@pytest.fixture
def peered(sides: tuple[Side, Side]) -> tuple[Side, Side, str]:
    home, away = sides
    id_ = home.peer(away)
    away.accept(id_)
    return home, away, id_


def test_a_peering_is_usable_once_the_other_region_has_accepted_it(sides: tuple[Side, Side]) -> None:
    home, away = sides
    id_ = home.peer(away)
    assert home.states() == away.states() == {id_: "pendingAcceptance"}
    assert code_of(home.ec2.associate_transit_gateway_route_table, **home.pair(id_)) == "IncorrectState"
    assert code_of(home.ec2.create_transit_gateway_route, **home.route("10.1.0.0/16", id_)) == "IncorrectState"
    accept = home.ec2.accept_transit_gateway_peering_attachment
    assert code_of(accept, TransitGatewayAttachmentId=id_) == "IncorrectState"
    away.accept(id_)
    assert home.states() == away.states() == {id_: "available"}
    assert (
        code_of(away.ec2.accept_transit_gateway_peering_attachment, TransitGatewayAttachmentId=id_) == "IncorrectState"
    )
    for side in sides:
        side.ec2.associate_transit_gateway_route_table(**side.pair(id_))
        side.ec2.create_transit_gateway_route(**side.route("10.1.0.0/16", id_))
        assert side.routes() == {"10.1.0.0/16": "active"}


def test_a_peering_needs_two_existing_gateways_and_is_unique(sides: tuple[Side, Side]) -> None:
    home, away = sides
    make = home.ec2.create_transit_gateway_peering_attachment
    known = {"TransitGatewayId": home.id, "PeerRegion": away.region, "PeerAccountId": "123456789012"}
    # An id of the wrong region is not found.
    assert code_of(make, **known, PeerTransitGatewayId=home.id) == "InvalidTransitGatewayID.NotFound"
    assert code_of(make, **{**known, "TransitGatewayId": away.id}, PeerTransitGatewayId=away.id) == (
        "InvalidTransitGatewayID.NotFound"
    )
    home.peer(away)
    assert code_of(make, **known, PeerTransitGatewayId=away.id) == "DuplicateTransitGatewayAttachment"


def test_a_peering_has_no_route_propagation(peered: tuple[Side, Side, str]) -> None:
    home, _, id_ = peered
    propagate = home.ec2.enable_transit_gateway_route_table_propagation
    assert code_of(propagate, **home.pair(id_)) == "InvalidParameterValue"


def test_a_route_is_unique_and_needs_an_existing_attachment(peered: tuple[Side, Side, str]) -> None:
    home, away, id_ = peered
    add = home.ec2.create_transit_gateway_route
    add(**home.route("10.1.0.0/16", id_))
    assert code_of(add, **home.route("10.1.0.0/16", id_)) == "RouteAlreadyExists"
    unknown = home.route("10.2.0.0/16", "tgw-attach-0123456789abcdef0")
    assert code_of(add, **unknown) == "InvalidTransitGatewayAttachmentID.NotFound"
    wrong = {**home.route("10.2.0.0/16", id_), "TransitGatewayRouteTableId": away.table}
    assert code_of(add, **wrong) == "InvalidRouteTableID.NotFound"
    transit_gateway_id = home.ec2.create_transit_gateway(Options=OFF)["TransitGateway"]["TransitGatewayId"]
    other = home.ec2.create_transit_gateway_route_table(TransitGatewayId=transit_gateway_id)["TransitGatewayRouteTable"]
    of_other_gateway = {
        **home.route("10.2.0.0/16", id_),
        "TransitGatewayRouteTableId": other["TransitGatewayRouteTableId"],
    }
    assert code_of(add, **of_other_gateway) == "InvalidParameterValue"
    remove = home.ec2.delete_transit_gateway_route
    key = {"TransitGatewayRouteTableId": home.table, "DestinationCidrBlock": "10.1.0.0/16"}
    remove(**key)
    assert code_of(remove, **key) == "InvalidRoute.NotFound"


def test_a_gateway_with_a_peering_is_not_deleted_on_either_side(peered: tuple[Side, Side, str]) -> None:
    home, away, id_ = peered
    for side in (home, away):
        assert code_of(side.ec2.delete_transit_gateway, TransitGatewayId=side.id) == "IncorrectState"
    away.ec2.associate_transit_gateway_route_table(**away.pair(id_))
    home.ec2.create_transit_gateway_route(**home.route("10.1.0.0/16", id_))
    away.ec2.delete_transit_gateway_peering_attachment(TransitGatewayAttachmentId=id_)
    assert home.states() == away.states() == {}
    assert home.routes() == {"10.1.0.0/16": "blackhole"}
    for side in (home, away):
        side.ec2.delete_transit_gateway_route_table(TransitGatewayRouteTableId=side.table)
        side.ec2.delete_transit_gateway(TransitGatewayId=side.id)


def test_a_route_has_its_target_and_is_a_blackhole_after_its_deletion(peered: tuple[Side, Side, str]) -> None:
    home, _, id_ = peered
    home.ec2.create_transit_gateway_route(**home.route("10.1.0.0/16", id_))
    vpc = home.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = home.ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    response = home.ec2.create_transit_gateway_vpc_attachment(TransitGatewayId=home.id, VpcId=vpc, SubnetIds=[subnet])
    vpc_attachment = response["TransitGatewayVpcAttachment"]["TransitGatewayAttachmentId"]
    home.ec2.create_transit_gateway_route(**home.route("10.9.0.0/16", vpc_attachment))
    assert route_targets(home) == {"10.1.0.0/16": (id_, "active"), "10.9.0.0/16": (vpc_attachment, "active")}
    home.ec2.delete_transit_gateway_vpc_attachment(TransitGatewayAttachmentId=vpc_attachment)
    assert route_targets(home)["10.9.0.0/16"] == (vpc_attachment, "blackhole")


def route_targets(side: Side) -> dict[str, tuple[str, str]]:
    """Return the target and the state of each static route."""
    filters = [{"Name": "type", "Values": ["static"]}]
    routes = side.ec2.search_transit_gateway_routes(TransitGatewayRouteTableId=side.table, Filters=filters)["Routes"]
    return {
        route["DestinationCidrBlock"]: (
            route["TransitGatewayAttachments"][0]["TransitGatewayAttachmentId"],
            route["State"],
        )
        for route in routes
    }


def test_peerings_are_filtered_by_either_gateway(peered: tuple[Side, Side, str]) -> None:
    home, away, id_ = peered
    describe = home.ec2.describe_transit_gateway_peering_attachments

    def of(name: str, *values: str) -> list[str]:
        attachments = describe(Filters=[{"Name": name, "Values": list(values)}])["TransitGatewayPeeringAttachments"]
        return [attachment["TransitGatewayAttachmentId"] for attachment in attachments]

    assert of("transit-gateway-id", home.id) == of("transit-gateway-id", away.id) == [id_]
    assert of("transit-gateway-id", "tgw-0123456789abcdef0") == of("state", "pendingAcceptance") == []
    assert of("tag:landbridge:cluster", "x") == [id_]
    assert code_of(describe, Filters=[{"Name": "peer", "Values": ["x"]}]) == "InvalidParameterValue"


def test_each_side_of_a_peering_has_its_own_tags(peered: tuple[Side, Side, str]) -> None:
    home, away, id_ = peered

    def tags(side: Side) -> dict[str, str]:
        (attachment,) = side.ec2.describe_transit_gateway_peering_attachments()["TransitGatewayPeeringAttachments"]
        return {tag["Key"]: tag["Value"] for tag in attachment["Tags"]}

    assert (tags(home), tags(away)) == ({"landbridge:cluster": "x"}, {})
    away.ec2.create_tags(Resources=[id_], Tags=[{"Key": "Name", "Value": "away"}])
    assert (tags(home), tags(away)) == ({"landbridge:cluster": "x"}, {"Name": "away"})
