"""Each component in a separate Pulumi program: the examples of docs/reference/components.md, recorded."""

import runpy
from pathlib import Path

import pytest

import components
from landbridge.policy import Level, violations
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.graph import record
from sandbox.pulumi_provider.policy_view import resources
from tests.graph.conftest import ROOT
from tests.graph.environments.test_program import Answering

EXAMPLES = sorted((ROOT / "examples" / "components").glob("*.py"))
#: Parts of a component that are not used alone.
PARTS = {"Alarms", "Reaper", "Trail"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
def test_an_example_creates_valid_resources_that_follow_the_policies(example: Path, preview: bool) -> None:
    graph = record(
        lambda: runpy.run_path(str(example), run_name="__main__"),
        stack="alone",
        config={},
        backing=Answering(),
        preview=preview,
    )
    created = [node for node in graph.nodes.values() if node.custom and not node.type.startswith("pulumi:")]
    wrong = {node.key: list(sdk_args.problems(node.type, node.inputs)) for node in created}
    assert {key: problems for key, problems in wrong.items() if problems} == {}
    assert all("pulumi:providers:aws::aws" in node.provider for node in created)
    broken = [str(violation) for violation in violations(resources(graph)) if violation.level is Level.MANDATORY]
    assert broken == []


def test_every_component_has_an_example_of_ten_lines() -> None:
    named = set(components.classes())
    texts = {example: example.read_text() for example in EXAMPLES}
    shown = {name for name in named for text in texts.values() if f"{name}(" in text}
    assert shown == named - PARTS
    for example, text in texts.items():
        code = [line for line in text.splitlines() if line and not line.startswith(("import ", "from "))]
        assert len(code) <= 10, f"{example.name}: {len(code)} lines"
