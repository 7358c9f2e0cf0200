"""Transit gateway peering attachments, their accepters, and static routes."""

from typing import Any

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, first_or_none, ignore_missing
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
        attachment = self.ec2.create_transit_gateway_peering_attachment(
            TransitGatewayId=news["transitGatewayId"],
            PeerTransitGatewayId=news["peerTransitGatewayId"],
            PeerRegion=news["peerRegion"],
            PeerAccountId=news.get("peerAccountId") or self.cloud.account,
            **self.tagging(news),
        )["TransitGatewayPeeringAttachment"]
        return attachment["TransitGatewayAttachmentId"], self.computed(
            attachment["TransitGatewayAttachmentId"], attachment
        )

    def computed(self, id_: str, item: Any) -> Bag:
        return {**super().computed(id_, item), "state": item["State"]}

    def observed(self, item: Any) -> Bag:
        requester, accepter = item["RequesterTgwInfo"], item["AccepterTgwInfo"]
        return {
            "transitGatewayId": requester["TransitGatewayId"],
            "peerTransitGatewayId": accepter["TransitGatewayId"],
            "peerRegion": accepter["Region"],
        }


class TransitGatewayPeeringAccepterResource(Ec2Resource):
    """Acceptance of a peering attachment.

    Its id is the attachment's; its deletion deletes the peering, as in the real provider.
    """

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
        accepter, requester = item["AccepterTgwInfo"], item["RequesterTgwInfo"]
        return {
            "peerAccountId": requester["OwnerId"],
            "peerTransitGatewayId": requester["TransitGatewayId"],
            "transitGatewayId": accepter["TransitGatewayId"],
        }

    def observed(self, item: Any) -> Bag:
        return {"transitGatewayAttachmentId": item["TransitGatewayAttachmentId"]}


class TransitGatewayRouteResource(AwsResource):
    """Static route of a transit gateway. Its id has the provider's form: table id, underscore, CIDR block."""

    token = "aws:ec2transitgateway/route:Route"
    cloudformation = CloudFormationType("AWS::EC2::TransitGatewayRoute")
    replaces = frozenset(
        {"blackhole", "destinationCidrBlock", "transitGatewayAttachmentId", "transitGatewayRouteTableId"}
    )

    def create(self, news: Bag) -> tuple[str, Bag]:
        attachment = news.get("transitGatewayAttachmentId")
        target = {"TransitGatewayAttachmentId": attachment} if attachment else {"Blackhole": True}
        self.ec2.create_transit_gateway_route(**self._key(news), **target)
        return f"{news['transitGatewayRouteTableId']}_{news['destinationCidrBlock']}", {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        table, _, cidr = id_.partition("_")
        filters = [{"Name": "type", "Values": ["static"]}, {"Name": "route-search.exact-match", "Values": [cidr]}]
        search = self.ec2.search_transit_gateway_routes
        route = first_or_none(search, "Routes", TransitGatewayRouteTableId=table, Filters=filters)
        if route is None:
            return None
        attachments = route.get("TransitGatewayAttachments") or [{}]
        attachment_id = attachments[0].get("TransitGatewayAttachmentId")
        return {
            "transitGatewayRouteTableId": table,
            "destinationCidrBlock": cidr,
            **({"transitGatewayAttachmentId": attachment_id} if attachment_id else {"blackhole": True}),
        }

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.ec2.delete_transit_gateway_route, **self._key(state))

    @staticmethod
    def _key(bag: Bag) -> dict[str, str]:
        return {
            "TransitGatewayRouteTableId": bag["transitGatewayRouteTableId"],
            "DestinationCidrBlock": bag["destinationCidrBlock"],
        }
