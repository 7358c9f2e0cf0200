"""A node image's pipeline: as the graph has it, made in the emulated AWS, started, and found again by the lock."""

import hashlib
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.aws_api.client import AwsClient
from landbridge.environment import Environment, load_environment
from landbridge.environment.file.lock import ImageLock
from landbridge.live.lock import propose
from landbridge.live.sweep import find_leftovers, remove
from landbridge.node_image import bundle, ingredients
from landbridge.plan.node_image.node_image import NodeImageArgs, node_image_args
from landbridge.plan.outputs import StackOutputs
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.recorder import apply, program_of, record_stacks
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.environments.test_program import ACCOUNT, graph_of
from tests.graph.golden import In
from tests.graph.support.inventory import client, left
from tests.unit.live.conftest import as_json, run

RECIPE, PIPELINE = "aws:imagebuilder/imageRecipe:ImageRecipe", "aws:imagebuilder/imagePipeline:ImagePipeline"
COMPONENT, GROUP = "aws:imagebuilder/component:Component", "aws:ec2/securityGroup:SecurityGroup"
LIFECYCLE, OBJECT = "aws:imagebuilder/lifecyclePolicy:LifecyclePolicy", "aws:s3/bucketObject:BucketObject"
INFRASTRUCTURE = "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration"
WAYS_IN = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
DEBIAN = "debian-13-x86_64"


def built(more: str = "") -> tuple[str, str]:
    return "protect: false", f"protect: false\n      images: {{node: {{build: {{{more}}}}}}}"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def one(graph: Graph, token: str, name: str = "variant-node") -> dict[str, Any]:
    (node,) = [node for node in graph.of_type(token) if node.name == name]
    return node.inputs


def environment_of(tmp_path: Path, *changes: tuple[str, str]) -> Environment:
    text = SANDBOX.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "Pulumi.variant.yaml"
    file.write_text(text)
    loaded = load_environment(file)
    assert loaded.environment is not None, loaded.findings
    return loaded.environment


def planned(tmp_path: Path, more: str = "", locked: dict[str, str] | None = None) -> NodeImageArgs:
    (args,) = node_image_args(environment_of(tmp_path, built(more)), locked or {})
    return args


def test_nothing_is_built_where_nothing_is_asked_for(tmp_path: Path) -> None:
    assert graph_of(tmp_path).of_type(PIPELINE) == []


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
def test_every_bag_is_valid(tmp_path: Path, preview: bool) -> None:
    graph = graph_of(tmp_path, built("schedule: cron(0 3 ? * sun *)"), preview=preview)
    assert len(graph.of_type(PIPELINE)) == 1
    for node in graph.nodes.values():
        if node.custom and not node.type.startswith("pulumi:"):
            assert [(sdk_args.spell(path), why) for path, why in sdk_args.problems(node.type, node.inputs)] == [], (
                node.key
            )


def test_the_builder_is_closed_and_what_it_makes_is_encrypted(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, built())
    settings = one(graph, INFRASTRUCTURE)
    assert settings["instanceMetadataOptions"]["httpTokens"] == "required"
    assert settings["terminateInstanceOnFailure"] and "keyPair" not in settings
    (disk,) = one(graph, RECIPE)["blockDeviceMappings"]
    assert disk["ebs"]["encrypted"] == "true" and disk["deviceName"] == "/dev/xvda"
    (group,) = [node.inputs for node in graph.of_type(GROUP) if node.name == "variant-node-build"]
    assert "ingress" not in group
    assert [node for node in graph.of_type(WAYS_IN) if "variant-node" in node.name] == []
    rule = one(graph, LIFECYCLE)
    assert rule["policyDetails"][0]["filter"] == {"type": "COUNT", "value": 5}
    assert rule["policyDetails"][0]["exclusionRules"]["amis"]["lastLaunched"] == {"unit": "DAYS", "value": 90}


