"""An engine that is killed, and answers that are lost: the next `up` finds what exists, and makes nothing twice."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from landbridge.environment import Environment
from landbridge.paths import state_dir
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.engine_interrupt import kill_during, settle
from tests.graph.support.inventory import left

pytestmark = [
    pytest.mark.engine,
    pytest.mark.timeout(900),
    # What a killed engine had not finished to write.
    pytest.mark.filterwarnings("ignore:Error in event stream:UserWarning"),
]

#: A moment in the life of an `up`: what AWS is busy with when the engine is killed.
MOMENTS = (
    ("CreateVpc", "CreateRole", "CreateKey", "CreateTransitGateway", "CreateCustomerGateway"),
    ("CreateSubnet", "CreateSecurityGroup", "CreateVpnConnection"),
    (
        "AssociateRouteTable",
        "CreateTransitGatewayVpcAttachment",
        "AuthorizeSecurityGroupIngress",
        "CreateLaunchTemplate",
    ),
    ("CreateRoute",),
)


@pytest.fixture
def before(
    engine: Engine, cloud: EmulatorProcess, environment: Environment, environment_file: Path
) -> Iterator[dict[str, set[str]]]:
    """Yield the resources before a test; destroy all stacks after it, and assert that the same resources are left."""
    found = left(cloud)
    yield found
    cloud.control(reset=True)
    settle(cloud, environment, environment_file)
    pulumi.destroy(environment, environment_file)
    assert left(cloud) == found


def test_killed_at_any_moment_it_is_built_in_the_end_and_nothing_twice(
    cloud: EmulatorProcess, environment: Environment, environment_file: Path, before: dict[str, set[str]]
) -> None:
    # What AWS was asked for and has not done is made by the next update.
    kill_during(cloud, environment, environment_file, MOMENTS[0], done=False)
    found = settle(cloud, environment, environment_file)
    # Something else may have been in flight at that moment, too.
    held = {"Vpc", "Key", "TransitGateway", "CustomerGateway"}
    assert not held & {_type(urn) for urn in found.taken_in}, found
    assert held <= {_type(urn) for urn in found.absent}, found

    # What it has done is found, each thing once.
    for moment in MOMENTS:
        kill_during(cloud, environment, environment_file, moment, done=True)
        found = settle(cloud, environment, environment_file)
        assert len(found.taken_in) >= len(moment), (moment, found)
        assert not settle(cloud, environment, environment_file)
    built = pulumi.up(environment, environment_file)
    assert pulumi.up(environment, environment_file).changed == 0
    assert pulumi.refresh(environment, environment_file).changed == 0
    assert built.outputs is not None and len(set(built.outputs.link_pre_shared_keys or ())) == 2
    made = {kind: names - before[kind] for kind, names in left(cloud).items()}
    once = ("vpcs", "transit gateways", "customer gateways", "vpn connections", "attachments", "launch templates")
    assert {kind: len(made[kind]) for kind in once} == dict.fromkeys(once, 1), made
    assert _in_clear(built.outputs.link_pre_shared_keys or ()) == []


def _type(urn: str) -> str:
    return urn.split("::")[2].rsplit(":", 1)[-1]


def _in_clear(secrets: Sequence[str]) -> list[Path]:
    files = state_dir("graph").rglob("*.json*")
    return [file for file in files if any(secret in file.read_text() for secret in secrets)]
