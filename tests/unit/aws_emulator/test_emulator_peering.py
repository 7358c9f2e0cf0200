"""Transit gateway peering between regions: EC2's errors, and the same view in both regions."""

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.aws_emulator.test_emulator_transit import code_of

OFF = {"DefaultRouteTableAssociation": "disable", "DefaultRouteTablePropagation": "disable"}


class Side:
    """A transit gateway with a route table."""

    def __init__(self, cloud: EmulatorProcess, region: str) -> None:
        self.region, self.ec2 = region, client_of(cloud, "ec2", region=region)
        self.id = self.ec2.create_transit_gateway(Options=OFF)["TransitGateway"]["TransitGatewayId"]
        made = self.ec2.create_transit_gateway_route_table(TransitGatewayId=self.id)["TransitGatewayRouteTable"]
        self.table = made["TransitGatewayRouteTableId"]

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
        found = self.ec2.describe_transit_gateway_peering_attachments()["TransitGatewayPeeringAttachments"]
        return {one["TransitGatewayAttachmentId"]: one["State"] for one in found}

    def pair(self, attachment: str) -> dict[str, str]:
        return {"TransitGatewayAttachmentId": attachment, "TransitGatewayRouteTableId": self.table}

    def route(self, cidr: str, attachment: str) -> dict[str, str]:
        return {**self.pair(attachment), "DestinationCidrBlock": cidr}

    def routes(self) -> dict[str, str]:
        filters = [{"Name": "type", "Values": ["static"]}]
        found = self.ec2.search_transit_gateway_routes(TransitGatewayRouteTableId=self.table, Filters=filters)
        return {route["DestinationCidrBlock"]: route["State"] for route in found["Routes"]}


@pytest.fixture
def sides(cloud: EmulatorProcess) -> tuple[Side, Side]:
    return Side(cloud, "us-east-1"), Side(cloud, "us-east-2")


@pytest.fixture
def peered(sides: tuple[Side, Side]) -> tuple[Side, Side, str]:
    home, away = sides
    id_ = home.peer(away)
    away.accept(id_)
    return home, away, id_


def test_it_is_of_use_once_the_other_region_has_accepted_it(sides: tuple[Side, Side]) -> None:
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


def test_both_gateways_are_there_and_two(sides: tuple[Side, Side]) -> None:
    home, away = sides
    make = home.ec2.create_transit_gateway_peering_attachment
    known = {"TransitGatewayId": home.id, "PeerRegion": away.region, "PeerAccountId": "123456789012"}
    # An id of the wrong region is no id.
    assert code_of(make, **known, PeerTransitGatewayId=home.id) == "InvalidTransitGatewayID.NotFound"
    assert code_of(make, **{**known, "TransitGatewayId": away.id}, PeerTransitGatewayId=away.id) == (
        "InvalidTransitGatewayID.NotFound"
    )
    home.peer(away)
    assert code_of(make, **known, PeerTransitGatewayId=away.id) == "DuplicateTransitGatewayAttachment"


def test_nothing_is_propagated_through_it(peered: tuple[Side, Side, str]) -> None:
    home, _, id_ = peered
    propagate = home.ec2.enable_transit_gateway_route_table_propagation
    assert code_of(propagate, **home.pair(id_)) == "InvalidParameterValue"


def test_a_range_is_in_a_table_once_and_leads_somewhere(peered: tuple[Side, Side, str]) -> None:
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
    strange = {**home.route("10.2.0.0/16", id_), "TransitGatewayRouteTableId": other["TransitGatewayRouteTableId"]}
    assert code_of(add, **strange) == "InvalidParameterValue"
    remove = home.ec2.delete_transit_gateway_route
    key = {"TransitGatewayRouteTableId": home.table, "DestinationCidrBlock": "10.1.0.0/16"}
    remove(**key)
    assert code_of(remove, **key) == "InvalidRoute.NotFound"


def test_a_gateway_with_a_peering_stays_whichever_side_asked_for_it(peered: tuple[Side, Side, str]) -> None:
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


def test_a_route_tells_where_it_leads_until_its_attachment_goes(peered: tuple[Side, Side, str]) -> None:
    home, _, id_ = peered
    home.ec2.create_transit_gateway_route(**home.route("10.1.0.0/16", id_))
    vpc = home.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = home.ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    response = home.ec2.create_transit_gateway_vpc_attachment(TransitGatewayId=home.id, VpcId=vpc, SubnetIds=[subnet])
    own = response["TransitGatewayVpcAttachment"]["TransitGatewayAttachmentId"]
    home.ec2.create_transit_gateway_route(**home.route("10.9.0.0/16", own))
    assert ways(home) == {"10.1.0.0/16": (id_, "active"), "10.9.0.0/16": (own, "active")}
    home.ec2.delete_transit_gateway_vpc_attachment(TransitGatewayAttachmentId=own)
    assert ways(home)["10.9.0.0/16"] == (own, "blackhole")


def ways(side: Side) -> dict[str, tuple[str, str]]:
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


def test_peerings_are_asked_for_by_either_gateway(peered: tuple[Side, Side, str]) -> None:
    home, away, id_ = peered
    ask = home.ec2.describe_transit_gateway_peering_attachments

    def of(name: str, *values: str) -> list[str]:
        found = ask(Filters=[{"Name": name, "Values": list(values)}])["TransitGatewayPeeringAttachments"]
        return [one["TransitGatewayAttachmentId"] for one in found]

    assert of("transit-gateway-id", home.id) == of("transit-gateway-id", away.id) == [id_]
    assert of("transit-gateway-id", "tgw-0123456789abcdef0") == of("state", "pendingAcceptance") == []
    assert of("tag:landbridge:cluster", "x") == [id_]
    assert code_of(ask, Filters=[{"Name": "peer", "Values": ["x"]}]) == "InvalidParameterValue"


def test_each_side_has_tags_of_its_own(peered: tuple[Side, Side, str]) -> None:
    home, away, id_ = peered

    def tags(side: Side) -> dict[str, str]:
        (found,) = side.ec2.describe_transit_gateway_peering_attachments()["TransitGatewayPeeringAttachments"]
        return {tag["Key"]: tag["Value"] for tag in found["Tags"]}

    assert (tags(home), tags(away)) == ({"landbridge:cluster": "x"}, {})
    away.ec2.create_tags(Resources=[id_], Tags=[{"Key": "Name", "Value": "there"}])
    assert (tags(home), tags(away)) == ({"landbridge:cluster": "x"}, {"Name": "there"})
