"""Transit gateway route tables, associations and propagations."""

from typing import Any

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, first_or_none, ignore_missing
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource

_PAIR = frozenset({"transitGatewayAttachmentId", "transitGatewayRouteTableId"})


class TransitGatewayRouteTableResource(Ec2Resource):
    token = "aws:ec2transitgateway/routeTable:RouteTable"
    cloudformation = CloudFormationType("AWS::EC2::TransitGatewayRouteTable")
    replaces = frozenset({"transitGatewayId"})
    resource_type = "transit-gateway-route-table"
    describe = ("describe_transit_gateway_route_tables", "TransitGatewayRouteTables", "TransitGatewayRouteTableIds")
    remove = ("delete_transit_gateway_route_table", "TransitGatewayRouteTableId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        response = self.ec2.create_transit_gateway_route_table(
            TransitGatewayId=news["transitGatewayId"], **self.tagging(news)
        )
        id_ = response["TransitGatewayRouteTable"]["TransitGatewayRouteTableId"]
        return id_, self.computed(id_, response["TransitGatewayRouteTable"])

    def computed(self, id_: str, item: Any) -> Bag:
        defaults = {"defaultAssociationRouteTable": False, "defaultPropagationRouteTable": False}
        return {**super().computed(id_, item), **defaults}

    def observed(self, item: Any) -> Bag:
        return {"transitGatewayId": item["TransitGatewayId"]}


class _Relation(AwsResource):
    """Relation of an attachment and a route table.

    Its id has the provider's form: table id, underscore, attachment id.
    """

    replaces = _PAIR

    def pair(self, bag: Bag) -> dict[str, str]:
        return {
            "TransitGatewayAttachmentId": bag["transitGatewayAttachmentId"],
            "TransitGatewayRouteTableId": bag["transitGatewayRouteTableId"],
        }

    def created(self, news: Bag, answer: Any) -> tuple[str, Bag]:
        id_ = f"{news['transitGatewayRouteTableId']}_{news['transitGatewayAttachmentId']}"
        return id_, {"resourceId": answer.get("ResourceId"), "resourceType": answer.get("ResourceType")}

    def seen(self, call: Any, key: str, state: Bag) -> Bag | None:
        attachment_filter = {"Name": "transit-gateway-attachment-id", "Values": [state["transitGatewayAttachmentId"]]}
        item = first_or_none(
            call, key, TransitGatewayRouteTableId=state["transitGatewayRouteTableId"], Filters=[attachment_filter]
        )
        if item is None:
            return None
        attached = {"resourceId": item.get("ResourceId"), "resourceType": item.get("ResourceType")}
        return {**attached, **{key: state[key] for key in _PAIR}}


class TransitGatewayRouteTableAssociationResource(_Relation):
    token = "aws:ec2transitgateway/routeTableAssociation:RouteTableAssociation"
    cloudformation = CloudFormationType("AWS::EC2::TransitGatewayRouteTableAssociation")
    replaces = _PAIR | {"replaceExistingAssociation"}

    def create(self, news: Bag) -> tuple[str, Bag]:
        return self.created(news, self.ec2.associate_transit_gateway_route_table(**self.pair(news))["Association"])

    def read(self, id_: str, state: Bag) -> Bag | None:
        return self.seen(self.ec2.get_transit_gateway_route_table_associations, "Associations", state)

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.ec2.disassociate_transit_gateway_route_table, **self.pair(state))


class TransitGatewayRouteTablePropagationResource(_Relation):
    token = "aws:ec2transitgateway/routeTablePropagation:RouteTablePropagation"
    cloudformation = CloudFormationType("AWS::EC2::TransitGatewayRouteTablePropagation")

    def create(self, news: Bag) -> tuple[str, Bag]:
        response = self.ec2.enable_transit_gateway_route_table_propagation(**self.pair(news))
        return self.created(news, response["Propagation"])

    def read(self, id_: str, state: Bag) -> Bag | None:
        call = self.ec2.get_transit_gateway_route_table_propagations
        return self.seen(call, "TransitGatewayRouteTablePropagations", state)

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.ec2.disable_transit_gateway_route_table_propagation, **self.pair(state))
