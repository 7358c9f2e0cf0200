"""Each environment to fork under Pulumi's real engine: up, up again and refreshed without a change, and destroyed."""

from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.conftest import ROOT
from tests.graph.support.inventory import left

pytestmark = [pytest.mark.engine]

#: A later change in an environment's file; an update then changes one resource.
GROWTH = {"frontier": ("capacity_gib: 48000", "capacity_gib: 96000")}


@pytest.mark.parametrize("name", ["hybrid", pytest.param("regulated", marks=pytest.mark.long), "frontier"])
def test_an_environment_is_created_updated_and_destroyed(
    engine: Engine, cloud: EmulatorProcess, environment_file: Path, name: str
) -> None:
    text = (ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text()
    # Nothing is protected, since the test destroys everything; and AWS is the emulated one.
    emulated = f"    aws:\n      protect: false\n      endpoints: {{operator: '{cloud.endpoint}'}}\n"
    environment_file.write_text(text.replace("    aws:\n", emulated, 1))
    environment = _read(environment_file)
    before = left(cloud, environment.region)
    try:
        built = pulumi.up(environment, environment_file)
        assert set(built.changes) == {"create"} and built.outputs is not None
        assert set(built.outputs.pools) == {pool.name for pool in environment.aws.pools}
        assert _done(pulumi.up(environment, environment_file)) == set()
        assert _done(pulumi.refresh(environment, environment_file)) == set()
        if name in GROWTH:
            environment_file.write_text(environment_file.read_text().replace(*GROWTH[name]))
            grown = _done(pulumi.up(_read(environment_file), environment_file))
            assert grown == {("update", "aws:fsx/lustreFileSystem:LustreFileSystem", "graph-cloud-scratch")}
    finally:
        pulumi.destroy(environment, environment_file)
    assert left(cloud, environment.region) == before


def _done(result: pulumi.OperationResult) -> set[tuple[str, str, str]]:
    """Return the steps by resource; of a refresh, the differences from the state."""
    changed = {(step.operation, step.type, step.name) for step in result.steps if step.changes}
    assert bool(changed) == bool(result.changed), result.changes
    return changed


def _read(file: Path) -> Environment:
    loaded = load_environment(file)
    assert loaded.environment is not None, loaded.findings
    return loaded.environment
