"""Launches and terminations by sessions of the burst controller's roles: the emulated AWS evaluates whole requests."""

from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import IMAGE, Stack, build
from tests.unit.aws_emulator.controller_session import (
    NODE_TAGS,
    call,
    instance_profile,
    session,
    set_cluster_tags,
    tag_list,
)
from tests.unit.aws_emulator.instances.test_emulator_launch import error_of, run

DENIED = (403, "UnauthorizedOperation")


def test_a_controller_launches_from_its_template_and_not_without_it(
    cloud: EmulatorProcess, ec2: Any, stack: Stack
) -> None:
    set_cluster_tags(ec2, stack)
    controller = session(cloud, "launch")
    assert run(controller, stack, 2, 2, **call(stack))["Instances"]
    plain = {"ImageId": IMAGE, "InstanceType": "p5.48xlarge", "MinCount": 1, "MaxCount": 1, **call(stack)}
    assert error_of(lambda: controller.run_instances(**plain)) == DENIED
    assert ec2.run_instances(**plain)["Instances"]  # an operator may


@pytest.mark.parametrize(
    "change",
    [
        {"ImageId": IMAGE},
        {"InstanceType": "p4d.24xlarge"},
        {"TagSpecifications": []},
        {"KeyName": "mine"},
        {"Placement": {"GroupName": "foreign"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_changed_launch_is_denied(cloud: EmulatorProcess, ec2: Any, stack: Stack, change: dict[str, Any]) -> None:
    set_cluster_tags(ec2, stack)
    ec2.create_placement_group(GroupName="foreign", Strategy="cluster")
    controller = session(cloud, "launch")
    assert error_of(lambda: run(controller, stack, 1, 1, **{**call(stack), **change})) == DENIED


def test_subnets_that_exist_already_need_no_tags_but_the_policy_names_them(
    cloud: EmulatorProcess, ec2: Any, stack: Stack
) -> None:
    set_cluster_tags(ec2, stack, subnets=False)
    controller = session(cloud, "launch", existing=stack.subnets[:1])
    assert run(controller, stack, 1, 1, **call(stack))["Instances"]
    interfaces = [{**call(stack)["NetworkInterfaces"][0], "SubnetId": stack.subnets[1]}]
    assert error_of(lambda: run(controller, stack, 1, 1, **{**call(stack), "NetworkInterfaces": interfaces})) == DENIED


def test_a_template_of_another_cluster_is_denied(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    set_cluster_tags(ec2, stack)
    ec2.create_tags(Resources=[stack.template], Tags=tag_list({**NODE_TAGS, "landbridge:cluster": "other"}))
    controller = session(cloud, "launch")
    assert error_of(lambda: run(controller, stack, 1, 1, **call(stack))) == DENIED


def test_a_session_terminates_nodes_and_no_other_instances(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    node = run(ec2, stack, 1, 1, **call(stack))["Instances"][0]["InstanceId"]
    host_call = call(stack, {"landbridge:cluster": "site"})
    gateway = run(ec2, stack, 1, 1, **host_call)["Instances"][0]["InstanceId"]
    ending = session(cloud, "terminate")
    assert error_of(lambda: ending.terminate_instances(InstanceIds=[gateway])) == DENIED
    assert error_of(lambda: ending.terminate_instances(InstanceIds=[node, gateway])) == DENIED
    assert ending.terminate_instances(InstanceIds=[node])["TerminatingInstances"][0]["InstanceId"] == node


@pytest.mark.parametrize(("passed", "allowed"), [(("node",), False), (("node", "node-p5"), True)])
def test_a_launch_is_denied_if_it_may_not_pass_the_role_of_its_template(
    cloud: EmulatorProcess, ec2: Any, passed: tuple[str, ...], allowed: bool
) -> None:
    profile = instance_profile(cloud, "node-p5")
    stack = build(ec2, profile)
    set_cluster_tags(ec2, stack)
    controller = session(cloud, "launch", passed=passed)
    if allowed:
        assert run(controller, stack, 1, 1, **call(stack))["Instances"]
    else:
        assert error_of(lambda: run(controller, stack, 1, 1, **call(stack))) == DENIED
