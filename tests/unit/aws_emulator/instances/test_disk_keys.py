"""Disks under customer managed keys: EC2 accepts a launch whose caller may not use the key, and ends the instance."""

import json
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import IMAGE, Stack, client_of
from tests.unit.aws_emulator.controller_session import ACCOUNT, call, session, set_cluster_tags
from tests.unit.aws_emulator.instances.test_emulator_launch import run

DENIED = "Client.InternalError: Client error on launch"
DISABLED = "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"
DELEGATES = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
NAMES_OTHERS = {"AWS": f"arn:aws:iam::{ACCOUNT}:role/admin"}


@pytest.fixture
def key(cloud: EmulatorProcess) -> str:
    return str(client_of(cloud, "kms").create_key()["KeyMetadata"]["Arn"])


def state_of(ec2: Any, answer: Any) -> tuple[str, str]:
    """Return the state of the one launched instance, and the reason for it."""
    (launched,) = answer["Instances"]
    (reservation,) = ec2.describe_instances(InstanceIds=[launched["InstanceId"]])["Reservations"]
    (instance,) = reservation["Instances"]
    return instance["State"]["Name"], instance.get("StateReason", {}).get("Message", "")


def launched(cloud: EmulatorProcess, ec2: Any, stack: Stack, **more: Any) -> tuple[str, str]:
    """Return the state of an instance that the launch role has launched with the rights of `more`."""
    set_cluster_tags(ec2, stack)
    disk = {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 200, "Encrypted": True}}
    return state_of(ec2, run(session(cloud, "launch", **more), stack, 1, 1, BlockDeviceMappings=[disk], **call(stack)))


@pytest.mark.parametrize("of_image", [True, False], ids=["of the image", "of the account"])
@pytest.mark.parametrize(
    ("principal", "named", "state"),
    [(DELEGATES, True, ("running", "")), (DELEGATES, False, ("terminated", DENIED)),
     (NAMES_OTHERS, True, ("terminated", DENIED))],
    ids=["with the right", "without the right", "without the key's policy"],
)  # fmt: skip
def test_the_launch_role_needs_the_key_of_a_disk(
    cloud: EmulatorProcess, ec2: Any, stack: Stack, key: str, of_image: bool, principal: Any, named: bool, state: Any
) -> None:
    statement = {"Effect": "Allow", "Principal": principal, "Action": "kms:*", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    client_of(cloud, "kms").put_key_policy(KeyId=key.rpartition("/")[2], PolicyName="default", Policy=policy)
    if of_image:
        disk = {"SnapshotId": "snap-1", "VolumeSize": 35, "Encrypted": True, "KmsKeyId": key}
        cloud.control(images={IMAGE: {"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": disk}]}})
    else:
        ec2.modify_ebs_default_kms_key_id(KmsKeyId=key)
    assert launched(cloud, ec2, stack, disk_keys=(key,) if named else ()) == state


def test_a_disabled_key_ends_the_instances_of_an_operator_too(
    cloud: EmulatorProcess, ec2: Any, stack: Stack, key: str
) -> None:
    ec2.modify_ebs_default_kms_key_id(KmsKeyId=key)
    client_of(cloud, "kms").disable_key(KeyId=key.rpartition("/")[2])
    ec2.enable_ebs_encryption_by_default()
    cloud.control(pool={"p5.48xlarge/use1-az4": 1})
    for _ in range(2):  # the first one holds no capacity
        assert state_of(ec2, run(ec2, stack, 1, 1)) == ("terminated", DISABLED)


def test_the_key_of_aws_for_volumes_needs_no_right(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    # The first encrypted volume of an account makes AWS create the key.
    ec2.create_volume(AvailabilityZone=ec2.describe_subnets()["Subnets"][0]["AvailabilityZone"], Size=1, Encrypted=True)
    assert launched(cloud, ec2, stack) == ("running", "")
    assert ec2.get_ebs_default_kms_key_id()["KmsKeyId"] == "alias/aws/ebs"
