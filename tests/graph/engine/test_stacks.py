"""Three stacks under Pulumi's real engine: up in order, nothing again, one layer alone, refused out of order, down in reverse."""

import json
from pathlib import Path

import pytest

from landbridge.environment import Environment, load_environment
from landbridge.findings import FindingsError
from landbridge.paths import outputs_file, state_dir
from landbridge.plan.outputs import StackOutputs
from landbridge.realise import pulumi
from landbridge.realise.steps import Event, Message
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import left

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]


def changed(file: Path, old: str, new: str) -> Environment:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    found = load_environment(file).environment
    assert found is not None
    return found


@pytest.fixture
def three(environment_file: Path) -> Environment:
    """The sandbox's environment as three stacks."""
    return changed(environment_file, "landbridge:environment:\n", "landbridge:environment:\n    stacks: three\n")


def test_life_of_three_stacks(
    engine: Engine, cloud: EmulatorProcess, three: Environment, environment_file: Path
) -> None:
    before = left(cloud)
    # The cluster alone has nothing to stand on; everything is shown all the same, with what is not known yet unknown.
    with pytest.raises(FindingsError, match=r"graph-cluster stands on graph-foundation, which has not been built yet"):
        pulumi.up(three, environment_file, layer="cluster")
    ahead = pulumi.preview(three, environment_file)

    built = pulumi.up(three, environment_file)
    assert set(built.changes) == {"create"} and built.changes == ahead.changes
    assert StackOutputs.model_validate_json(outputs_file("graph").read_text()).pools["p5"].max_nodes == 4
    assert "handover" not in json.loads(outputs_file("graph").read_text())
    assert [name for layer in ("cluster", "platform") for name in _secrets(layer)] == [], "what is heard is no secret"
    again = pulumi.up(three, environment_file)
    assert again.changed == 0 and again.outputs == built.outputs

    # A disk of the pool: only the cluster's stack has anything to do, and it can do it alone.
    later = changed(environment_file, "max_nodes: 4", "max_nodes: 4\n          root_volume_gib: 300")
    alone = pulumi.up(later, environment_file, layer="cluster")
    assert (alone.changed, alone.changes["update"]) == (1, 1), alone.changes
    assert alone.outputs is not None and built.outputs is not None
    assert alone.outputs.network == built.outputs.network and alone.outputs.pools != built.outputs.pools
    assert pulumi.preview(later, environment_file).changed == 0

    # What the cluster stands on does not go first, and another number of stacks would build everything twice.
    with pytest.raises(FindingsError, match=r"graph-foundation: .* in another stack stand on it"):
        pulumi.destroy(later, environment_file, layer="foundation")
    with pytest.raises(FindingsError, match="built already, with stacks: three"):
        pulumi.up(later.model_copy(update={"stacks": "one"}), environment_file)

    pulumi.destroy(later, environment_file)
    assert left(cloud) == before and not outputs_file("graph").exists()


def _secrets(layer: str) -> list[str]:
    """The resources of a layer's state that hold something encrypted, besides the reference to the stack below."""
    file = state_dir("graph") / "pulumi" / ".pulumi" / "stacks" / "landbridge" / f"graph-{layer}.json"
    resources = json.loads(file.read_text())["checkpoint"]["latest"]["resources"]
    other = (one for one in resources if one["type"] != "pulumi:pulumi:StackReference")
    return [str(one["urn"]) for one in other if "ciphertext" in json.dumps(one)]


@pytest.mark.long
def test_what_is_protected_keeps_what_it_stands_on(
    engine: Engine, cloud: EmulatorProcess, three: Environment, environment_file: Path
) -> None:
    before = left(cloud)
    kept = changed(environment_file, "protect: false", "protect: true")
    kept = changed(
        environment_file,
        "      data_hub: {kind: s3}",
        "      data_hub: {kind: s3}\n      cloud_scratch: {kind: fsx_lustre, capacity_gib: 1200, deployment: persistent_2}",
    )
    pulumi.up(kept, environment_file)
    said = list[Event]()
    pulumi.destroy(kept, environment_file, said.append)
    told = [one.text for one in said if isinstance(one, Message)]
    assert any("graph-foundation stays" in text for text in told), told
    free = changed(environment_file, "protect: true", "protect: false")
    pulumi.up(free, environment_file)
    pulumi.destroy(free, environment_file)
    assert left(cloud) == before
