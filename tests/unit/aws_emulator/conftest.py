"""An emulated AWS on a free loopback port, with a network and a launch template in it."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from sandbox.aws_emulator.process import EmulatorProcess, running

IMAGE = "ami-0a11ce5a9db0c5000"
ZONES = ("use1-az4", "use1-az6")
ONCE = Config(retries={"mode": "standard", "total_max_attempts": 1}, connect_timeout=3, read_timeout=20)


@dataclass(frozen=True)
class Stack:
    """Resources that Pulumi would create for the tests."""

    vpc: str
    subnets: tuple[str, str]
    group: str
    template: str


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    options = ["--imds", "127.0.0.1:0", "--require-credentials", "--boot-delay", "0"]
    with running(tmp_path_factory.mktemp("cloud"), "--with-parent", *options) as cloud:
        yield cloud


@pytest.fixture
def cloud(emulator: EmulatorProcess) -> EmulatorProcess:
    """Return the emulator of the session without resources."""
    emulator.control(wipe=True, boot=0)
    return emulator


@functools.cache
def client_of(cloud: EmulatorProcess, service: str, credentials: Path | None = None, region: str = "us-east-1") -> Any:
    """Return a boto3 client without retries, with the operator's keys (cached: its creation takes half a second)."""
    lines = (credentials or cloud.operator_credentials).read_text().splitlines()
    values = dict(line.split(" = ") for line in lines if " = " in line)
    session = boto3.session.Session(region_name=region, **values)
    return session.client(service, endpoint_url=cloud.endpoint, config=ONCE)


@pytest.fixture
def ec2(cloud: EmulatorProcess) -> Any:
    return client_of(cloud, "ec2")


def build(ec2: Any, profile: str | None = None) -> Stack:
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    subnets = tuple(
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.60.{64 * i}.0/18", AvailabilityZoneId=zone)["Subnet"]["SubnetId"]
        for i, zone in enumerate(ZONES)
    )
    group = ec2.create_security_group(GroupName="p5", Description="p5", VpcId=vpc)["GroupId"]
    nics = [{"DeviceIndex": min(card, 1), "NetworkCardIndex": card, "Groups": [group]} for card in range(32)]
    data: dict[str, Any] = {
        "ImageId": IMAGE,
        "InstanceType": "p5.48xlarge",
        "UserData": "aGVsbG8=",
        "MetadataOptions": {"HttpTokens": "required", "InstanceMetadataTags": "enabled"},
        "InstanceInitiatedShutdownBehavior": "terminate",
        "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "from", "Value": "template"}]}],
    }
    if profile:
        data["IamInstanceProfile"] = {"Arn": profile}
    template = ec2.create_launch_template(LaunchTemplateName="sandbox-p5", LaunchTemplateData=data)
    template_id = template["LaunchTemplate"]["LaunchTemplateId"]
    # CreateFleet takes no interfaces: its calls use version 2.
    fleet_data = {**data, "NetworkInterfaces": nics}
    ec2.create_launch_template_version(LaunchTemplateId=template_id, LaunchTemplateData=fleet_data)
    return Stack(vpc, (subnets[0], subnets[1]), group, template_id)


@pytest.fixture
def stack(ec2: Any) -> Stack:
    return build(ec2)


@pytest.fixture
def fleet(ec2: Any, stack: Stack) -> Callable[..., Any]:
    """Return a function that calls CreateFleet with the template of the stack; keyword arguments replace parts of the
    call."""

    def create(
        count: int = 2, minimum: int | None = None, subnets: tuple[str, ...] | None = None, **parameters: Any
    ) -> Any:
        overrides = [{"InstanceType": "p5.48xlarge", "SubnetId": subnet} for subnet in subnets or stack.subnets]
        options = {"SingleAvailabilityZone": True, "SingleInstanceType": True}
        call: dict[str, Any] = {
            "Type": "instant",
            "LaunchTemplateConfigs": [
                {
                    "LaunchTemplateSpecification": {"LaunchTemplateId": stack.template, "Version": "2"},
                    "Overrides": overrides,
                }
            ],
            "TargetCapacitySpecification": {"TotalTargetCapacity": count, "DefaultTargetCapacityType": "on-demand"},
            "OnDemandOptions": {**options, "MinTargetCapacity": count if minimum is None else minimum},
        }
        return ec2.create_fleet(**{**call, **parameters})

    return create
