"""Names across the link and SageMaker hang between layers: the same in one stack and in three."""

from pathlib import Path

import pytest

from sandbox.pulumi_provider.recorder import joined, program_of, record_stacks
from tests.graph.conftest import ROOT
from tests.graph.environments.test_stacks import made, variant
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
def test_three_stacks_make_what_one_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preview: bool) -> None:
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
    one, three = joined(graphs["one"].values()), joined(graphs["three"].values())
    assert set(made(one)) == set(made(three))
    place = {
        node.type: stack
        for stack, graph in graphs["three"].items()
        for node in graph.nodes.values()
        if "route53" in node.type or node.type.startswith("aws:sagemaker")
    }
    assert place["aws:route53/zone:Zone"] == "sandbox-foundation"
    assert place["aws:route53/record:Record"] == "sandbox-cluster"
    assert place["aws:sagemaker/modelPackageGroup:ModelPackageGroup"] == "sandbox-platform"
    if not preview:
        assert made(one) == made(three) and one.outputs == three.outputs