def test_the_parent_is_the_locks(tmp_path: Path) -> None:
    assert planned(tmp_path).parent == "ssm:/aws/service/debian/release/13/latest/amd64"
    assert planned(tmp_path, locked={DEBIAN: "ami-0123456789abcdef0"}).parent == "ami-0123456789abcdef0"


def test_the_steps_are_what_image_builders_agent_reads(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, built())
    component, stored = one(graph, COMPONENT), one(graph, OBJECT)
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
        planned(tmp_path, locked={DEBIAN: "ami-0123456789abcdef0"}).version(source),
    }
    assert len({args.version(source), *others}) == 4
    assert int(args.version(source).rpartition(".")[2]) < 2**30


def test_no_secret_travels_with_the_roles(tmp_path: Path) -> None:
    args = planned(tmp_path)
    for name, value in args.variables.items():
        assert not (any(word in name for word in ("password", "_key", "token")) and value) or name in (
            "cloud_identity_key_secret",  # a secret's name, not its value
            "cloud_identity_key_file",
            "cloud_identity_key_owner",
        ), name


def test_where_packages_come_from_is_data(tmp_path: Path) -> None:
    args = planned(
        tmp_path,
        "apt_mirror: http://mirror.example.org:8080/debian, apt_proxy: http://proxy.example.org:3142, "
        "python_find_links: https://wheels.example.org/",
    )
    assert args.variables["python_runtime_find_links"] == "https://wheels.example.org/"
    assert args.settings["APT_PROXY"] == "http://proxy.example.org:3142"
    assert {rule.port for rule in args.egress} == {80, 443, 3142, 8080}
    if args.variables["slurm_common_release"]:
        assert args.variables["slurm_common_repository"]["uris"] == "http://mirror.example.org:8080/debian"


