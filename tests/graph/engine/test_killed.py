"""An engine that is killed, and answers that are lost: the next `up` finds what exists, and creates nothing twice."""

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
    # A killed engine leaves an incomplete event.
    pytest.mark.filterwarnings("ignore:Error in event stream:UserWarning"),
]

#: Moments of an `up` at which the engine is killed: the calls in progress in AWS.
MOMENTS = (
    ("CreateVpc", "CreateRole", "CreateKey", "CreateTransitGateway", "CreateCustomerGateway"),
    ("CreateSubnet", "CreateVpnConnection"),
    ("AssociateRouteTable", "CreateTransitGatewayVpcAttachment", "CreateSecurityGroup"),
    ("CreateRoute",),
    # Pools wait for the roles that terminate nodes, and their policies for the subnets.
    ("CreateLaunchTemplate",),
)


@pytest.fixture
def before(
    engine: Engine, cloud: EmulatorProcess, environment: Environment, environment_file: Path
) -> Iterator[dict[str, set[str]]]:
    """Yield the resources before a test; destroy all stacks after it, and assert that the same resources are left."""
    existing = left(cloud)
    yield existing
    cloud.control(reset=True)
    settle(cloud, environment, environment_file)
    pulumi.destroy(environment, environment_file)
    assert left(cloud) == existing


def test_an_up_after_a_kill_at_any_moment_creates_nothing_twice(
    cloud: EmulatorProcess, environment: Environment, environment_file: Path, before: dict[str, set[str]]
) -> None:
    # A call that AWS has not completed is repeated by the next update.
    kill_during(cloud, environment, environment_file, MOMENTS[0], done=False)
    result = settle(cloud, environment, environment_file)
    # Another call may have been in progress at that moment, too.
    pending = {"Vpc", "Key", "TransitGateway", "CustomerGateway"}
    assert not pending & {_type(urn) for urn in result.taken_in}, result
    assert pending <= {_type(urn) for urn in result.absent}, result

    # Resources of completed calls are found, each one once.
    for number, moment in enumerate(MOMENTS, start=1):
        later = tuple(action for other in MOMENTS[number:] for action in other)
        kill_during(cloud, environment, environment_file, moment, done=True, later=later)
        result = settle(cloud, environment, environment_file)
        assert len(result.taken_in) >= len(moment), (moment, result)
        assert not settle(cloud, environment, environment_file)
    built = pulumi.up(environment, environment_file)
    assert pulumi.up(environment, environment_file).changed == 0
    assert pulumi.refresh(environment, environment_file).changed == 0
    assert built.outputs is not None and len(set(built.outputs.link_pre_shared_keys or ())) == 2
    created = {kind: names - before[kind] for kind, names in left(cloud).items()}
    once = ("vpcs", "transit gateways", "customer gateways", "vpn connections", "attachments", "launch templates")
    assert {kind: len(created[kind]) for kind in once} == dict.fromkeys(once, 1), created
    assert _in_clear(built.outputs.link_pre_shared_keys or ()) == []


def _type(urn: str) -> str:
    return urn.split("::")[2].rsplit(":", 1)[-1]


def _in_clear(secrets: Sequence[str]) -> list[Path]:
    files = state_dir("graph").rglob("*.json*")
    return [file for file in files if any(secret in file.read_text() for secret in secrets)]
