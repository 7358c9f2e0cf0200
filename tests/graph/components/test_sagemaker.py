"""SageMaker beside the cluster: in the recorded graph, and created in the emulated AWS."""

import json
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.recorder import apply
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import PROTECTED, graph_of
from tests.graph.support.inventory import client, left

GROUP = "aws:sagemaker/modelPackageGroup:ModelPackageGroup"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def with_sagemaker(text: str = "{}") -> tuple[str, str]:
    return "      mlflow: {port: 5000}", f"      mlflow: {{port: 5000}}\n      sagemaker: {text}"


def test_sagemaker_has_no_resources_by_default(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    assert [node.key for node in graph.nodes.values() if "sagemaker" in node.key.lower()] == []


def test_there_is_no_domain_and_no_ingress(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, with_sagemaker("{model_groups: [vision, language]}"), PROTECTED)
    assert {node.type for node in graph.nodes.values() if node.type.startswith("aws:sagemaker")} == {GROUP}
    groups = {node.name: node for node in graph.of_type(GROUP)}
    assert set(groups) == {"variant-vision", "variant-language"}
    assert all(node.protect and node.retain for node in groups.values())
    rules = [node.inputs for node in graph.of_type(INGRESS) if node.name.startswith("variant-sagemaker")]
    assert [rule.get("cidrIpv4") for rule in rules] == [None]
    outputs = graph.outputs["sagemaker"]
    assert outputs["model_groups"] == {"vision": "variant-vision", "language": "variant-language"}
    assert outputs["prefix"] == "sagemaker" and len(outputs["subnet_ids"]) == 2
    assert set(outputs["classes"]) == {"internal"}


def test_each_data_class_has_a_role_a_policy_and_a_security_group_of_its_own(tmp_path: Path) -> None:
    classes = "      internal: {sites: [onprem, aws]}\n"
    graph = graph_of(tmp_path, with_sagemaker(), (classes, f"{classes}      partner: {{sites: [onprem, aws]}}\n"))
    policies = {
        node.name: {entry["Sid"]: entry for entry in json.loads(node.inputs["policy"])["Statement"]}
        for kind in ("aws:iam/rolePolicy:RolePolicy", "aws:iam/policy:Policy")
        for node in graph.of_type(kind)
    }
    outputs = graph.outputs["sagemaker"]["classes"]
    assert set(outputs) == {"internal", "partner"}
    for name, other in (("internal", "partner"), ("partner", "internal")):
        assert other not in json.dumps(policies[f"variant-sagemaker-{name}"]["ReadHubObjects"])
        assert policies[f"variant-train-{name}"]["PassTrainingRole"]["Resource"] == outputs[name]["role_arn"]
    assert outputs["internal"]["security_group_id"] != outputs["partner"]["security_group_id"]


def test_a_job_reads_only_classes_that_may_be_in_aws(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, with_sagemaker())
    (policy,) = (
        node for node in graph.of_type("aws:iam/rolePolicy:RolePolicy") if node.name == "variant-sagemaker-internal"
    )
    statements = {statement["Sid"]: statement for statement in json.loads(policy.inputs["policy"])["Statement"]}
    buckets = {node.name: node for node in graph.of_type("aws:s3/bucket:Bucket")}
    assert set(buckets) == {"variant-internal"}
    readable = statements["ReadHubObjects"]["Resource"]
    assert statements["WriteHubObjects"]["Resource"] == readable.replace("/*", "/sagemaker/*")
    assert statements["DenyRestrictedBuckets"]["Effect"] == "Deny"


def test_all_inputs_are_valid_in_a_preview_too(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, with_sagemaker(), preview=True)
    for node in graph.nodes.values():
        if node.custom and not node.type.startswith("pulumi:"):
            assert [(sdk_args.spell(path), why) for path, why in sdk_args.problems(node.type, node.inputs)] == [], (
                node.key
            )
    assert set(graph.nodes) == set(graph_of(tmp_path, with_sagemaker()).nodes)


def test_model_groups_are_created_and_destroyed_unless_they_contain_a_model(
    cloud: EmulatorProcess, environment_file: Path
) -> None:
    before = left(cloud)
    environment_file.write_text(environment_file.read_text().replace(*with_sagemaker()))
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    models = client(cloud, "sagemaker")
    assert applied.outputs.sagemaker is not None
    assert applied.outputs.sagemaker.model_groups == {"models": "graph-models"}
    with pytest.raises(ClientError, match="already exists"):
        models.create_model_package_group(ModelPackageGroupName="graph-models")
    version = models.create_model_package(
        ModelPackageGroupName="graph-models", ModelApprovalStatus="PendingManualApproval"
    )
    with pytest.raises(ClientError, match="has model packages"):
        models.delete_model_package_group(ModelPackageGroupName="graph-models")
    assert version["ModelPackageArn"].endswith("/graph-models/1")
    models.delete_model_package(ModelPackageName=version["ModelPackageArn"])
    applied.destroy()
    assert left(cloud) == before
    assert models.list_model_package_groups()["ModelPackageGroupSummaryList"] == []
