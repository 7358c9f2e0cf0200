"""VPCs, subnets, VPC endpoints, internet gateways, elastic IP addresses and NAT gateways."""

from typing import Any

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    first_or_none,
    ignore_missing,
)
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource
from sandbox.pulumi_provider.aws.identity.iam import same_document


class VpcResource(Ec2Resource):
    token = "aws:ec2/vpc:Vpc"
    cloudformation = CloudFormationType("AWS::EC2::VPC")
    replaces = frozenset({"cidrBlock"})
    resource_type = "vpc"
    describe = ("describe_vpcs", "Vpcs", "VpcIds")
    remove = ("delete_vpc", "VpcId")
    owner = "ownerId"

    def create(self, news: Bag) -> tuple[str, Bag]:
        vpc = self.ec2.create_vpc(CidrBlock=news["cidrBlock"], **self.tagging(news))["Vpc"]
        id_ = self.exists(vpc["VpcId"])
        self._attributes(id_, news)
        return id_, self.computed(id_, vpc)

    def computed(self, id_: str, item: Any) -> Bag:
        default = first_or_none(
            self.ec2.describe_security_groups,
            "SecurityGroups",
            Filters=[{"Name": "vpc-id", "Values": [id_]}, {"Name": "group-name", "Values": ["default"]}],
        )
        main = first_or_none(
            self.ec2.describe_route_tables,
            "RouteTables",
            Filters=[{"Name": "vpc-id", "Values": [id_]}, {"Name": "association.main", "Values": ["true"]}],
        )
        return {
            **super().computed(id_, item),
            "instanceTenancy": "default",
            "defaultSecurityGroupId": default and default["GroupId"],
            "mainRouteTableId": main and main["RouteTableId"],
        }

    def _attributes(self, id_: str, news: Bag) -> None:
        # EC2 accepts one attribute per call.
        for key, parameter in (("enableDnsSupport", "EnableDnsSupport"), ("enableDnsHostnames", "EnableDnsHostnames")):
            if key in news:
                self.ec2.modify_vpc_attribute(VpcId=id_, **{parameter: {"Value": news[key]}})

    def observed(self, item: Any) -> Bag:
        seen: Bag = {"cidrBlock": item["CidrBlock"]}
        for key in ("enableDnsSupport", "enableDnsHostnames"):
            answer = self.ec2.describe_vpc_attribute(VpcId=item["VpcId"], Attribute=key)
            seen[key] = answer[key[0].upper() + key[1:]]["Value"]
        return seen

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        self._attributes(id_, news)
        return super().update(id_, state, news, changed - {"enableDnsSupport", "enableDnsHostnames"})


