"""Scripts of pools in the recorded graph: the launch template's user data, the nodes' role, and the endpoint of S3."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from sandbox.pulumi_provider.graph import Graph
from tests.graph.components.pools.test_network_and_pools import ENDPOINT, PUBLIC, pool, wrong
from tests.graph.components.test_identity import statements
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import ACCOUNT, graph_of

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
HUB = f"variant-internal-{ACCOUNT}"
SHA = "f" * 64
SCRIPTS = pool(
    f"""actions:
  node_start:
    - {{script: s3://acme-scripts/setup.sh, sha256: {SHA}, arguments: [--quiet], timeout: 60}}
  node_configured:
    - {{script: s3://{HUB}/scripts/x.sh, sha256: {SHA}}}"""
)


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def pool_file(graph: Graph) -> dict[str, Any]:
    """Return the content of the pool's file in the user data of the launch template."""
    (template,) = graph.of_type(TEMPLATE)
    text = base64.b64decode(template.inputs["userData"]).decode()
    (file,) = json.loads(text.partition("\n")[2])["write_files"]
    return dict(json.loads(file["content"]))


def test_the_launch_template_has_the_scripts_and_the_units_that_an_image_needs(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, SCRIPTS)
    assert wrong(graph) == {}
    file = pool_file(graph)
    (first,), (second,) = file["actions"]["node_start"], file["actions"]["node_configured"]
    assert (first["bucket"], first["key"], first["sha256"]) == ("acme-scripts", "setup.sh", SHA)
    assert (first["arguments"], first["timeout"]) == (["--quiet"], 60) and second["bucket"] == HUB
    assert {"landbridge-node-start", "landbridge-node-configured"} <= set(file["verify"]["units"])
    assert set(pool_file(graph_of(tmp_path))) == set(file) - {"actions"}


def test_the_nodes_role_alone_reads_the_objects_and_uses_the_key_of_the_hubs_class(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, SCRIPTS)
    by_sid = statements(graph, "node")
    assert by_sid["ReadScripts"]["Resource"] == [
        "arn:aws:s3:::acme-scripts/setup.sh",
        f"arn:aws:s3:::{HUB}/scripts/x.sh",
    ]
    (key,) = [node for node in graph.of_type("aws:kms/key:Key") if node.name.endswith("internal")]
    assert by_sid["DecryptScripts"]["Resource"] == [f"arn:aws:test:us-east-1:{ACCOUNT}:{key.name}"]
    for role in ("launch", "terminate", "read", "hub", "mover", "job-internal"):
        assert not {"ReadScripts", "DecryptScripts"} & set(statements(graph, role)), role
    assert not {"ReadScripts", "DecryptScripts"} & set(statements(graph_of(tmp_path), "node"))


def test_the_gateway_endpoint_permits_exactly_the_objects(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, SCRIPTS, PUBLIC)
    (endpoint,) = [node for node in graph.of_type(ENDPOINT) if node.inputs["serviceName"].endswith(".s3")]
    rows = {row["Sid"]: row for row in json.loads(endpoint.inputs["policy"])["Statement"]}
    assert rows["ScriptsOfPools"]["Action"] == ["s3:GetObject"]
    assert rows["ScriptsOfPools"]["Resource"] == [
        "arn:aws:s3:::acme-scripts/setup.sh",
        f"arn:aws:s3:::{HUB}/scripts/x.sh",
    ]
    assert rows["ScriptsOfPools"]["Condition"] == {"StringEquals": {"aws:PrincipalAccount": [ACCOUNT]}}
