"""Settings of single pools in the recorded graph: CPU options."""

from pathlib import Path

import pytest

from sandbox.pulumi_provider.checks.property_combinations import combination_problems
from sandbox.pulumi_provider.graph import Graph
from tests.graph.components.pools.test_network_and_pools import pool, wrong
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import graph_of, template

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def differing(first: Graph, second: Graph) -> set[str]:
    """Return the names of resources that only one graph has, or whose inputs differ."""
    first_inputs, second_inputs = (
        {node.key: node.inputs for node in graph.nodes.values()} for graph in (first, second)
    )
    keys = first_inputs.keys() | second_inputs.keys()
    changed = [key for key in keys if first_inputs.get(key) != second_inputs.get(key)]
    return {(first.nodes.get(key) or second.nodes[key]).name for key in changed}


def test_smt_is_off_in_the_launch_template_alone(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, pool("threads_per_core: 1"))
    assert wrong(graph) == {}
    assert template(graph)["cpuOptions"] == {"coreCount": 96, "threadsPerCore": 1}
    default = graph_of(tmp_path)
    assert "cpuOptions" not in template(default)
    assert differing(default, graph) == {"variant-p5"}
    assert differing(graph, graph_of(tmp_path, pool("threads_per_core: 1"))) == set()


@pytest.mark.parametrize("part", ["coreCount", "threadsPerCore"])
def test_ec2_refuses_half_of_the_cpu_options(part: str) -> None:
    (problem,) = combination_problems(TEMPLATE, {"cpuOptions": {part: 1}})
    assert problem[0] == ("cpuOptions",) and "both" in problem[1]
