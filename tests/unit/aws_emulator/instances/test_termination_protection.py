"""TerminateInstances with termination-protected instances, and tokens of terminated instances, as EC2's API reference
describes them."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import Stack


def launch(ec2: Any, stack: Stack, zone: int, token: str = "") -> list[str]:
    """Launch two instances in a zone; return their ids."""
    answer = ec2.run_instances(
        LaunchTemplate={"LaunchTemplateId": stack.template},
        MinCount=2,
        MaxCount=2,
        NetworkInterfaces=[{"DeviceIndex": 0, "SubnetId": stack.subnets[zone], "Groups": [stack.group]}],
        **({"ClientToken": token} if token else {}),
    )
    return [instance["InstanceId"] for instance in answer["Instances"]]


def alive(cloud: EmulatorProcess) -> set[str]:
    instances = cloud.control()["instances"]
    return {instance["id"] for instance in instances if instance["state"] in ("pending", "running")}


@pytest.mark.parametrize("order", [1, -1])
def test_a_protected_instance_keeps_all_instances_of_its_zone_in_the_request(
    cloud: EmulatorProcess, ec2: Any, stack: Stack, order: int
) -> None:
    first, second = launch(ec2, stack, 0), launch(ec2, stack, 1)
    ec2.modify_instance_attribute(InstanceId=second[0], DisableApiTermination={"Value": True})
    with pytest.raises(ClientError, match=f"OperationNotPermitted.*'{second[0]}' may not be terminated"):
        ec2.terminate_instances(InstanceIds=[*first, *second][::order])
    assert alive(cloud) == set(second)
    ec2.terminate_instances(InstanceIds=[second[1]])
    assert alive(cloud) == {second[0]}


def test_an_unknown_instance_keeps_all_instances_of_the_request(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    ids = launch(ec2, stack, 0)
    with pytest.raises(ClientError, match="NotFound"):
        ec2.terminate_instances(InstanceIds=[*ids, "i-0123456789abcdef0"])
    assert alive(cloud) == set(ids)


def test_the_token_of_a_terminated_instance_is_refused(ec2: Any, stack: Stack) -> None:
    ids = launch(ec2, stack, 0, "lb-1")
    assert launch(ec2, stack, 0, "lb-1") == ids
    ec2.terminate_instances(InstanceIds=ids[:1])
    with pytest.raises(ClientError, match="IdempotentInstanceTerminated"):
        launch(ec2, stack, 0, "lb-1")
