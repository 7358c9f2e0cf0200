"""Creations that fail halfway, and lost answers: existing resources are completed or found, none is created twice."""

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

pytestmark = [pytest.mark.engine]

Resources = dict[str, set[str]]


@pytest.fixture
def before(
    engine: Engine, cloud: EmulatorProcess, environment: Environment, environment_file: Path
) -> Iterator[Resources]:
    """Yield the resources before a test; destroy all stacks after it, and assert that the same resources are left."""
    existing = left(cloud)
    yield existing
    cloud.control(reset=True)
    settle(cloud, environment, environment_file)
    pulumi.destroy(environment, environment_file)
    assert left(cloud) == existing


def faults(*actions: str, **fault: Any) -> dict[str, Any]:
    return dict.fromkeys(actions, fault)


def nothing_twice(cloud: EmulatorProcess, before: Resources) -> None:
    """Assert that AWS has one new resource of each of these kinds, as the environment."""
    counts = {kind: len(names - before[kind]) for kind, names in left(cloud).items()}
    once = (
        "vpcs",
        "transit gateways",
        "customer gateways",
        "vpn connections",
        "attachments",
        "launch templates",
        "keys",
    )
    assert {kind: counts[kind] for kind in once} == dict.fromkeys(once, 1), counts


@pytest.mark.long
def test_a_creation_that_failed_halfway_is_completed(
    cloud: EmulatorProcess, environment: Environment, environment_file: Path, before: Resources
) -> None:
    broken = ("ModifyVpcAttribute", "RevokeSecurityGroupEgress", "EnableKeyRotation", "AddRoleToInstanceProfile")
    cloud.control(faults=faults(*broken, code="OperationNotPermitted", status=400, message="not now"))
    messages: list[str] = []
    while len(messages) <= len(broken):
        try:
            pulumi.up(environment, environment_file)
            break
        except pulumi.PulumiFailed as error:
            messages.append(str(error))
    assert 1 <= len(messages) <= len(broken) and all("not now" in text for text in messages), messages
    assert pulumi.up(environment, environment_file).changed == 0
    assert pulumi.refresh(environment, environment_file).changed == 0
    nothing_twice(cloud, before)

    ec2, iam, resources = client(cloud, "ec2"), client(cloud, "iam"), left(cloud)
    (vpc,) = resources["vpcs"] - before["vpcs"]
    assert ec2.describe_vpc_attribute(VpcId=vpc, Attribute="enableDnsHostnames")["EnableDnsHostnames"]["Value"]
    groups = ec2.describe_security_groups(GroupIds=sorted(resources["security groups"] - before["security groups"]))
    out = [rule for group in groups["SecurityGroups"] for rule in group["IpPermissionsEgress"]]
    # EC2's default egress rule of a new group is removed: egress to all addresses is limited to ports.
    assert not [rule for rule in out if rule["IpProtocol"] == "-1" and "0.0.0.0/0" in str(rule.get("IpRanges"))], out
    (key,) = resources["keys"] - before["keys"]
    assert client(cloud, "kms").get_key_rotation_status(KeyId=key)["KeyRotationEnabled"]
    for name in resources["profiles"] - before["profiles"]:
        assert iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"]["Roles"], name


def test_a_lost_answer_is_looked_up(
    cloud: EmulatorProcess, environment: Environment, environment_file: Path, before: Resources
) -> None:
    """AWS completes the call, but the answer is lost: the resource is found although AWS shows it late."""
    lost = ("CreateRole", "CreateVpc", "CreateKey", "CreateTransitGateway", "CreateCustomerGateway", "CreateSecret")
    cloud.control(faults=faults(*lost, code="InternalError", status=500, message="lost", after=True), lag=2)
    with pytest.raises(pulumi.PulumiFailed, match="lost"):
        pulumi.up(environment, environment_file)
    recovered: dict[str, str] = {}
    for _ in range(4):  # AWS shows it after some queries, and a busy machine sends few in this time
        recovered |= settle(cloud, environment, environment_file, wait=8).taken_in
        if recovered:
            break
    kinds = {"Role", "Vpc", "Key", "TransitGateway", "CustomerGateway", "Secret"}
    assert recovered and {urn.split("::")[2].rsplit(":", 1)[-1] for urn in recovered} <= kinds, recovered
    cloud.control(reset=True)
    settle(cloud, environment, environment_file)
    assert "delete" not in pulumi.up(environment, environment_file).changes
    assert pulumi.up(environment, environment_file).changed == 0
    assert pulumi.refresh(environment, environment_file).changed == 0
    nothing_twice(cloud, before)
