"""Pipeline of a node image: in the recorded graph, created in the emulated AWS, started, and found by the lock."""

import hashlib
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.aws_api.client import AwsClient
from landbridge.live.lock import propose
from landbridge.node_image import bundle, ingredients
from landbridge.plan.aws.pool import region_pool_args
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.program import program_of
from sandbox.pulumi_provider.recorder import record_stacks
from tests.graph.components.pools.node_images import (
    COMPONENT,
    DISTRIBUTION,
    DLAMI,
    GROUP,
    INFRASTRUCTURE,
    INGRESS,
    LIFECYCLE,
    OBJECT,
    OTHER_REGION,
    PARENT,
    PIPELINE,
    RECIPE,
    built,
    environment_of,
    inputs_of,
    planned,
)
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.environments.test_program import ACCOUNT, graph_of
from tests.graph.golden import In


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def test_there_is_no_pipeline_by_default(tmp_path: Path) -> None:
    assert graph_of(tmp_path).of_type(PIPELINE) == []


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
def test_all_inputs_are_valid(tmp_path: Path, preview: bool) -> None:
    graph = graph_of(tmp_path, built("schedule: cron(0 3 ? * sun *)"), preview=preview)
    assert len(graph.of_type(PIPELINE)) == 1
    for node in graph.nodes.values():
        if node.custom and not node.type.startswith("pulumi:"):
            assert [(sdk_args.spell(path), why) for path, why in sdk_args.problems(node.type, node.inputs)] == [], (
                node.key
            )


def test_the_builder_has_no_ingress_and_its_image_is_encrypted(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, built())
    settings = inputs_of(graph, INFRASTRUCTURE)
    assert settings["instanceMetadataOptions"]["httpTokens"] == "required"
    assert settings["terminateInstanceOnFailure"] and "keyPair" not in settings
    (disk,) = inputs_of(graph, RECIPE)["blockDeviceMappings"]
    assert disk["ebs"]["encrypted"] == "true" and disk["deviceName"] == "/dev/sda1"
    (group,) = [node.inputs for node in graph.of_type(GROUP) if node.name == "variant-node-build"]
    assert "ingress" not in group
    assert [node for node in graph.of_type(INGRESS) if "variant-node" in node.name] == []
    rule = inputs_of(graph, LIFECYCLE)
    assert rule["policyDetails"][0]["filter"] == {"type": "COUNT", "value": 5}
    assert rule["policyDetails"][0]["exclusionRules"]["amis"]["lastLaunched"] == {"unit": "DAYS", "value": 90}


def test_the_parent_is_the_image_of_the_lock(tmp_path: Path) -> None:
    assert planned(tmp_path).parent == f"ssm:{DLAMI}"
    assert planned(tmp_path, locked={PARENT: "ami-0123456789abcdef0"}).parent == "ami-0123456789abcdef0"


def test_the_steps_are_what_image_builders_agent_reads(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, built())
    component, stored = inputs_of(graph, COMPONENT), inputs_of(graph, OBJECT)
    steps = yaml_text.load(component["data"])
    assert len(component["data"]) <= 16_000 and steps["schemaVersion"] == 1.0
    phases = {phase["name"]: [step["action"] for step in phase["steps"]] for phase in steps["phases"]}
    assert list(phases) == ["build", "validate", "test"]
    (fetch,) = steps["phases"][0]["steps"][0]["inputs"]
    assert fetch["source"] == f"s3://variant-node-image-{ACCOUNT}/{stored['key']}"
    assert fetch["expectedBucketOwner"] == ACCOUNT
    content = Path(stored["source"]["path"]).read_bytes()
    assert stored["key"] == f"roles/{hashlib.sha256(content).hexdigest()}.tar"
    for phase in steps["phases"]:
        for step in phase["steps"]:
            if step["name"] in ("Build", "BuildAgain", "Verify"):
                assert f"{hashlib.sha256(content).hexdigest()}  {fetch['destination']}" in step["inputs"]["commands"][0]


def test_other_ingredients_are_another_version_and_the_same_ones_the_same(tmp_path: Path) -> None:
    args = planned(tmp_path)
    source = ingredients(bundle(ROOT, args.variables, args.settings), args.timeout_minutes)
    assert ingredients(bundle(ROOT, args.variables, args.settings), args.timeout_minutes) == source
    assert ingredients(bundle(ROOT, args.variables, {}), args.timeout_minutes) != source
    assert planned(tmp_path, "keep: 9, schedule: cron(0 3 * * ? *)").version(source) == args.version(source)
    others = {
        args.version("0" * 64),
        planned(tmp_path, "disk_gib: 40").version(source),
        planned(tmp_path, locked={PARENT: "ami-0123456789abcdef0"}).version(source),
    }
    assert len({args.version(source), *others}) == 4
    assert int(args.version(source).rpartition(".")[2]) < 2**30


