"""EC2's dependency and quota errors, and responses that are lost after the call took effect."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess


def code_of(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    return str(caught.value.response["Error"]["Code"])


class Network:
    """A VPC with one resource of each type that depends on another one."""

    def __init__(self, ec2: Any) -> None:
        self.vpc = ec2.create_vpc(CidrBlock="10.70.0.0/16")["Vpc"]["VpcId"]
        self.subnet = ec2.create_subnet(VpcId=self.vpc, CidrBlock="10.70.1.0/24")["Subnet"]["SubnetId"]
        self.igw = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=self.igw, VpcId=self.vpc)
        self.address = ec2.allocate_address(Domain="vpc")["AllocationId"]
        response = ec2.create_nat_gateway(SubnetId=self.subnet, AllocationId=self.address)
        self.nat = response["NatGateway"]["NatGatewayId"]
        self.group, self.other = (
            ec2.create_security_group(GroupName=name, Description="d", VpcId=self.vpc)["GroupId"] for name in ("a", "b")
        )
        pair = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": self.group}]}]
        ec2.authorize_security_group_ingress(GroupId=self.other, IpPermissions=pair)
        self.tgw = ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
        attached = ec2.create_transit_gateway_vpc_attachment(
            TransitGatewayId=self.tgw, VpcId=self.vpc, SubnetIds=[self.subnet]
        )
        self.attachment = attached["TransitGatewayVpcAttachment"]["TransitGatewayAttachmentId"]
        self.customer = ec2.create_customer_gateway(Type="ipsec.1", BgpAsn=65010, PublicIp="3.3.3.3")
        self.customer = self.customer["CustomerGateway"]["CustomerGatewayId"]
        self.vpn = ec2.create_vpn_connection(
            Type="ipsec.1", CustomerGatewayId=self.customer, TransitGatewayId=self.tgw
        )["VpnConnection"]["VpnConnectionId"]


def test_a_resource_is_deleted_only_after_those_that_depend_on_it(ec2: Any) -> None:
    net = Network(ec2)

    def refused(code: str, call: str, **arguments: Any) -> None:
        assert code_of(lambda: getattr(ec2, call)(**arguments)) == code, call

    refused("DependencyViolation", "delete_vpc", VpcId=net.vpc)
    refused("DependencyViolation", "delete_subnet", SubnetId=net.subnet)
    refused("DependencyViolation", "delete_security_group", GroupId=net.group)
    refused("DependencyViolation", "detach_internet_gateway", InternetGatewayId=net.igw, VpcId=net.vpc)
    refused("DependencyViolation", "delete_internet_gateway", InternetGatewayId=net.igw)
    refused("InvalidIPAddress.InUse", "release_address", AllocationId=net.address)
    refused("IncorrectState", "delete_transit_gateway", TransitGatewayId=net.tgw)
    refused("IncorrectState", "delete_customer_gateway", CustomerGatewayId=net.customer)

    ec2.delete_vpn_connection(VpnConnectionId=net.vpn)
    ec2.delete_customer_gateway(CustomerGatewayId=net.customer)
    refused("IncorrectState", "delete_transit_gateway", TransitGatewayId=net.tgw)
    ec2.delete_transit_gateway_vpc_attachment(TransitGatewayAttachmentId=net.attachment)
    ec2.delete_transit_gateway(TransitGatewayId=net.tgw)
    refused("DependencyViolation", "delete_subnet", SubnetId=net.subnet)
    ec2.delete_nat_gateway(NatGatewayId=net.nat)
    ec2.release_address(AllocationId=net.address)
    ec2.delete_subnet(SubnetId=net.subnet)
    ec2.delete_security_group(GroupId=net.other)
    ec2.delete_security_group(GroupId=net.group)
    refused("DependencyViolation", "delete_vpc", VpcId=net.vpc)
    ec2.detach_internet_gateway(InternetGatewayId=net.igw, VpcId=net.vpc)
    ec2.delete_internet_gateway(InternetGatewayId=net.igw)
    ec2.delete_vpc(VpcId=net.vpc)


@pytest.mark.parametrize(
    ("quota", "code", "call"),
    [
        ("L-F678F1CE", "VpcLimitExceeded", lambda ec2, _: ec2.create_vpc(CidrBlock="10.71.0.0/16")),
        (
            "L-407747CB",
            "SubnetLimitExceeded",
            lambda ec2, net: ec2.create_subnet(VpcId=net.vpc, CidrBlock="10.70.2.0/24"),
        ),
        (
            "L-E79EC296",
            "SecurityGroupLimitExceeded",
            lambda ec2, net: ec2.create_security_group(GroupName="c", Description="d", VpcId=net.vpc),
        ),
        ("L-A4707A72", "InternetGatewayLimitExceeded", lambda ec2, _: ec2.create_internet_gateway()),
        (
            "L-FE5A380F",
            "NatGatewayLimitExceeded",
            lambda ec2, net: ec2.create_nat_gateway(SubnetId=net.subnet, AllocationId=net.address),
        ),
        ("L-0263D0A3", "AddressLimitExceeded", lambda ec2, _: ec2.allocate_address(Domain="vpc")),
        ("L-A2478D36", "TransitGatewayLimitExceeded", lambda ec2, _: ec2.create_transit_gateway()),
        ("L-589F43AA", "RouteTableLimitExceeded", lambda ec2, net: ec2.create_route_table(VpcId=net.vpc)),
        (
            "L-3E6EC3A3",
            "VpnConnectionLimitExceeded",
            lambda ec2, net: ec2.create_vpn_connection(
                Type="ipsec.1", CustomerGatewayId=net.customer, TransitGatewayId=net.tgw
            ),
        ),
    ],
)
def test_an_exceeded_quota_is_an_error(
    cloud: EmulatorProcess, ec2: Any, quota: str, code: str, call: Callable[[Any, Any], Any]
) -> None:
    net = Network(ec2)
    cloud.control(quotas={quota: 1})
    assert code_of(lambda: call(ec2, net)) == code


def test_a_group_has_at_most_sixty_rules_and_a_resource_fifty_tags(cloud: EmulatorProcess, ec2: Any) -> None:
    net = Network(ec2)

    def add(numbers: range) -> None:
        ranges = [{"CidrIp": f"10.9.{number}.0/24"} for number in numbers]
        rule = [{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": ranges}]
        ec2.authorize_security_group_ingress(GroupId=net.group, IpPermissions=rule)

    add(range(60))
    assert code_of(lambda: add(range(60, 61))) == "RulesPerSecurityGroupLimitExceeded"
    cloud.control(quotas={"L-0EA8095F": 61})
    add(range(60, 61))
    assert code_of(lambda: add(range(61, 62))) == "RulesPerSecurityGroupLimitExceeded"
    tags = [{"Key": f"k{number}", "Value": "v"} for number in range(51)]
    assert code_of(lambda: ec2.create_tags(Resources=[net.vpc], Tags=tags)) == "TagLimitExceeded"
    spec = [{"ResourceType": "vpc", "Tags": tags}]
    assert code_of(lambda: ec2.create_vpc(CidrBlock="10.72.0.0/16", TagSpecifications=spec)) == "TagLimitExceeded"


def test_a_route_table_has_at_most_fifty_routes_beside_the_local_one(cloud: EmulatorProcess, ec2: Any) -> None:
    net = Network(ec2)
    table = ec2.create_route_table(VpcId=net.vpc)["RouteTable"]["RouteTableId"]

    def add(number: int) -> None:
        ec2.create_route(RouteTableId=table, DestinationCidrBlock=f"10.9.{number}.0/24", GatewayId=net.igw)

    for number in range(50):
        add(number)
    assert code_of(lambda: add(50)) == "RouteLimitExceeded"
    cloud.control(quotas={"L-93826ACB": 51})
    add(50)


def test_a_fault_after_the_effect_loses_only_the_response(cloud: EmulatorProcess, ec2: Any) -> None:
    before = len(ec2.describe_vpcs()["Vpcs"])
    cloud.control(faults={"CreateVpc": {"code": "InternalError", "status": 500, "after": True}})
    assert code_of(lambda: ec2.create_vpc(CidrBlock="10.73.0.0/16")) == "InternalError"
    assert len(ec2.describe_vpcs()["Vpcs"]) == before + 1
    ec2.create_vpc(CidrBlock="10.74.0.0/16")


def test_calls_are_throttled_with_an_empty_token_bucket(cloud: EmulatorProcess, ec2: Any) -> None:
    cloud.control(buckets={"CreateVpc": [1, 0.001]})
    ec2.create_vpc(CidrBlock="10.75.0.0/16")
    assert code_of(lambda: ec2.create_vpc(CidrBlock="10.76.0.0/16")) == "RequestLimitExceeded"


def test_a_deleted_nat_gateway_removes_its_interface_and_an_endpoint_its_routes(ec2: Any) -> None:
    net = Network(ec2)
    before = {
        network_interface["NetworkInterfaceId"]
        for network_interface in ec2.describe_network_interfaces()["NetworkInterfaces"]
    }
    assert before
    ec2.delete_nat_gateway(NatGatewayId=net.nat)
    assert ec2.describe_network_interfaces()["NetworkInterfaces"] == []

    first, later = (ec2.create_route_table(VpcId=net.vpc)["RouteTable"]["RouteTableId"] for _ in range(2))
    response = ec2.create_vpc_endpoint(
        VpcEndpointType="Gateway", VpcId=net.vpc, ServiceName="com.amazonaws.us-east-1.s3", RouteTableIds=[first]
    )
    endpoint = response["VpcEndpoint"]["VpcEndpointId"]
    ec2.modify_vpc_endpoint(VpcEndpointId=endpoint, AddRouteTableIds=[later])
    assert ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])["Unsuccessful"] == []
    for table in (first, later):
        ec2.delete_route_table(RouteTableId=table)


def test_the_attachment_of_a_vpn_is_not_listed_as_one_of_a_vpc(ec2: Any) -> None:
    network = Network(ec2)
    response = ec2.create_vpn_connection(
        Type="ipsec.1", CustomerGatewayId=network.customer, TransitGatewayId=network.tgw
    )
    assert response["VpnConnection"]["TransitGatewayId"] == network.tgw
    listed = ec2.describe_transit_gateway_vpc_attachments()["TransitGatewayVpcAttachments"]
    assert [
        attachment["TransitGatewayAttachmentId"]
        for attachment in listed
        if attachment["TransitGatewayId"] == network.tgw
    ] == [network.attachment]
