"""IAM roles in the recorded graph: names, paths, boundaries, additional permissions of nodes, and the site's access."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.outputs import StackOutputs
from sandbox.pulumi_provider.graph import Graph
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import ACCOUNT, graph_of

SECRET = "aws:secretsmanager/secret:Secret"
ROLE, POLICY = "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
ANCHOR, PROFILE = "aws:rolesanywhere/trustAnchor:TrustAnchor", "aws:rolesanywhere/profile:Profile"
ACTIVATION = "aws:ssm/activation:Activation"
NAMES = {"node", "launch", "terminate", "read", "hub", "mover"}
#: The sandbox has one data class in AWS.
JOB = "job-internal"
BOUNDARY = f"arn:aws:iam::{ACCOUNT}:policy/edge"
PEM = "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def with_iam(tmp_path: Path, iam: str, *, preview: bool = False) -> Graph:
    return graph_of(tmp_path, ("protect: false", f"protect: false\n      iam: {iam}"), preview=preview)


def roles(graph: Graph) -> dict[str, dict[str, Any]]:
    return {node.inputs["name"].removeprefix("variant-"): node.inputs for node in graph.of_type(ROLE)}


def statements(graph: Graph, role: str) -> dict[str, dict[str, Any]]:
    policy = next(node for node in graph.of_type(POLICY) if node.name == f"variant-{role}")
    return {statement["Sid"]: statement for statement in json.loads(policy.inputs["policy"])["Statement"]}


def trust(graph: Graph, role: str) -> dict[str, Any]:
    statement, *_ = json.loads(roles(graph)[role]["assumeRolePolicy"])["Statement"]
    return dict(statement)


def test_each_role_has_one_purpose(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    names = NAMES | {JOB}
    assert set(roles(graph)) == names
    allowed = {
        role: {a for s in statements(graph, role).values() if s["Effect"] == "Allow" for a in s["Action"]}
        for role in names
    }
    holders = {
        action: {role for role in names if action in allowed[role]} for role in names for action in allowed[role]
    }
    assert holders["ec2:RunInstances"] == holders["iam:PassRole"] == {"launch"}
    assert "ec2:CreateFleet" not in holders
    assert holders["ec2:TerminateInstances"] == {"terminate"}
    assert holders["s3:DeleteObject"] == {"hub"}
    assert holders["s3:PutObject"] == {JOB, "hub", "mover"}
    assert allowed["node"] == {"secretsmanager:GetSecretValue", "sts:AssumeRole", "sts:SetSourceIdentity"}
    assert holders["secretsmanager:GetSecretValue"] == {"node", "launch"}
    common = {"StringEquals": {"aws:SourceAccount": ACCOUNT, "aws:PrincipalTag/x509Subject/CN": ["ctl01", "mlops01"]}}
    assert trust(graph, "read")["Condition"] == common
    assert trust(graph, "node")["Principal"] == {"Service": "ec2.amazonaws.com"}


def test_the_metrics_of_nodes_need_a_secret_and_a_role_that_finds_instances(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, ("services: {", "services: {monitoring: mlops01, "))
    assert set(roles(graph)) == NAMES | {JOB, "discovery"}
    secret = next(node for node in graph.of_type(SECRET) if node.inputs["name"] == "variant/node-metrics")
    allowed = [each for each in statements(graph, "discovery").values() if each["Effect"] == "Allow"]
    assert [each["Action"] for each in allowed] == [["ec2:DescribeInstances"]]
    read, written = (statements(graph, role) for role in ("node", "launch"))
    assert read["ReadMetricsCertificate"]["Resource"] == written["PublishMetricsCertificate"]["Resource"]
    assert "secretString" not in secret.inputs


def test_data_that_must_stay_on_prem_is_denied_to_every_role(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    for role in NAMES | {JOB}:
        by_sid = statements(graph, role)
        assert by_sid["DenyRestrictedBuckets"]["Resource"] == [
            "arn:aws:s3:::variant-restricted-????????????",
            "arn:aws:s3:::variant-restricted-????????????/*",
        ]
        assert by_sid["DenyRestrictedResourceTag"]["Effect"] == "Deny"
    everywhere = graph_of(tmp_path, ("restricted: {sites: [onprem]}", "restricted: {sites: [onprem, aws]}"))
    assert not [sid for sid in statements(everywhere, "node") if sid.startswith("Deny")]


def test_paths_and_boundaries_are_on_every_role(tmp_path: Path) -> None:
    graph = with_iam(tmp_path, f"{{path: /team/, permissions_boundary: '{BOUNDARY}'}}")
    for inputs in roles(graph).values():
        assert (inputs["path"], inputs["permissionsBoundary"]) == ("/team/", BOUNDARY)
    assert graph.of_type("aws:iam/instanceProfile:InstanceProfile")[0].inputs["path"] == "/team/"


def test_agents_of_nodes_get_additional_policies_and_jobs_additional_statements(tmp_path: Path) -> None:
    graph = with_iam(
        tmp_path,
        "{node_policies: ['arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore'], node_statements: "
        "[{actions: ['s3:GetObject'], resources: ['arn:aws:s3:::open/*'], conditions: {Bool: {aws:SecureTransport: 'true'}}}, "
        "{effect: Deny, actions: ['s3:GetObject'], resources: ['arn:aws:s3:::open/x']}]}",
    )
    (attached,) = graph.of_type(ATTACHMENT)
    assert (attached.name, attached.inputs["role"]) == ("variant-node-AmazonSSMManagedInstanceCore", "variant-node")
    assert statements(graph, JOB)["Asked0"] == {
        "Sid": "Asked0",
        "Effect": "Allow",
        "Action": ["s3:GetObject"],
        "Resource": ["arn:aws:s3:::open/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "true"}},
    }
    assert "Asked0" not in statements(graph, "hub") and "Asked0" not in statements(graph, "node")
    assert statements(graph, "node")["Asked1"] == statements(graph, JOB)["Asked1"]


@pytest.mark.parametrize("preview", [True, False])
def test_the_site_assumes_roles_with_certificates(tmp_path: Path, preview: bool) -> None:
    graph = with_iam(tmp_path, f'{{anywhere: {{certificate: "{PEM}", minutes: 30}}}}', preview=preview)
    (anchor,) = graph.of_type(ANCHOR)
    assert anchor.inputs["source"]["sourceType"] == "CERTIFICATE_BUNDLE"
    assert anchor.inputs["source"]["sourceData"]["x509CertificateData"].startswith("-----BEGIN CERTIFICATE-----\n")
    profiles = {node.name: node.inputs for node in graph.of_type(PROFILE)}
    assert set(profiles) == {f"variant-{role}" for role in (NAMES | {JOB}) - {"node"}}
    assert all(profile["durationSeconds"] == 1800 and len(profile["roleArns"]) == 1 for profile in profiles.values())
    if not preview:
        arn = f"arn:aws:test:us-east-1:{ACCOUNT}:variant"
        assert trust(graph, "launch")["Condition"]["ArnEquals"] == {"aws:SourceArn": arn}
        outputs = StackOutputs.model_validate(graph.outputs)
        assert set(outputs.identity.job_profile_arns) == set(outputs.identity.job_role_arns) == {"internal"}
        assert outputs.identity.trust_anchor_arn == arn and set(outputs.identity.profile_arns) == NAMES - {"node"}


def test_a_longer_session_raises_the_limit_of_the_role(tmp_path: Path) -> None:
    graph = with_iam(tmp_path, f'{{anywhere: {{certificate: "{PEM}", minutes: 120}}}}')
    limits = {role: inputs.get("maxSessionDuration") for role, inputs in roles(graph).items()}
    assert limits == {**dict.fromkeys((NAMES | {JOB}) - {"node"}, 7200), "node": None}


def test_an_activation_s_code_is_a_secret(tmp_path: Path) -> None:
    graph = with_iam(tmp_path, "{ssm_activation: {registrations: 20, expires: 2026-12-10T00:00:00Z}}")
    (activation,) = graph.of_type(ACTIVATION)
    assert activation.inputs["expirationDate"] == "2026-12-10T00:00:00Z"
    assert trust(graph, "managed")["Condition"] == {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
    assert "ssm_activation_code" in graph.secret_outputs
    outputs = StackOutputs.model_validate(graph.outputs)
    assert "ssm_activation_code" not in outputs.public()