def test_no_secret_is_among_the_variables(tmp_path: Path) -> None:
    args = planned(tmp_path)
    for name, value in args.variables.items():
        assert not (any(word in name for word in ("password", "_key", "token")) and value) or name in (
            "cloud_identity_key_secret",  # a secret's name, not its value
            "cloud_identity_key_file",
            "cloud_identity_key_owner",
        ), name


def test_package_sources_are_variables(tmp_path: Path) -> None:
    args = planned(
        tmp_path,
        "apt_mirror: http://mirror.example.org:8080/debian, apt_proxy: http://proxy.example.org:3142, "
        "python_find_links: https://wheels.example.org/",
    )
    assert args.variables["python_runtime_find_links"] == "https://wheels.example.org/"
    assert args.settings["APT_PROXY"] == "http://proxy.example.org:3142"
    assert {rule.port for rule in args.egress} == {80, 443, 3142, 8080}
    debian = planned(tmp_path, "parent: debian-13, apt_mirror: http://mirror.example.org:8080/debian")
    assert debian.root_device == "/dev/xvda" and debian.parent.endswith("/debian/release/13/latest/amd64")
    assert "slurm_common_repository" not in args.variables or not args.variables["slurm_common_repository"]
    if debian.variables["slurm_common_release"]:
        assert debian.variables["slurm_common_repository"]["uris"] == "http://mirror.example.org:8080/debian"


KEYS = {region: f"arn:aws:kms:{region}:{ACCOUNT}:key/a" for region in ("us-east-1", "us-east-2")}


def test_the_image_is_copied_to_the_regions_of_its_pools_and_shared(tmp_path: Path) -> None:
    more = f"share_with: ['111122223333'], kms_keys: {json.dumps(KEYS)}"
    graph = graph_of(tmp_path, built(more), OTHER_REGION, ("image: ami-0a11ce5a9db0c5000", "image: node"))
    distributions = inputs_of(graph, DISTRIBUTION)["distributions"]
    configurations = {row["region"]: row["amiDistributionConfiguration"] for row in distributions}
    assert {region: row["kmsKeyId"] for region, row in configurations.items()} == KEYS
    for row in configurations.values():
        assert row["launchPermission"] == {"userIds": ["111122223333"]} and row["amiTags"]["landbridge:image"] == "node"


def test_a_pool_boots_the_copy_of_its_region(
    tmp_path: Path, cloud: EmulatorProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "sandbox")
    changes = (built(), OTHER_REGION, ("image: ami-0a11ce5a9db0c5000", "image: node"))
    environment = environment_of(tmp_path, *changes)
    locked = {"node": "ami-0123456789abcdef0", "node@us-east-2": "ami-00000000000000002"}
    (copied,) = region_pool_args(environment, "us-east-2", locked)
    assert copied.image == "ami-00000000000000002" and copied.root_device == "/dev/sda1"
    (unlocked,) = region_pool_args(environment, "us-east-2", {"node": "ami-0123456789abcdef0"})
    assert unlocked.image.startswith("resolve:ssm:")
    findings = propose(environment, None, AwsClient("us-east-1", cloud.endpoint), date(2026, 11, 25)).findings
    assert [finding.message.rpartition("yet")[2] for finding in findings] == ["", " in us-east-2"]


def test_policies_name_one_image(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, built())
    policies = {
        node.name: json.loads(node.inputs["policy"])["Statement"]
        for node in graph.of_type("aws:iam/rolePolicy:RolePolicy")
    }
    fetch = next(statement for statement in policies["variant-node-build"] if statement["Sid"] == "GetRolesArchive")
    assert fetch["Resource"].endswith(f"/{inputs_of(graph, OBJECT)['key']}")
    delete = next(
        statement for statement in policies["variant-node-prune"] if statement["Sid"] == "DeleteImageBuilderImage"
    )
    assert delete["Resource"] == f"arn:aws:imagebuilder:us-east-1:{ACCOUNT}:image/variant-node/*"


def test_three_stacks_create_the_pipeline_that_one_creates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three stacks have the same resources; all parts of the image are in the platform stack."""
    monkeypatch.chdir(ROOT / "stacks")
    marked = "  landbridge:environment:\n"
    resources: dict[str, dict[str, dict[str, Any]]] = {}
    for shape in ("one", "three"):
        text = (ROOT / "stacks/Pulumi.hybrid.yaml").read_text()
        assert text.count(marked) == 1 and "node: {build: {}}" in text
        file = tmp_path / "Pulumi.hybrid.yaml"
        file.write_text(text.replace(marked, f"{marked}    stacks: {shape}\n"))
        graphs = record_stacks(file, In(str(program_of(file)[2]["aws:region"])))
        resources[shape] = {
            node.key.split("::", 2)[2]: node.inputs
            for name, graph in graphs.items()
            for node in graph.nodes.values()
            if "NodeImage" in node.key and (shape == "one" or name.endswith("-platform"))
        }
    assert len(resources["one"]) > 20 and resources["three"] == resources["one"]
