"""Eventual consistency: a new resource is missing by id and in lists for some calls; delayed responses are unchanged."""

import time
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of


def refused(call: Any, **arguments: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    return str(caught.value.response["Error"]["Code"])


def test_a_new_vpc_is_not_found_for_the_set_number_of_calls(cloud: EmulatorProcess, ec2: Any) -> None:
    old = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    cloud.control(lag=2)
    tags = [{"ResourceType": "vpc", "Tags": [{"Key": "name", "Value": "new"}]}]
    new = ec2.create_vpc(CidrBlock="10.2.0.0/16", TagSpecifications=tags)["Vpc"]["VpcId"]
    assert [refused(ec2.describe_vpcs, VpcIds=[new]) for _ in range(2)] == ["InvalidVpcID.NotFound"] * 2
    assert ec2.describe_vpcs(VpcIds=[new])["Vpcs"][0]["Tags"] == [{"Key": "name", "Value": "new"}]

    # Lists omit it for the same number of calls, and show older resources; calls that use it fail in the same way.
    net = ec2.create_subnet(VpcId=new, CidrBlock="10.2.1.0/24")["Subnet"]["SubnetId"]
    listed = [{subnet["SubnetId"] for subnet in ec2.describe_subnets()["Subnets"]} for _ in range(3)]
    assert [net in subnet_ids for subnet_ids in listed] == [False, False, True] and listed[0]
    assert old in {vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"]}
    third = ec2.create_vpc(CidrBlock="10.3.0.0/16")["Vpc"]["VpcId"]
    assert refused(ec2.create_subnet, VpcId=third, CidrBlock="10.3.1.0/24") == "InvalidVpcID.NotFound"
    cloud.control(reset=True)
    ec2.create_subnet(VpcId=third, CidrBlock="10.3.1.0/24")


def test_a_new_role_is_not_found_by_its_name_at_first(cloud: EmulatorProcess) -> None:
    iam = client_of(cloud, "iam")
    cloud.control(lag=1)
    iam.create_role(RoleName="late", AssumeRolePolicyDocument='{"Version": "2012-10-17", "Statement": []}')
    assert refused(iam.get_role, RoleName="late") == "NoSuchEntity"
    assert iam.get_role(RoleName="late")["Role"]["RoleName"] == "late"


def test_a_delayed_response_is_unchanged_and_an_injected_error_has_no_effect(cloud: EmulatorProcess, ec2: Any) -> None:
    cloud.control(
        faults={"CreateVpc": [{"hold": 0.3, "after": True}, {"hold": 0.3, "code": "Unavailable", "status": 503}]}
    )
    before, started = len(ec2.describe_vpcs()["Vpcs"]), time.monotonic()
    assert ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"] and time.monotonic() - started >= 0.3
    assert refused(ec2.create_vpc, CidrBlock="10.2.0.0/16") == "Unavailable"
    assert len(ec2.describe_vpcs()["Vpcs"]) == before + 1
