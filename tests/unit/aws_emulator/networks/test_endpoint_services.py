"""Interface endpoints in the emulated AWS: a zone that lacks the service is refused."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import ZONES, Stack

KMS = "com.amazonaws.us-east-1.kms"


def test_an_interface_endpoint_needs_zones_that_have_its_service(
    cloud: EmulatorProcess, ec2: Any, stack: Stack
) -> None:
    cloud.control(without_zones={"kms": [ZONES[1]]})
    vpc = ec2.describe_subnets(SubnetIds=stack.subnets[:1])["Subnets"][0]["VpcId"]

    def create(service: str, subnets: list[str]) -> None:
        ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=service, VpcEndpointType="Interface", SubnetIds=subnets)

    with pytest.raises(ClientError, match=f"does not support the availability zone of the subnet: {stack.subnets[1]}"):
        create(KMS, list(stack.subnets))
    create(KMS, stack.subnets[:1])
    create("com.amazonaws.us-east-1.logs", list(stack.subnets))
    (service,) = ec2.describe_vpc_endpoint_services(ServiceNames=[KMS])["ServiceDetails"]
    assert ZONES[0] in service["AvailabilityZoneIds"] and ZONES[1] not in service["AvailabilityZoneIds"]
