"""Service-linked role of spot in the emulated AWS: created for a caller that may create it, else the launch is refused."""

from typing import Any

import pytest

from landbridge.catalog.aws.access.service_linked_roles import service_linked_roles
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import Stack, client_of
from tests.unit.aws_emulator.controller_session import call, session, set_cluster_tags
from tests.unit.aws_emulator.instances.test_emulator_launch import error_of, run

SPOT = {"InstanceMarketOptions": {"MarketType": "spot"}}
REFUSED = (403, "AuthFailure.ServiceLinkedRoleCreationNotPermitted")
ROLE = "AWSServiceRoleForEC2Spot"


def role_names(cloud: EmulatorProcess) -> set[str]:
    return {role["RoleName"] for role in client_of(cloud, "iam").list_roles()["Roles"]}


def test_a_spot_launch_without_the_role_is_refused_and_on_demand_is_not(
    cloud: EmulatorProcess, ec2: Any, stack: Stack
) -> None:
    cloud.control(deny=["iam:CreateServiceLinkedRole"])
    assert error_of(lambda: run(ec2, stack, 1, 1, **SPOT)) == REFUSED
    assert run(ec2, stack, 1, 1)["Instances"]
    assert ROLE not in role_names(cloud)


def test_ec2_creates_the_role_for_a_caller_that_may_create_it(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    assert ROLE not in role_names(cloud)
    assert run(ec2, stack, 1, 1, **SPOT)["Instances"]
    assert ROLE in role_names(cloud)
    cloud.control(deny=["iam:CreateServiceLinkedRole"])
    assert run(ec2, stack, 1, 1, **SPOT)["Instances"]


def test_the_command_of_the_catalogue_creates_the_role(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    spot = service_linked_roles()["spot"]
    created = client_of(cloud, "iam").create_service_linked_role(AWSServiceName=spot.service)["Role"]
    assert created["Arn"].endswith(f":role/{spot.path}") and spot.service in spot.command
    cloud.control(deny=["iam:CreateServiceLinkedRole"])
    assert run(ec2, stack, 1, 1, **SPOT)["Instances"]


@pytest.mark.parametrize("spot", [True, False])
def test_the_launch_role_creates_it_only_if_a_pool_has_spot(
    cloud: EmulatorProcess, ec2: Any, stack: Stack, spot: bool
) -> None:
    set_cluster_tags(ec2, stack)
    controller = session(cloud, "launch", spot=spot)
    if spot:
        assert run(controller, stack, 1, 1, **call(stack), **SPOT)["Instances"]
    else:
        assert error_of(lambda: run(controller, stack, 1, 1, **call(stack), **SPOT)) == REFUSED
