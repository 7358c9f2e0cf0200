"""VPC route tables, routes and subnet associations."""

import hashlib
from typing import Any

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, first_or_none, ignore_missing
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource

#: Target of a route: Pulumi's name and EC2's parameter, which is also EC2's name in a description.
TARGETS = {
    "gatewayId": "GatewayId",
    "natGatewayId": "NatGatewayId",
    "transitGatewayId": "TransitGatewayId",
    "networkInterfaceId": "NetworkInterfaceId",
}


class RouteTableResource(Ec2Resource):
    token = "aws:ec2/routeTable:RouteTable"
    cloudformation = CloudFormationType("AWS::EC2::RouteTable")
    replaces = frozenset({"vpcId"})
    resource_type = "route-table"
    describe = ("describe_route_tables", "RouteTables", "RouteTableIds")
    remove = ("delete_route_table", "RouteTableId")
    owner = "ownerId"

    def create(self, news: Bag) -> tuple[str, Bag]:
        id_ = self.ec2.create_route_table(VpcId=news["vpcId"], **self.tagging(news))["RouteTable"]["RouteTableId"]
        return id_, {"arn": self.arn_of(id_), "ownerId": self.cloud.account}

    def observed(self, item: Any) -> Bag:
        return {"vpcId": item["VpcId"]}


class RouteTableAssociationResource(AwsResource):
    token = "aws:ec2/routeTableAssociation:RouteTableAssociation"
    cloudformation = CloudFormationType("AWS::EC2::SubnetRouteTableAssociation")
    replaces = frozenset({"subnetId", "routeTableId", "gatewayId"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        response = self.ec2.associate_route_table(RouteTableId=news["routeTableId"], SubnetId=news["subnetId"])
        return response["AssociationId"], {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        table = first_or_none(self.ec2.describe_route_tables, "RouteTables", RouteTableIds=[state["routeTableId"]])
        known = {a["RouteTableAssociationId"]: a for a in (table or {}).get("Associations", [])}
        return {"subnetId": known[id_].get("SubnetId")} if id_ in known else None

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.ec2.disassociate_route_table, AssociationId=id_)


class RouteResource(AwsResource):
    token = "aws:ec2/route:Route"
    cloudformation = CloudFormationType("AWS::EC2::Route")
    replaces = frozenset({"routeTableId", "destinationCidrBlock", *TARGETS})

    def create(self, news: Bag) -> tuple[str, Bag]:
        target = {TARGETS[key]: news[key] for key in TARGETS if key in news}
        destination = news["destinationCidrBlock"]
        self.ec2.create_route(RouteTableId=news["routeTableId"], DestinationCidrBlock=destination, **target)
        short = hashlib.sha256(destination.encode()).hexdigest()[:10]
        return f"r-{news['routeTableId']}{short}", {"state": "active", "origin": "CreateRoute"}

    def read(self, id_: str, state: Bag) -> Bag | None:
        table = first_or_none(self.ec2.describe_route_tables, "RouteTables", RouteTableIds=[state["routeTableId"]])
        for route in (table or {}).get("Routes", []):
            if route.get("DestinationCidrBlock") == state["destinationCidrBlock"]:
                outputs = {"state": route.get("State", "active"), "origin": route.get("Origin", "CreateRoute")}
                return {
                    **outputs,
                    **{key: route[name] for key, name in TARGETS.items() if name in route and key in state},
                }
        return None

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(
            self.ec2.delete_route,
            RouteTableId=state["routeTableId"],
            DestinationCidrBlock=state["destinationCidrBlock"],
        )
