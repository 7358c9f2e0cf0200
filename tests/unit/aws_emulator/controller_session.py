"""Sessions of the burst controller's roles in the emulated AWS, with the policies that `landbridge up` creates."""

import json
from typing import Any, Literal

import boto3

from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.launch_policy import ExistingResource, LaunchTargets, launch, terminate
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import ONCE, Stack, client_of

ACCOUNT, CLUSTER = "123456789012", "site"
NODE_TAGS = {"landbridge:cluster": CLUSTER, "landbridge:pool": "p5"}


def tag_list(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def set_cluster_tags(ec2: Any, stack: Stack, *, subnets: bool = True) -> None:
    """Give the stack's template, security group and, if the cluster created them, subnets the cluster's tags."""
    ec2.create_tags(Resources=[stack.template, stack.group], Tags=tag_list(NODE_TAGS))
    if subnets:
        tags = {"landbridge:cluster": CLUSTER, "Name": f"{CLUSTER}-private-use1-az4"}
        ec2.create_tags(Resources=list(stack.subnets), Tags=tag_list(tags))


def call(stack: Stack, tags: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the parameters with which the burst controller launches in the first subnet."""
    pairs = tag_list(NODE_TAGS if tags is None else tags)
    return {
        "NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": stack.subnets[0], "Groups": [stack.group]}],
        "TagSpecifications": [
            {"ResourceType": kind, "Tags": pairs} for kind in ("instance", "volume", "network-interface")
        ],
    }


def instance_profile(cloud: EmulatorProcess, name: str) -> str:
    """Create a role of nodes with its instance profile of the same name; return the ARN of the profile."""
    iam = client_of(cloud, "iam")
    trust = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=_document([trust]))
    profile = iam.create_instance_profile(InstanceProfileName=name)["InstanceProfile"]
    iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)
    return str(profile["Arn"])


def session(
    cloud: EmulatorProcess,
    right: Literal["launch", "terminate"],
    *,
    existing: tuple[str, ...] = (),
    spot: bool = False,
    passed: tuple[str, ...] = ("node",),
    disk_keys: tuple[str, ...] = (),
) -> Any:
    """Return an EC2 client with the keys of a session of the role. `existing` are ids of subnets of the organisation,
    `passed` names of roles of nodes, `disk_keys` ARNs of KMS keys.
    """
    place = ArnContext(CLUSTER, "aws", "us-east-1", ACCOUNT)
    targets = LaunchTargets(
        instance_types=("p5.48xlarge",),
        existing=tuple(ExistingResource(region="us-east-1", kind="subnet", id=name) for name in existing),
        creates_subnets=not existing,
        spot=spot,
        disk_keys=disk_keys,
    )
    statements = (
        launch(
            place,
            targets,
            [f"arn:aws:iam::{ACCOUNT}:role/{name}" for name in passed],
            "arn:aws:secretsmanager:::secret:x",
        )
        if right == "launch"
        else terminate(place)
    )
    trust = {"Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "sts:AssumeRole"}
    iam, sts = client_of(cloud, "iam"), client_of(cloud, "sts")
    role = iam.create_role(RoleName=right, AssumeRolePolicyDocument=_document([trust]))["Role"]
    iam.put_role_policy(RoleName=right, PolicyName="landbridge", PolicyDocument=_document(statements))
    keys = sts.assume_role(RoleArn=role["Arn"], RoleSessionName="ctl01")["Credentials"]
    boto_session = boto3.session.Session(
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
        region_name="us-east-1",
    )
    return boto_session.client("ec2", endpoint_url=cloud.endpoint, config=ONCE)


def _document(statements: list[dict[str, Any]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})
