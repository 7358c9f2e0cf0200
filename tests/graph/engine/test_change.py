"""A stack that changes, breaks and is repaired, under Pulumi's real engine: changes update affected resources alone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import left

pytestmark = [pytest.mark.engine]

Touched = set[tuple[str, str, str]]
Change = Callable[[str, str], Environment]
ZONES = "zones: [use1-az4, use1-az6]"
#: Resource types of a zone.
SUBNET, ROUTES = "aws:ec2/subnet:Subnet", "aws:ec2/routeTable:RouteTable"


def touched(result: pulumi.OperationResult) -> Touched:
    """Return the steps by resource. A replacement is its parts: a creation and a deletion."""
    names = {"create-replacement": "create", "delete-replaced": "delete"}
    steps = (step for step in result.steps if step.changes and step.type.startswith("aws:"))
    return {(names.get(step.operation, step.operation), step.type, step.name) for step in steps}


def about(steps: Touched, operation: str) -> dict[str, set[str]]:
    """Return the names of the resources of one operation, by type."""
    kinds = {kind for done, kind, _ in steps if done == operation}
    return {kind: {name for done, other, name in steps if done == operation and other == kind} for kind in kinds}


@pytest.fixture
def change(environment_file: Path) -> Change:
    """Return a function that replaces a text in the environment file and returns the new environment."""

    def replace(old: str, new: str) -> Environment:
        text = environment_file.read_text()
        assert old in text, old
        environment_file.write_text(text.replace(old, new))
        return _read(environment_file)

    return replace


@pytest.fixture
def clean(engine: Engine, cloud: EmulatorProcess, environment_file: Path) -> Iterator[None]:
    """Destroy all stacks after a test, and assert that no resource is left."""
    before = left(cloud)
    yield
    cloud.control(reset=True)
    pulumi.destroy(_read(environment_file), environment_file)
    assert left(cloud) == before


@pytest.mark.usefixtures("clean")
def test_a_change_updates_affected_resources_alone(
    environment: Environment, environment_file: Path, change: Change
) -> None:
    pulumi.up(environment, environment_file)

    # Another type: the launch template, and the launch role's permission for the type.
    steps = touched(pulumi.up(change("p5.48xlarge", "p5en.48xlarge"), environment_file))
    assert steps == {
        ("update", "aws:ec2/launchTemplate:LaunchTemplate", "graph-p5"),
        ("update", "aws:iam/rolePolicy:RolePolicy", "graph-launch"),
    }, steps

    # Another zone: its resources are new, resources of all zones are updated, and the other zones' stay unchanged.
    steps = touched(pulumi.up(change(ZONES, "zones: [use1-az2, use1-az4, use1-az6]"), environment_file))
    assert about(steps, "delete") == {} and {kind: len(names) for kind, names in about(steps, "create").items()} == {
        SUBNET: 1,
        ROUTES: 1,
        "aws:ec2/routeTableAssociation:RouteTableAssociation": 1,
        "aws:ec2/route:Route": 1,
        "aws:ec2/placementGroup:PlacementGroup": 1,
    }, steps
    assert all("use1-az2" in name for kind, names in about(steps, "create").items() for name in names), steps
    assert set(about(steps, "update")) <= {
        "aws:ec2transitgateway/vpcAttachment:VpcAttachment",
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        "aws:ec2/launchTemplate:LaunchTemplate",
    }, steps

    # Another name of the pool: the old pool's resources are deleted, the new one's are created, and the network stays.
    steps = touched(pulumi.up(change("- name: p5\n", "- name: hopper\n"), environment_file))
    deleted, created = about(steps, "delete"), about(steps, "create")
    assert all("p5" in name for names in deleted.values() for name in names), deleted
    assert {kind: len(names) for kind, names in deleted.items()} == {
        kind: len(names) for kind, names in created.items()
    }
    assert all("hopper" in name for names in created.values() for name in names), created
    assert {"aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/securityGroup:SecurityGroup"} <= set(deleted)
    # The roles name the pools; nothing else is updated.
    assert set(about(steps, "update")) <= {"aws:iam/rolePolicy:RolePolicy"}, steps
    assert pulumi.up(_read(environment_file), environment_file).changed == 0


@pytest.mark.parametrize(
    "action",
    [
        "CreateLaunchTemplate",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("CreateSubnet", "CreateVpnConnection")),
    ],
)
@pytest.mark.usefixtures("clean")
def test_a_failed_create_is_repaired_by_the_next_up(
    cloud: EmulatorProcess, environment: Environment, environment_file: Path, action: str
) -> None:
    cloud.control(faults={action: {"code": "InternalError", "status": 500, "message": "it was not to be"}})
    with pytest.raises(pulumi.PulumiFailed, match="it was not to be"):
        pulumi.up(environment, environment_file)
    assert cloud.control()["errors"]["InternalError"] == 1
    assert set(pulumi.up(environment, environment_file).changes) <= {"create", "same", "update"}
    assert pulumi.up(environment, environment_file).changed == 0


def _read(file: Path) -> Environment:
    loaded = load_environment(file)
    assert loaded.environment is not None, loaded.findings
    return loaded.environment