class VpcIpv4CidrBlockAssociationResource(AwsResource):
    token = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
    cloudformation = CloudFormationType("AWS::EC2::VPCCidrBlock")
    replaces = frozenset({"vpcId", "cidrBlock"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        response = self.ec2.associate_vpc_cidr_block(VpcId=news["vpcId"], CidrBlock=news["cidrBlock"])
        return response["CidrBlockAssociation"]["AssociationId"], {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        vpc = first_or_none(self.ec2.describe_vpcs, "Vpcs", VpcIds=[state["vpcId"]])
        associations = {row["AssociationId"]: row for row in (vpc or {}).get("CidrBlockAssociationSet", [])}
        association = associations.get(id_)
        if association is None or association["CidrBlockState"]["State"].startswith("disassoc"):
            return None
        return {"vpcId": state["vpcId"], "cidrBlock": association["CidrBlock"]}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.ec2.disassociate_vpc_cidr_block, AssociationId=id_)


class SubnetResource(Ec2Resource):
    token = "aws:ec2/subnet:Subnet"
    cloudformation = CloudFormationType("AWS::EC2::Subnet")
    replaces = frozenset({"vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId"})
    resource_type = "subnet"
    describe = ("describe_subnets", "Subnets", "SubnetIds")
    remove = ("delete_subnet", "SubnetId")
    owner = "ownerId"

    def create(self, news: Bag) -> tuple[str, Bag]:
        zone = {
            parameter: news[key]
            for key, parameter in (
                ("availabilityZone", "AvailabilityZone"),
                ("availabilityZoneId", "AvailabilityZoneId"),
            )
            if key in news
        }
        response = self.ec2.create_subnet(
            VpcId=news["vpcId"], CidrBlock=news["cidrBlock"], **zone, **self.tagging(news)
        )
        id_ = self.exists(response["Subnet"]["SubnetId"])
        if news.get("mapPublicIpOnLaunch"):
            self._public(id_, news)
        return id_, {"arn": self.arn_of(id_), "ownerId": self.cloud.account, **self.observed(response["Subnet"])}

    def _public(self, id_: str, news: Bag) -> None:
        self.ec2.modify_subnet_attribute(
            SubnetId=id_, MapPublicIpOnLaunch={"Value": bool(news.get("mapPublicIpOnLaunch"))}
        )

    def observed(self, item: Any) -> Bag:
        return {
            "vpcId": item["VpcId"],
            "cidrBlock": item["CidrBlock"],
            "availabilityZone": item["AvailabilityZone"],
            "availabilityZoneId": item["AvailabilityZoneId"],
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "mapPublicIpOnLaunch" in changed:
            self._public(id_, news)
        return super().update(id_, state, news, changed - {"mapPublicIpOnLaunch"})


class VpcEndpointResource(Ec2Resource):
    token = "aws:ec2/vpcEndpoint:VpcEndpoint"
    cloudformation = CloudFormationType("AWS::EC2::VPCEndpoint")
    replaces = frozenset({"vpcId", "serviceName", "vpcEndpointType"})
    resource_type = "vpc-endpoint"
    describe = ("describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointIds")
    remove = ("delete_vpc_endpoints", "VpcEndpointIds")
    owner = "ownerId"

    def create(self, news: Bag) -> tuple[str, Bag]:
        if news.get("vpcEndpointType", "Gateway") != "Gateway":
            raise ProviderError("the sandbox has gateway endpoints only")
        vpc_endpoint = self.ec2.create_vpc_endpoint(
            VpcId=news["vpcId"],
            ServiceName=news["serviceName"],
            VpcEndpointType="Gateway",
            RouteTableIds=news.get("routeTableIds", []),
            **({"PolicyDocument": news["policy"]} if news.get("policy") else {}),
            **self.tagging(news),
        )["VpcEndpoint"]
        id_ = vpc_endpoint["VpcEndpointId"]
        return id_, {**self.computed(id_, vpc_endpoint), "state": "available"}

    def observed(self, item: Any) -> Bag:
        return {
            "state": str(item.get("State", "available")).lower(),
            "serviceName": item["ServiceName"],
            "vpcId": item["VpcId"],
            "routeTableIds": item.get("RouteTableIds", []),
            "policy": item.get("PolicyDocument"),
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = super().read(id_, state)
        if seen is not None and state.get("policy") and seen["policy"]:
            seen["policy"] = same_document(state["policy"], seen["policy"])
        return seen

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if "policy" in changed:
            policy = {"PolicyDocument": news["policy"]} if news.get("policy") else {"ResetPolicy": True}
            self.ec2.modify_vpc_endpoint(VpcEndpointId=id_, **policy)
        before, after = set(state.get("routeTableIds", [])), set(news.get("routeTableIds", []))
        if before != after:
            self.ec2.modify_vpc_endpoint(
                VpcEndpointId=id_, AddRouteTableIds=sorted(after - before), RemoveRouteTableIds=sorted(before - after)
            )
        return super().update(id_, state, news, changed - {"routeTableIds", "policy"})

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.ec2.delete_vpc_endpoints, VpcEndpointIds=[id_])


class InternetGatewayResource(Ec2Resource):
    token = "aws:ec2/internetGateway:InternetGateway"
    cloudformation = CloudFormationType("AWS::EC2::InternetGateway")
    replaces = frozenset({"vpcId"})
    resource_type = "internet-gateway"
    describe = ("describe_internet_gateways", "InternetGateways", "InternetGatewayIds")
    remove = ("delete_internet_gateway", "InternetGatewayId")
    owner = "ownerId"

    def create(self, news: Bag) -> tuple[str, Bag]:
        id_ = self.ec2.create_internet_gateway(**self.tagging(news))["InternetGateway"]["InternetGatewayId"]
        self.finish(self.exists(id_), news)
        return id_, {"arn": self.arn_of(id_), "ownerId": self.cloud.account}

    def finish(self, id_: str, news: Bag) -> None:
        if "vpcId" in news and not (self.describes(id_) or {}).get("Attachments"):
            self.ec2.attach_internet_gateway(InternetGatewayId=id_, VpcId=news["vpcId"])

    def delete(self, id_: str, state: Bag) -> None:
        item = self.describes(id_)
        for attachment in (item or {}).get("Attachments", []):
            self.ec2.detach_internet_gateway(InternetGatewayId=id_, VpcId=attachment["VpcId"])
        super().delete(id_, state)


class EipResource(Ec2Resource):
    token = "aws:ec2/eip:Eip"
    cloudformation = CloudFormationType("AWS::EC2::EIP")
    replaces = frozenset({"domain"})
    resource_type = "elastic-ip"
    describe = ("describe_addresses", "Addresses", "AllocationIds")
    remove = ("release_address", "AllocationId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        response = self.ec2.allocate_address(Domain="vpc", **self.tagging(news))
        return response["AllocationId"], self.computed(response["AllocationId"], response)

    def computed(self, id_: str, item: Any) -> Bag:
        return {**super().computed(id_, item), "allocationId": id_, "publicIp": item["PublicIp"]}


class NatGatewayResource(Ec2Resource):
    token = "aws:ec2/natGateway:NatGateway"
    cloudformation = CloudFormationType("AWS::EC2::NatGateway")
    replaces = frozenset({"subnetId", "allocationId", "connectivityType"})
    resource_type = "natgateway"
    describe = ("describe_nat_gateways", "NatGateways", "NatGatewayIds")
    remove = ("delete_nat_gateway", "NatGatewayId")

    def create(self, news: Bag) -> tuple[str, Bag]:
        nat_gateway = self.ec2.create_nat_gateway(
            SubnetId=news["subnetId"], AllocationId=news["allocationId"], **self.tagging(news)
        )["NatGateway"]
        return nat_gateway["NatGatewayId"], {"arn": self.arn_of(nat_gateway["NatGatewayId"])}