def test_an_image_is_built_found_and_pinned(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Up, a build, the lock, up again: the pool's template changes its image and nothing else; then everything goes."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "sandbox")
    before = left(cloud)
    text = environment_file.read_text()
    assert "image: ami-0a11ce5a9db0c5000" in text
    environment_file.write_text(text.replace(*built()).replace("image: ami-0a11ce5a9db0c5000", "image: node"))
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    images = StackOutputs.model_validate(applied.graph.outputs).images
    environment = load_environment(environment_file).environment
    assert environment is not None
    aws = AwsClient("us-east-1", cloud.endpoint)
    first = propose(environment, None, aws, date(2026, 11, 21))
    assert [finding.rule for finding in first.findings] == ["live-image-built"]
    assert set(first.lock.images) == {DEBIAN}

    builder = client(cloud, "imagebuilder")
    recipe = one(applied.graph, PIPELINE, "graph-node")["imageRecipeArn"]
    with pytest.raises(builder.exceptions.ResourceDependencyException):
        builder.delete_image_recipe(imageRecipeArn=recipe)
    file = ("--file", str(environment_file))
    assert run(capsys, "image", "status", "node", *file)[0] == 1
    for number in (1, 2):
        status, told = as_json(capsys, "image", "build", "node", *file)
        assert (status, told["version"].rpartition("/")[2]) == (0, str(number))
    assert run(capsys, "image", "build", "nodes", *file)[0] == 1
    status, told = as_json(capsys, "image", "status", "node", *file)
    assert status == 0 and [one["version"].rpartition("/")[2] for one in told["builds"]] == ["2", "1"]
    found = propose(environment, first.lock, AwsClient("us-east-1", cloud.endpoint), date(2026, 11, 22))
    node = found.lock.images["node"]
    listed = builder.list_image_pipeline_images(imagePipelineArn=images["node"].pipeline_arn)["imageSummaryList"]
    assert node.ami == told["builds"][0]["ami"]
    assert node.ami == listed[0]["outputResources"]["amis"][0]["image"] and len(listed) == 2
    assert (node.source, node.parameter, node.root_gib) == (images["node"].source, None, 30)
    assert found.findings == () and found.lock.images[DEBIAN] == first.lock.images[DEBIAN]
    assert propose(environment, found.lock, aws, date(2026, 11, 23)).different is False
    read_again = ImageLock({"node": node}).text("graph")
    assert "source: " in read_again and "parameter" not in read_again

    objects = client(cloud, "s3").list_objects_v2(Bucket=f"graph-node-image-{ACCOUNT}")["Contents"]
    assert [item["Key"] for item in objects] == [f"roles/{images['node'].source}.tar"]
    applied.destroy()
    assert left(cloud) == before
    assert _parts(cloud) == 0
    amis = {image["outputResources"]["amis"][0]["image"] for image in listed}
    now = datetime(2026, 11, 23, tzinfo=UTC)
    assert [one for one in find_leftovers(aws, "graph", (), now, standing=True).items if one.type.noun == "image"] == []
    swept = list(find_leftovers(AwsClient("us-east-1", cloud.endpoint), "graph", (), now, standing=False).items)
    assert {one.id for one in swept if one.billed and not one.holds_data} == amis
    remove(lambda: AwsClient("us-east-1", cloud.endpoint), swept, pause_seconds=0)
    assert find_leftovers(AwsClient("us-east-1", cloud.endpoint), "graph", (), now, standing=False).items == ()


def _parts(cloud: EmulatorProcess) -> int:
    """Return the number of the pipeline's parts that still exist."""
    builder, count = client(cloud, "imagebuilder"), 0
    for kind in ("image_pipeline", "lifecycle_policy", "infrastructure_configuration", "distribution_configuration"):
        word, *more = kind.split("_")
        key = f"{word}{''.join(one.capitalize() for one in more)}Arn"
        arn = f"arn:aws:imagebuilder:us-east-1:{ACCOUNT}:{kind.replace('_', '-')}/graph-node"
        try:
            getattr(builder, f"get_{kind}")(**{key: arn})
            count += 1
        except builder.exceptions.ResourceNotFoundException:
            continue
    return count


def test_policies_name_one_image(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, built())
    policies = {
        node.name: json.loads(node.inputs["policy"])["Statement"]
        for node in graph.of_type("aws:iam/rolePolicy:RolePolicy")
    }
    fetch = next(one for one in policies["variant-node-build"] if one["Sid"] == "GetRolesArchive")
    assert fetch["Resource"].endswith(f"/{one(graph, OBJECT)['key']}")
    forget = next(one for one in policies["variant-node-prune"] if one["Sid"] == "DeleteImageBuilderImage")
    assert forget["Resource"] == f"arn:aws:imagebuilder:us-east-1:{ACCOUNT}:image/variant-node/*"


def test_three_stacks_make_the_pipeline_that_one_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three stacks have the same resources; the images' parts are all in the platform stack, above the network's."""
    monkeypatch.chdir(ROOT / "stacks")
    marked = "  landbridge:environment:\n"
    made: dict[str, dict[str, dict[str, Any]]] = {}
    for shape in ("one", "three"):
        text = (ROOT / "stacks/Pulumi.hybrid.yaml").read_text()
        assert text.count(marked) == 1 and text.count("\n      pools:\n") == 1
        text = text.replace(marked, f"{marked}    stacks: {shape}\n")
        file = tmp_path / "Pulumi.hybrid.yaml"
        file.write_text(text.replace("\n      pools:\n", "\n      images: {node: {build: {}}}\n      pools:\n"))
        graphs = record_stacks(file, In(str(program_of(file)[2]["aws:region"])))
        made[shape] = {
            node.key.split("::", 2)[2]: node.inputs
            for name, graph in graphs.items()
            for node in graph.nodes.values()
            if "NodeImage" in node.key and (shape == "one" or name.endswith("-platform"))
        }
    assert len(made["one"]) > 20 and made["three"] == made["one"]
