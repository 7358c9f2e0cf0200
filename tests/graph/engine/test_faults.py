"""Creations that fail halfway, and answers that are lost: what is there is finished or found, and nothing is made twice."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.engine_interrupt import settle
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

Things = dict[str, set[str]]


@pytest.fixture
def before(
    engine: Engine, cloud: EmulatorProcess, environment: Environment, environment_file: Path
) -> Iterator[Things]:
    """Yield the resources before a test; destroy all stacks after it, and assert that the same resources are left."""
    found = left(cloud)
    yield found
    cloud.control(reset=True)
    settle(cloud, environment, environment_file)
    pulumi.destroy(environment, environment_file)
    assert left(cloud) == found


def faults(*actions: str, **fault: Any) -> dict[str, Any]:
    return dict.fromkeys(actions, fault)


def nothing_twice(cloud: EmulatorProcess, before: Things) -> None:
    """Of each of these kinds the environment has one thing, and so has AWS."""
    made = {kind: len(names - before[kind]) for kind, names in left(cloud).items()}
    once = (
        "vpcs",
        "transit gateways",
        "customer gateways",
        "vpn connections",
        "attachments",
        "launch templates",
        "keys",
    )
    assert {kind: made[kind] for kind in once} == dict.fromkeys(once, 1), made


@pytest.mark.long
def test_what_failed_halfway_is_finished(
    cloud: EmulatorProcess, environment: Environment, environment_file: Path, before: Things
) -> None:
    broken = ("ModifyVpcAttribute", "RevokeSecurityGroupEgress", "EnableKeyRotation", "AddRoleToInstanceProfile")
    cloud.control(faults=faults(*broken, code="OperationNotPermitted", status=400, message="not now"))
    told: list[str] = []
    while len(told) <= len(broken):
        try:
            pulumi.up(environment, environment_file)
            break
        except pulumi.PulumiFailed as error:
            told.append(str(error))
    assert 1 <= len(told) <= len(broken) and all("not now" in text for text in told), told
    assert pulumi.up(environment, environment_file).changed == 0
    assert pulumi.refresh(environment, environment_file).changed == 0
    nothing_twice(cloud, before)

    ec2, iam, made = client(cloud, "ec2"), client(cloud, "iam"), left(cloud)
    (vpc,) = made["vpcs"] - before["vpcs"]
    assert ec2.describe_vpc_attribute(VpcId=vpc, Attribute="enableDnsHostnames")["EnableDnsHostnames"]["Value"]
    groups = ec2.describe_security_groups(GroupIds=sorted(made["security groups"] - before["security groups"]))
    out = [one for group in groups["SecurityGroups"] for one in group["IpPermissionsEgress"]]
    # The rule that EC2 gives a new group; what leaves for the world does so by a port.
    assert not [one for one in out if one["IpProtocol"] == "-1" and "0.0.0.0/0" in str(one.get("IpRanges"))], out
    (key,) = made["keys"] - before["keys"]
    assert client(cloud, "kms").get_key_rotation_status(KeyId=key)["KeyRotationEnabled"]
    for name in made["profiles"] - before["profiles"]:
        assert iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"]["Roles"], name


def test_a_lost_answer_is_looked_up(
    cloud: EmulatorProcess, environment: Environment, environment_file: Path, before: Things
) -> None:
    """AWS did it and nobody heard: what is there is found although AWS is late to tell, and nothing is made again."""
    lost = ("CreateRole", "CreateVpc", "CreateKey", "CreateTransitGateway", "CreateCustomerGateway", "CreateSecret")
    cloud.control(faults=faults(*lost, code="InternalError", status=500, message="lost", after=True), lag=2)
    with pytest.raises(pulumi.PulumiFailed, match="lost"):
        pulumi.up(environment, environment_file)
    taken: dict[str, str] = {}
    for _ in range(4):  # AWS shows it after so many questions, and a busy machine asks few in the time there is
        taken |= settle(cloud, environment, environment_file, wait=8).taken_in
        if taken:
            break
    kinds = {"Role", "Vpc", "Key", "TransitGateway", "CustomerGateway", "Secret"}
    assert taken and {urn.split("::")[2].rsplit(":", 1)[-1] for urn in taken} <= kinds, taken
    cloud.control(reset=True)
    settle(cloud, environment, environment_file)
    assert "delete" not in pulumi.up(environment, environment_file).changes
    assert pulumi.up(environment, environment_file).changed == 0
    assert pulumi.refresh(environment, environment_file).changed == 0
    nothing_twice(cloud, before)
