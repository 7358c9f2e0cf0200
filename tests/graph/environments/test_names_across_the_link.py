"""DNS across the link and SageMaker depend on several layers: the same in one stack and in three."""

from pathlib import Path

import pytest

from sandbox.pulumi_provider.program import program_of
from sandbox.pulumi_provider.recorder import joined, record_stacks
from tests.graph.conftest import ROOT
from tests.graph.environments.test_stacks import resources_of, variant
from tests.graph.golden import In

EDITS = (
    ("    budget: {monthly_usd: 1000}\n", "    budget: {monthly_usd: 1000}\n    dns: {query_logs: true}\n"),
    ("      mlflow: {port: 5000}", "      mlflow: {port: 5000}\n      sagemaker: {}"),
    (
        "      data_hub: {kind: s3}\n",
        "      data_hub: {kind: s3}\n      cloud_scratch: {kind: fsx_lustre, zone: use1-az4}\n",
    ),
)


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
def test_three_stacks_create_what_one_creates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preview: bool) -> None:
    monkeypatch.chdir(ROOT / "stacks")
    graphs = {}
    for shape in ("one", "three"):
        file = variant(tmp_path, "sandbox", shape)
        text = file.read_text()
        for old, new in EDITS:
            assert old in text
            text = text.replace(old, new)
        file.write_text(text)
        graphs[shape] = record_stacks(file, In(str(program_of(file)[2]["aws:region"])), preview=preview)
    single, three = joined(graphs["one"].values()), joined(graphs["three"].values())
    assert set(resources_of(single)) == set(resources_of(three))
    stacks = {
        node.type: stack
        for stack, graph in graphs["three"].items()
        for node in graph.nodes.values()
        if "route53" in node.type or node.type.startswith("aws:sagemaker")
    }
    assert stacks["aws:route53/zone:Zone"] == "sandbox-foundation"
    assert stacks["aws:route53/record:Record"] == "sandbox-cluster"
    assert stacks["aws:sagemaker/modelPackageGroup:ModelPackageGroup"] == "sandbox-platform"
    if not preview:
        assert resources_of(single) == resources_of(three) and single.outputs == three.outputs
