"""Transit gateway peering attachments, their accepters, and static routes."""

from typing import Any

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, found, gone
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource


class TransitGatewayPeeringResource(Ec2Resource):
    token = "aws:ec2transitgateway/peeringAttachment:PeeringAttachment"
    cloudformation = CloudFormationType("AWS::EC2::TransitGatewayPeeringAttachment")
    replaces = frozenset({"options", "peerAccountId", "peerRegion", "peerTransitGatewayId", "transitGatewayId"})
    resource_type = "transit-gateway-attachment"
    describe = (
        "describe_transit_gateway_peering_attachments",
        "TransitGatewayPeeringAttachments",
        "TransitGatewayAttachmentIds",
    )
    remove = ("delete_transit_gateway_peering_attachment", "TransitGatewayAttachmentId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        made = self.ec2.create_transit_gateway_peering_attachment(
            TransitGatewayId=news["transitGatewayId"],
            PeerTransitGatewayId=news["peerTransitGatewayId"],
            PeerRegion=news["peerRegion"],
            PeerAccountId=news.get("peerAccountId") or self.cloud.account,
            **self.tagging(news),
        )["TransitGatewayPeeringAttachment"]
        return made["TransitGatewayAttachmentId"], self.computed(made["TransitGatewayAttachmentId"], made)

    def computed(self, id_: str, item: Any) -> Bag:
        return {**super().computed(id_, item), "state": item["State"]}

    def observed(self, item: Any) -> Bag:
        ours, theirs = item["RequesterTgwInfo"], item["AccepterTgwInfo"]
        return {
            "transitGatewayId": ours["TransitGatewayId"],
            "peerTransitGatewayId": theirs["TransitGatewayId"],
            "peerRegion": theirs["Region"],
        }


class TransitGatewayPeeringAccepterResource(Ec2Resource):
    """The other side's consent. Its id is the attachment's; removing it ends the peering, as the real provider does."""

    token = "aws:ec2transitgateway/peeringAttachmentAccepter:PeeringAttachmentAccepter"
    cloudformation = None
    replaces = frozenset({"transitGatewayAttachmentId"})
    resource_type = TransitGatewayPeeringResource.resource_type
    describe = TransitGatewayPeeringResource.describe
    remove = TransitGatewayPeeringResource.remove

    def create(self, news: Bag) -> tuple[str, Bag]:
        id_ = news["transitGatewayAttachmentId"]
        self.ec2.accept_transit_gateway_peering_attachment(TransitGatewayAttachmentId=id_)
        self.retag(id_, {}, news)
        return id_, self.computed(id_, self.describes(id_))

    def computed(self, id_: str, item: Any) -> Bag:
        ours, theirs = item["AccepterTgwInfo"], item["RequesterTgwInfo"]
        return {
            "peerAccountId": theirs["OwnerId"],
            "peerTransitGatewayId": theirs["TransitGatewayId"],
            "transitGatewayId": ours["TransitGatewayId"],
        }

    def observed(self, item: Any) -> Bag:
        return {"transitGatewayAttachmentId": item["TransitGatewayAttachmentId"]}


class TransitGatewayRouteResource(AwsResource):
    """A static route. Its id is the provider's own: table, underscore, range."""

    token = "aws:ec2transitgateway/route:Route"
    cloudformation = CloudFormationType("AWS::EC2::TransitGatewayRoute")
    replaces = frozenset(
        {"blackhole", "destinationCidrBlock", "transitGatewayAttachmentId", "transitGatewayRouteTableId"}
    )

    def create(self, news: Bag) -> tuple[str, Bag]:
        attachment = news.get("transitGatewayAttachmentId")
        way = {"TransitGatewayAttachmentId": attachment} if attachment else {"Blackhole": True}
        self.ec2.create_transit_gateway_route(**self._key(news), **way)
        return f"{news['transitGatewayRouteTableId']}_{news['destinationCidrBlock']}", {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        table, _, cidr = id_.partition("_")
        filters = [{"Name": "type", "Values": ["static"]}, {"Name": "route-search.exact-match", "Values": [cidr]}]
        search = self.ec2.search_transit_gateway_routes
        route = found(search, "Routes", TransitGatewayRouteTableId=table, Filters=filters)
        if route is None:
            return None
        ways = route.get("TransitGatewayAttachments") or [{}]
        attached = ways[0].get("TransitGatewayAttachmentId")
        return {
            "transitGatewayRouteTableId": table,
            "destinationCidrBlock": cidr,
            **({"transitGatewayAttachmentId": attached} if attached else {"blackhole": True}),
        }

    def delete(self, id_: str, state: Bag) -> None:
        gone(self.ec2.delete_transit_gateway_route, **self._key(state))

    @staticmethod
    def _key(bag: Bag) -> dict[str, str]:
        return {
            "TransitGatewayRouteTableId": bag["transitGatewayRouteTableId"],
            "DestinationCidrBlock": bag["destinationCidrBlock"],
        }
