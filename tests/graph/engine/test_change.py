"""A stack that changes, breaks and is repaired, under Pulumi's real engine: each change touches what it must and nothing else."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import left

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

Touched = set[tuple[str, str, str]]
Change = Callable[[str, str], Environment]
ZONES = "zones: [use1-az4, use1-az6]"
#: Things whose names are those of a pool belong to it.
SUBNET, ROUTES = "aws:ec2/subnet:Subnet", "aws:ec2/routeTable:RouteTable"


def touched(result: pulumi.OperationResult) -> Touched:
    """Return the steps by resource. A replacement is its parts: a creation and a deletion."""
    names = {"create-replacement": "create", "delete-replaced": "delete"}
    steps = (step for step in result.steps if step.changes and step.type.startswith("aws:"))
    return {(names.get(step.operation, step.operation), step.type, step.name) for step in steps}


def about(found: Touched, operation: str) -> dict[str, set[str]]:
    """By type, the names of what an operation was done to."""
    kinds = {kind for done, kind, _ in found if done == operation}
    return {kind: {name for done, other, name in found if done == operation and other == kind} for kind in kinds}


@pytest.fixture
def change(environment_file: Path) -> Change:
    """Replace a piece of the environment's file; the environment as it is then."""

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
def test_a_change_touches_what_it_must(environment: Environment, environment_file: Path, change: Change) -> None:
    pulumi.up(environment, environment_file)

    # Another type: the template, and nothing that the nodes stand in.
    found = touched(pulumi.up(change("p5.48xlarge", "p5en.48xlarge"), environment_file))
    assert found == {("update", "aws:ec2/launchTemplate:LaunchTemplate", "graph-p5")}, found

    # Another zone: what is in it is new, what joins the zones knows one more, and no zone that was there is touched.
    found = touched(pulumi.up(change(ZONES, "zones: [use1-az2, use1-az4, use1-az6]"), environment_file))
    assert about(found, "delete") == {} and {kind: len(names) for kind, names in about(found, "create").items()} == {
        SUBNET: 1,
        ROUTES: 1,
        "aws:ec2/routeTableAssociation:RouteTableAssociation": 1,
        "aws:ec2/route:Route": 1,
        "aws:ec2/placementGroup:PlacementGroup": 1,
    }, found
    assert all("use1-az2" in name for kind, names in about(found, "create").items() for name in names), found
    assert set(about(found, "update")) <= {
        "aws:ec2transitgateway/vpcAttachment:VpcAttachment",
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        "aws:ec2/launchTemplate:LaunchTemplate",
    }, found

    # Another name of the pool: the old pool's things go, the new one's come, and the network stays.
    found = touched(pulumi.up(change("- name: p5\n", "- name: hopper\n"), environment_file))
    gone, come = about(found, "delete"), about(found, "create")
    assert all("p5" in name for names in gone.values() for name in names), gone
    assert {kind: len(names) for kind, names in gone.items()} == {kind: len(names) for kind, names in come.items()}
    assert all("hopper" in name for names in come.values() for name in names), come
    assert {"aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/securityGroup:SecurityGroup"} <= set(gone)
    # Who may launch is told by pool; nothing else hears of it.
    assert set(about(found, "update")) <= {"aws:iam/rolePolicy:RolePolicy"}, found
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
    found = load_environment(file)
    assert found.environment is not None, found.findings
    return found.environment
