"""The account as a participant in another account's VPC, and customer gateways that are identical."""

from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import Stack
from tests.unit.aws_emulator.instances.test_emulator_launch import error_of, run

OWNER = "210987654321"
REFUSED = (400, "UnauthorizedOperation")


@pytest.fixture
def shared(cloud: EmulatorProcess, stack: Stack) -> Stack:
    cloud.control(owners={stack.vpc: OWNER})
    return stack


def test_a_participant_launches_and_creates_nothing_of_the_vpc(ec2: Any, shared: Stack) -> None:
    (vpc,) = ec2.describe_vpcs(VpcIds=[shared.vpc])["Vpcs"]
    subnets = ec2.describe_subnets(SubnetIds=list(shared.subnets))["Subnets"]
    assert {vpc["OwnerId"], *(subnet["OwnerId"] for subnet in subnets)} == {OWNER}
    filters = [{"Name": "vpc-id", "Values": [shared.vpc]}]
    table = ec2.describe_route_tables(Filters=filters)["RouteTables"][0]["RouteTableId"]
    hub = ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
    endpoint = {"VpcId": shared.vpc, "ServiceName": "com.amazonaws.us-east-1.s3"}
    attachment = {"TransitGatewayId": hub, "VpcId": shared.vpc, "SubnetIds": [shared.subnets[0]]}
    route = {"RouteTableId": table, "DestinationCidrBlock": "10.20.0.0/16", "TransitGatewayId": hub}
    logs = {"ResourceType": "VPC", "TrafficType": "ALL", "LogDestinationType": "s3", "LogDestination": "arn:aws:s3:::x"}
    assert error_of(lambda: ec2.create_vpc_endpoint(**endpoint)) == REFUSED
    assert error_of(lambda: ec2.create_transit_gateway_vpc_attachment(**attachment)) == REFUSED
    assert error_of(lambda: ec2.create_route(**route)) == REFUSED
    assert error_of(lambda: ec2.create_flow_logs(ResourceIds=[shared.vpc], **logs)) == REFUSED
    assert ec2.create_security_group(GroupName="own", Description="own", VpcId=shared.vpc)["GroupId"]
    assert run(ec2, shared, 1, 1)["Instances"]


def test_an_identical_customer_gateway_is_the_existing_one(ec2: Any) -> None:
    def gateway(**values: Any) -> str:
        request = {"Type": "ipsec.1", "IpAddress": "203.0.113.7", "BgpAsn": 65010, **values}
        return str(ec2.create_customer_gateway(**request)["CustomerGateway"]["CustomerGatewayId"])

    first = gateway()
    assert gateway() == first
    others = [gateway(DeviceName="other"), gateway(BgpAsn=65011), gateway(IpAddress="203.0.113.8")]
    assert len({first, *others}) == 4
    ec2.delete_customer_gateway(CustomerGatewayId=first)
    assert gateway() != first
