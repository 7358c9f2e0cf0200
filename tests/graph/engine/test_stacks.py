"""Three stacks under Pulumi's real engine: up in order, unchanged, one layer alone, refused out of order, destroyed."""

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

pytestmark = [pytest.mark.engine]


def changed(file: Path, old: str, new: str) -> Environment:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    environment = load_environment(file).environment
    assert environment is not None
    return environment


@pytest.fixture
def three(environment_file: Path) -> Environment:
    """Return the sandbox's environment as three stacks."""
    return changed(environment_file, "landbridge:environment:\n", "landbridge:environment:\n    stacks: three\n")


def test_life_of_three_stacks(
    engine: Engine, cloud: EmulatorProcess, three: Environment, environment_file: Path
) -> None:
    before = left(cloud)
    # The cluster alone has no foundation; a preview shows all stacks nevertheless, with unknown outputs.
    with pytest.raises(FindingsError, match=r"graph-cluster depends on graph-foundation, which has not been built yet"):
        pulumi.up(three, environment_file, layer="cluster")
    ahead = pulumi.preview(three, environment_file)

    built = pulumi.up(three, environment_file)
    assert set(built.changes) == {"create"} and built.changes == ahead.changes
    assert StackOutputs.model_validate_json(outputs_file("graph").read_text()).pools["p5"].max_nodes == 4
    assert "handover" not in json.loads(outputs_file("graph").read_text())
    assert [name for layer in ("cluster", "platform") for name in _secrets(layer)] == [], (
        "outputs of other stacks are not secrets"
    )
    repeated = pulumi.up(three, environment_file)
    assert repeated.changed == 0 and repeated.outputs == built.outputs

    # A larger disk of the pool: only the cluster's stack changes, and it can be updated alone.
    later = changed(environment_file, "max_nodes: 4", "max_nodes: 4\n          root_volume_gib: 300")
    alone = pulumi.up(later, environment_file, layer="cluster")
    assert (alone.changed, alone.changes["update"]) == (1, 1), alone.changes
    assert alone.outputs is not None and built.outputs is not None
    assert alone.outputs.network == built.outputs.network and alone.outputs.pools != built.outputs.pools
    assert pulumi.preview(later, environment_file).changed == 0

    # The foundation of the cluster is not destroyed first, and another number of stacks would create everything twice.
    with pytest.raises(FindingsError, match=r"graph-foundation: .* in another stack depend on it"):
        pulumi.destroy(later, environment_file, layer="foundation")
    with pytest.raises(FindingsError, match="is already built with stacks: three"):
        pulumi.up(later.model_copy(update={"stacks": "one"}), environment_file)

    pulumi.destroy(later, environment_file)
    assert left(cloud) == before and not outputs_file("graph").exists()


def _secrets(layer: str) -> list[str]:
    """Return the resources of a layer's state with encrypted values, except the reference to the stack below."""
    file = state_dir("graph") / "pulumi" / ".pulumi" / "stacks" / "landbridge" / f"graph-{layer}.json"
    resources = json.loads(file.read_text())["checkpoint"]["latest"]["resources"]
    other = (resource for resource in resources if resource["type"] != "pulumi:pulumi:StackReference")
    return [str(resource["urn"]) for resource in other if "ciphertext" in json.dumps(resource)]


@pytest.mark.long
def test_a_protected_resource_keeps_the_stack_below(
    engine: Engine, cloud: EmulatorProcess, three: Environment, environment_file: Path
) -> None:
    before = left(cloud)
    protected = changed(environment_file, "protect: false", "protect: true")
    protected = changed(
        environment_file,
        "      data_hub: {kind: s3}",
        "      data_hub: {kind: s3}\n      cloud_scratch: {kind: fsx_lustre, capacity_gib: 1200, deployment: persistent_2}",
    )
    pulumi.up(protected, environment_file)
    events = list[Event]()
    pulumi.destroy(protected, environment_file, events.append)
    messages = [event.text for event in events if isinstance(event, Message)]
    assert any("graph-foundation stays" in text for text in messages), messages
    free = changed(environment_file, "protect: true", "protect: false")
    pulumi.up(free, environment_file)
    pulumi.destroy(free, environment_file)
    assert left(cloud) == before
