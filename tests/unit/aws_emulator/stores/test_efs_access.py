"""EFS access points, file system policies and mount targets in the emulated AWS, with AWS's refusals."""

import json
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess

from ..conftest import Stack, client_of
from ..instances.test_emulator_launch import error_of

CREATION = {"OwnerUid": 0, "OwnerGid": 0, "Permissions": "1777"}
DENY: dict[str, Any] = {"Effect": "Deny", "Principal": {"AWS": "*"}, "Action": "elasticfilesystem:ClientMount"}


@pytest.fixture
def efs(cloud: EmulatorProcess) -> Any:
    return client_of(cloud, "efs")


@pytest.fixture
def system(efs: Any) -> str:
    return str(efs.create_file_system(CreationToken="homes")["FileSystemId"])


def policy(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"RootDirectory": {"Path": "shared"}}, "BadRequest"),
        ({"RootDirectory": {"Path": "/a/b/c/d/e"}}, "BadRequest"),
        ({"RootDirectory": {"Path": "/" + "a" * 100}}, "BadRequest"),
        ({"RootDirectory": {"Path": "/a", "CreationInfo": {**CREATION, "Permissions": "rwx"}}}, "BadRequest"),
        ({"RootDirectory": {"Path": "/a", "CreationInfo": {**CREATION, "OwnerUid": 2**32}}}, "BadRequest"),
        ({"PosixUser": {"Uid": 1000, "Gid": 2**32}}, "BadRequest"),
        ({"PosixUser": {"Uid": 1000, "Gid": 1000, "SecondaryGids": list(range(17))}}, "BadRequest"),
    ],
)
def test_an_access_point_with_values_that_efs_does_not_accept_is_refused(
    efs: Any, system: str, parameters: dict[str, Any], code: str
) -> None:
    refused = error_of(lambda: efs.create_access_point(ClientToken="a", FileSystemId=system, **parameters))
    assert refused == (400, code)
    assert efs.describe_access_points(FileSystemId=system)["AccessPoints"] == []


def test_an_access_point_belongs_to_a_file_system_and_its_token_creates_one(efs: Any, system: str) -> None:
    def create(file_system: str = system) -> Any:
        directory = {"Path": "/shared", "CreationInfo": CREATION}
        return efs.create_access_point(ClientToken="a", FileSystemId=file_system, RootDirectory=directory)

    assert error_of(lambda: create("fs-0123456789abcdef0")) == (404, "FileSystemNotFound")
    access_point = create()["AccessPointId"]
    assert error_of(create) == (409, "AccessPointAlreadyExists")
    efs.delete_access_point(AccessPointId=access_point)
    assert error_of(lambda: efs.delete_access_point(AccessPointId=access_point)) == (404, "AccessPointNotFound")


@pytest.mark.parametrize(
    "text",
    [
        "no policy",
        "{}",
        policy({**DENY, "Action": "s3:GetObject"}),
        policy({key: value for key, value in DENY.items() if key != "Principal"}),
        policy({**DENY, "Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:role/absent"}}),
        policy({**DENY, "Action": "*"}),
        policy(*[DENY] * 300),
    ],
    ids=["text", "no statement", "another service", "no principal", "no such role", "lockout", "length"],
)
def test_a_policy_that_efs_does_not_accept_is_refused(efs: Any, system: str, text: str) -> None:
    refused = error_of(lambda: efs.put_file_system_policy(FileSystemId=system, Policy=text))
    assert refused == (400, "InvalidPolicyException")
    assert error_of(lambda: efs.describe_file_system_policy(FileSystemId=system)) == (404, "PolicyNotFound")


def test_a_policy_replaces_the_default_one_until_it_is_deleted(efs: Any, system: str, cloud: EmulatorProcess) -> None:
    trust = policy({"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"})
    role = client_of(cloud, "iam").create_role(RoleName="node", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    clear = {**DENY, "Action": "*", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}
    text = policy({**DENY, "Effect": "Allow", "Principal": {"AWS": role}}, clear)
    efs.put_file_system_policy(FileSystemId=system, Policy=text)
    assert efs.describe_file_system_policy(FileSystemId=system)["Policy"] == text
    efs.delete_file_system_policy(FileSystemId=system)
    assert error_of(lambda: efs.describe_file_system_policy(FileSystemId=system)) == (404, "PolicyNotFound")
    absent = "fs-0123456789abcdef0"
    assert error_of(lambda: efs.delete_file_system_policy(FileSystemId=absent)) == (404, "FileSystemNotFound")


def test_a_mount_target_has_groups_of_its_own_vpc(efs: Any, system: str, ec2: Any, stack: Stack) -> None:
    other = ec2.create_vpc(CidrBlock="10.70.0.0/16")["Vpc"]["VpcId"]
    foreign = ec2.create_security_group(GroupName="efs", Description="efs", VpcId=other)["GroupId"]

    def create(group: str) -> Any:
        return efs.create_mount_target(FileSystemId=system, SubnetId=stack.subnets[0], SecurityGroups=[group])

    assert error_of(lambda: create(foreign)) == (400, "SecurityGroupNotFound")
    assert efs.describe_mount_targets(FileSystemId=system)["MountTargets"] == []
    create(stack.group)
    assert error_of(lambda: create(stack.group)) == (409, "MountTargetConflict")
