"""Pipeline of a node image: in the recorded graph, created in the emulated AWS, started, and found by the lock."""

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
from landbridge.plan.aws.pool import region_pool_args
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
DISTRIBUTION = "aws:imagebuilder/distributionConfiguration:DistributionConfiguration"
INFRASTRUCTURE = "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
DLAMI = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
PARENT = "dlami-base-ubuntu-24.04-x86_64"


def built(more: str = "") -> tuple[str, str]:
    return "protect: false", f"protect: false\n      images: {{node: {{build: {{{more}}}}}}}"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def inputs_of(graph: Graph, token: str, name: str = "variant-node") -> dict[str, Any]:
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


def test_an_image_is_built_found_and_pinned(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run up, two builds and the lock; then destroy the environment and sweep its images."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "sandbox")
    before = left(cloud)
    text = environment_file.read_text()
    assert "image: ami-0a11ce5a9db0c5000" in text
    text = text.replace(*built()).replace("image: ami-0a11ce5a9db0c5000", "image: node")
    # Ubuntu 24.04 has no packages of this release; Landbridge builds them.
    assert "packages_mirror: null" in text
    repository = "packages_mirror: 'https://packages.example.org/slurm', packages_key: KEY, packaging: schedmd"
    environment_file.write_text(text.replace("packages_mirror: null", repository))
    applied = apply(environment_file, cloud.endpoint, "us-east-1")
    images = StackOutputs.model_validate(applied.graph.outputs).images
    environment = load_environment(environment_file).environment
    assert environment is not None
    aws = AwsClient("us-east-1", cloud.endpoint)
    first = propose(environment, None, aws, date(2026, 11, 21))
    assert [finding.rule for finding in first.findings] == ["live-image-built"]
    assert set(first.lock.images) == {PARENT}

    builder = client(cloud, "imagebuilder")
    recipe = inputs_of(applied.graph, PIPELINE, "graph-node")["imageRecipeArn"]
    with pytest.raises(builder.exceptions.ResourceDependencyException):
        builder.delete_image_recipe(imageRecipeArn=recipe)
    file = ("--file", str(environment_file))
    assert run(capsys, "image", "status", "node", *file)[0] == 1
    for number in (1, 2):
        status, output = as_json(capsys, "image", "build", "node", *file)
        assert (status, output["version"].rpartition("/")[2]) == (0, str(number))
    assert run(capsys, "image", "build", "nodes", *file)[0] == 1
    status, output = as_json(capsys, "image", "status", "node", *file)
    assert status == 0 and [build["version"].rpartition("/")[2] for build in output["builds"]] == ["2", "1"]
    proposal = propose(environment, first.lock, AwsClient("us-east-1", cloud.endpoint), date(2026, 11, 22))
    node = proposal.lock.images["node"]
    listed = builder.list_image_pipeline_images(imagePipelineArn=images["node"].pipeline_arn)["imageSummaryList"]
    assert node.ami == output["builds"][0]["ami"]
    assert node.ami == listed[0]["outputResources"]["amis"][0]["image"] and len(listed) == 2
    assert (node.source, node.parameter, node.root_gib) == (images["node"].source, None, 100)
    assert proposal.findings == () and proposal.lock.images[PARENT] == first.lock.images[PARENT]
    assert propose(environment, proposal.lock, aws, date(2026, 11, 23)).different is False
    read_again = ImageLock({"node": node}).text("graph")
    assert "source: " in read_again and "parameter" not in read_again

    objects = client(cloud, "s3").list_objects_v2(Bucket=f"graph-node-image-{ACCOUNT}")["Contents"]
    assert [item["Key"] for item in objects] == [f"roles/{images['node'].source}.tar"]
    applied.destroy()
    assert left(cloud) == before
    assert _parts(cloud) == 0
    amis = {image["outputResources"]["amis"][0]["image"] for image in listed}
    now = datetime(2026, 11, 23, tzinfo=UTC)
    assert [
        item for item in find_leftovers(aws, "graph", (), now, standing=True).items if item.type.noun == "image"
    ] == []
    swept = list(find_leftovers(AwsClient("us-east-1", cloud.endpoint), "graph", (), now, standing=False).items)
    assert {item.id for item in swept if item.billed and not item.holds_data} == amis
    remove(lambda: AwsClient("us-east-1", cloud.endpoint), swept, pause_seconds=0)
    assert find_leftovers(AwsClient("us-east-1", cloud.endpoint), "graph", (), now, standing=False).items == ()


def _parts(cloud: EmulatorProcess) -> int:
    """Return the number of the pipeline's parts that still exist."""
    builder, count = client(cloud, "imagebuilder"), 0
    for kind in ("image_pipeline", "lifecycle_policy", "infrastructure_configuration", "distribution_configuration"):
        word, *more = kind.split("_")
        key = f"{word}{''.join(part.capitalize() for part in more)}Arn"
        arn = f"arn:aws:imagebuilder:us-east-1:{ACCOUNT}:{kind.replace('_', '-')}/graph-node"
        try:
            getattr(builder, f"get_{kind}")(**{key: arn})
            count += 1
        except builder.exceptions.ResourceNotFoundException:
            continue
    return count


KEYS = {region: f"arn:aws:kms:{region}:{ACCOUNT}:key/a" for region in ("us-east-1", "us-east-2")}
OTHER_REGION = (
    "      pools:\n        - name: p5\n",
    "      other_regions: {us-east-2: {cidr: 10.70.0.0/16, pools: {p5: {capacity: [{kind: on_demand, zones: [use2-az1]}]}}}}\n"
    "      pools:\n        - name: p5\n",
)


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
