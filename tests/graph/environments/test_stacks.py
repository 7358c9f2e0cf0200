"""One environment as one stack and as three: the same resources, and the outputs that a stack reads from another."""

from pathlib import Path

import pulumi
import pytest

from landbridge.plan.outputs import StackOutputs
from landbridge.plan.stacks import HANDOVER
from sandbox.pulumi_provider.graph import Graph, NoSuchStack, record
from sandbox.pulumi_provider.program import program_of
from sandbox.pulumi_provider.recorder import joined, record_stacks
from tests.graph.conftest import ROOT
from tests.graph.golden import SHIPPED, In

LAYERS = ("foundation", "cluster", "platform")


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "stacks")
    monkeypatch.setenv("PULUMI_ERROR_OUTPUT_STRING", "true")


def variant(folder: Path, name: str, shape: str) -> Path:
    """Write a shipped environment with `shape` stacks, one or three, and return its file."""
    text = (ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text()
    marked = "  landbridge:environment:\n"
    assert text.count(marked) == 1
    file = folder / f"Pulumi.{name}.yaml"
    file.write_text(text.replace(marked, f"{marked}    stacks: {shape}\n"))
    return file


def recorded(folder: Path, name: str, shape: str, *, preview: bool = False) -> dict[str, Graph]:
    file = variant(folder, name, shape)
    return record_stacks(file, In(str(program_of(file)[2]["aws:region"])), preview=preview)


def resources_of(graph: Graph) -> dict[str, object]:
    """Return the resources by type and name, without the stack that they are in."""
    return {
        f"{node.key.split('::', 2)[2]}": (node.inputs, node.protect, node.retain)
        for node in graph.nodes.values()
        if not node.type.startswith("pulumi:")
    }


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
@pytest.mark.parametrize("name", SHIPPED)
def test_three_stacks_create_what_one_creates(tmp_path: Path, name: str, preview: bool) -> None:
    single = recorded(tmp_path, name, "one", preview=preview)
    three = recorded(tmp_path, name, "three", preview=preview)
    assert list(single) == [name] and list(three) == [f"{name}-{layer}" for layer in LAYERS]
    whole, parts = resources_of(joined(single.values())), resources_of(joined(three.values()))
    assert set(parts) == set(whole)
    assert sum(len(resources_of(graph)) for graph in three.values()) == len(whole), "each is in one stack alone"
    if not preview:
        assert parts == whole
        assert joined(three.values()).outputs == joined(single.values()).outputs
        StackOutputs.model_validate(joined(three.values()).outputs)
        assert joined(three.values()).secret_outputs == joined(single.values()).secret_outputs


def test_nothing_secret_is_handed_over(tmp_path: Path) -> None:
    three = recorded(tmp_path, "sandbox", "three")
    assert HANDOVER in three["sandbox-foundation"].outputs
    assert HANDOVER not in three["sandbox-foundation"].secret_outputs
    assert HANDOVER not in recorded(tmp_path, "sandbox", "one")["sandbox"].outputs


def test_a_layer_before_its_foundation_names_the_stack_that_comes_first(tmp_path: Path) -> None:
    file = variant(tmp_path, "sandbox", "three")
    program, _, config = program_of(file)

    def cluster(stacks: dict[str, dict[str, object]], *, preview: bool) -> Graph:
        return record(
            program, stack="sandbox-cluster", config=config, backing=In("us-east-1"), preview=preview, stacks=stacks
        )

    with pytest.raises(NoSuchStack, match="sandbox-foundation"):
        cluster({}, preview=True)
    # The foundation exists without resources: a preview shows the cluster, and an update is refused.
    assert len(resources_of(cluster({"sandbox-foundation": {}}, preview=True))) > 10
    with pytest.raises(pulumi.RunError, match="bring sandbox-foundation up first"):
        cluster({"sandbox-foundation": {}}, preview=False)


def test_a_zone_that_the_foundation_does_not_have_yet_is_named(tmp_path: Path) -> None:
    before = recorded(tmp_path, "sandbox", "three")["sandbox-foundation"].outputs
    file = variant(tmp_path, "sandbox", "three")
    file.write_text(file.read_text().replace("zones: [use1-az4, use1-az6]", "zones: [use1-az2, use1-az4, use1-az6]"))
    program, _, config = program_of(file)
    with pytest.raises(pulumi.RunError, match=r"use1-az2 yet: bring sandbox-foundation up first"):
        record(
            program,
            stack="sandbox-cluster",
            config=config,
            backing=In("us-east-1"),
            stacks={"sandbox-foundation": before},
        )


def test_a_stack_that_the_environment_does_not_have_is_refused(tmp_path: Path) -> None:
    program, _, config = program_of(variant(tmp_path, "sandbox", "three"))
    with pytest.raises(pulumi.RunError, match="sandbox-foundation, sandbox-cluster, sandbox-platform"):
        record(program, stack="sandbox", config=config, backing=In("us-east-1"))
