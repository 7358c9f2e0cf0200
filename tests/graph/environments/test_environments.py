"""Every shipped environment: recorded as a preview and as an update, with all inputs checked, and summed up."""

from pathlib import Path

import pytest

from landbridge.environment import load_environment
from landbridge.findings import Severity
from landbridge.rules import check
from sandbox.pulumi_provider.aws import RESOURCE_TYPES
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.checks.all_checks import all_problems
from sandbox.pulumi_provider.graph import Graph, record
from sandbox.pulumi_provider.program import program_of
from tests.graph.golden import GOLDEN, ROOT, SHIPPED, environment_of, recorded, summary
from tests.graph.support.aws_ids import Lifelike

#: Rules of example addresses, which a file to fork must have.
EXAMPLES = {"gateway-example-address"}


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "stacks")
    # Without this, an output in a text would be noted in the property's value alone.
    monkeypatch.setenv("PULUMI_ERROR_OUTPUT_STRING", "true")


@pytest.mark.parametrize("name", SHIPPED)
def test_the_graph_agrees_with_its_reviewed_summary(name: str) -> None:
    golden = GOLDEN / f"{name}.txt"
    assert golden.is_file() and summary(name) == golden.read_text(), "python -m tests.graph.golden, and review the diff"


def test_every_summary_has_an_environment() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(SHIPPED)


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
@pytest.mark.parametrize("name", SHIPPED)
def test_all_inputs_pass_every_validator(name: str, preview: bool) -> None:
    program, stack, config = program_of(Path(f"Pulumi.{name}.yaml").resolve())
    graph = record(program, stack=stack, config=config, backing=Lifelike(config["aws:region"]), preview=preview)
    custom = [node for node in graph.nodes.values() if node.custom and not node.type.startswith("pulumi:")]
    assert len(custom) > 40 and {node.type for node in custom} <= set(RESOURCE_TYPES)
    problems = {
        f"{node.type} {node.name} {sdk_args.spell(path)}": reason
        for node in custom
        for path, reason in all_problems(node.type, node.inputs)
    }
    assert problems == {}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_preview_shows_what_an_update_creates(name: str) -> None:
    preview, update = recorded(name, preview=True), recorded(name)
    assert set(preview.nodes) == set(update.nodes)
    assert preview.secret_outputs == update.secret_outputs


@pytest.mark.parametrize("name", SHIPPED)
def test_check_has_no_errors_and_no_warnings_about_capacity_blocks(name: str) -> None:
    loaded = load_environment(Path(f"Pulumi.{name}.yaml"))
    reported = check(loaded)
    assert [finding for finding in reported if finding.severity is Severity.ERROR] == []
    assert not [
        finding for finding in reported if finding.rule.startswith("block-") and finding.severity is Severity.WARNING
    ], reported


@pytest.mark.parametrize("name", SHIPPED)
def test_no_bucket_exists_for_a_class_that_may_not_be_in_aws(name: str) -> None:
    environment, graph = environment_of(name), recorded(name)
    allowed = {key for key, data_class in environment.data_classes.items() if "aws" in data_class.sites}
    assert set(graph.outputs["data_hub"]["buckets"]) == allowed


def test_the_regulated_environment_has_no_route_to_the_internet() -> None:
    graph = recorded("regulated")
    assert not graph.of_type("aws:ec2/internetGateway:InternetGateway")
    assert not graph.of_type("aws:ec2/natGateway:NatGateway")
    assert not [route for route in graph.of_type("aws:ec2/route:Route") if _default(route.inputs)]
    services = {
        endpoint.inputs["serviceName"].rsplit(".", 1)[-1]
        for endpoint in graph.of_type("aws:ec2/vpcEndpoint:VpcEndpoint")
    }
    assert {"s3", "ec2", "sts", "ssm"} <= services


@pytest.mark.parametrize("name", ["regulated"])
def test_no_arn_is_of_the_commercial_partition(name: str) -> None:
    text = _text(recorded(name))
    assert "arn:aws-us-gov:" in text and "arn:aws:" not in text


def _default(inputs: dict[str, object]) -> bool:
    return inputs.get("destinationCidrBlock") == "0.0.0.0/0"


def _text(graph: Graph) -> str:
    return "\n".join(repr(node.inputs) for node in graph.nodes.values() if node.custom)
