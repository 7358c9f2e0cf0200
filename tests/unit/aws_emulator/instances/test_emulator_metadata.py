"""The metadata service: version 2 only, and each instance gets its own data."""

import http.client
import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest

from sandbox.aws_emulator.process import EmulatorProcess

from ..conftest import ONCE, build, client_of

TTL = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}


class Machine:
    """Caller of the metadata service from the loopback address of an instance."""

    def __init__(self, cloud: EmulatorProcess, address: str) -> None:
        self._imds, self._source = cloud.imds or "", "127." + address.partition(".")[2]

    def call(self, method: str, path: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection(self._imds, timeout=5, source_address=(self._source, 0))
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        result = answer.status, answer.read().decode()
        connection.close()
        return result

    def token(self) -> str:
        status, token = self.call("PUT", "/latest/api/token", TTL)
        assert status == 200
        return token

    def get(self, path: str, token: str | None = None) -> tuple[int, str]:
        return self.call("GET", f"/latest/{path}", {"X-aws-ec2-metadata-token": token or self.token()})


@pytest.fixture
def machines(cloud: EmulatorProcess, fleet: Callable[..., Any]) -> list[tuple[str, Machine]]:
    fleet(2)
    return [(i["id"], Machine(cloud, i["address"])) for i in cloud.control()["instances"]]


def test_version_1_is_refused_and_version_2_is_served(machines: list[tuple[str, Machine]]) -> None:
    instance, machine = machines[0]
    assert machine.call("GET", "/latest/meta-data/instance-id")[0] == 401
    assert machine.get("meta-data/instance-id") == (200, instance)


def test_a_token_is_valid_only_for_its_instance(machines: list[tuple[str, Machine]]) -> None:
    (_, owner), (_, other) = machines
    assert other.get("meta-data/instance-id", owner.token())[0] == 401
    assert owner.call("PUT", "/latest/api/token", {**TTL, "X-Forwarded-For": "10.0.0.1"})[0] == 403
    assert owner.call("PUT", "/latest/api/token")[0] == 400


def test_metadata_of_an_instance_are_served(machines: list[tuple[str, Machine]]) -> None:
    _, machine = machines[0]
    token = machine.token()
    expected = {
        "instance-type": "p5.48xlarge",
        "placement/availability-zone": "us-east-1d",
        "placement/availability-zone-id": "use1-az4",
        "placement/region": "us-east-1",
        "local-ipv4": "10.60.0.4",
        "ami-id": "ami-0a11ce5a9db0c5000",
        "tags/instance/from": "template",
    }
    assert {path: machine.get(f"meta-data/{path}", token)[1] for path in expected} == expected
    assert machine.get("user-data", token) == (200, "hello")
    assert "placement/" in machine.get("meta-data/", token)[1].splitlines()
    document = json.loads(machine.get("dynamic/instance-identity/document", token)[1])
    assert document["privateIp"] == "10.60.0.4"


def test_a_tag_created_after_the_launch_is_served(ec2: Any, machines: list[tuple[str, Machine]]) -> None:
    instance, machine = machines[1]
    assert machine.get("meta-data/tags/instance/landbridge:node")[0] == 404
    ec2.create_tags(Resources=[instance], Tags=[{"Key": "landbridge:node", "Value": "p5-2"}])
    assert machine.get("meta-data/tags/instance/landbridge:node") == (200, "p5-2")


def test_a_spot_interruption_notice_is_served(cloud: EmulatorProcess, machines: list[tuple[str, Machine]]) -> None:
    instance, machine = machines[0]
    assert machine.get("meta-data/spot/instance-action")[0] == 404
    cloud.control(interrupt=[instance])
    status, text = machine.get("meta-data/spot/instance-action")
    assert (status, json.loads(text)["action"]) == (200, "terminate")


def test_a_terminated_instance_has_no_metadata(ec2: Any, machines: list[tuple[str, Machine]]) -> None:
    instance, machine = machines[0]
    ec2.terminate_instances(InstanceIds=[instance])
    assert machine.call("PUT", "/latest/api/token", TTL)[0] == 404


def test_credentials_of_the_instance_profile_are_valid(cloud: EmulatorProcess) -> None:
    iam, ec2 = client_of(cloud, "iam"), client_of(cloud, "ec2")
    iam.create_role(RoleName="sandbox-node", AssumeRolePolicyDocument="{}")
    profile = iam.create_instance_profile(InstanceProfileName="sandbox-node")["InstanceProfile"]["Arn"]
    iam.add_role_to_instance_profile(InstanceProfileName="sandbox-node", RoleName="sandbox-node")
    stack = build(ec2, profile=profile)
    nic = [{"DeviceIndex": 0, "SubnetId": stack.subnets[0]}]
    template = {"LaunchTemplateId": stack.template}
    ec2.run_instances(LaunchTemplate=template, MinCount=1, MaxCount=1, NetworkInterfaces=nic)
    machine = Machine(cloud, cloud.control()["instances"][0]["address"])
    assert machine.get("meta-data/iam/security-credentials/") == (200, "sandbox-node")
    keys = json.loads(machine.get("meta-data/iam/security-credentials/sandbox-node")[1])
    session = boto3.session.Session(keys["AccessKeyId"], keys["SecretAccessKey"], keys["Token"], "us-east-1")
    caller = session.client("sts", endpoint_url=cloud.endpoint, config=ONCE)
    assert caller.get_caller_identity()["ResponseMetadata"]["HTTPStatusCode"] == 200
