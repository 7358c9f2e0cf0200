"""A node image is built, found, pinned and deleted with its environment."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.environment import load_environment
from landbridge.environment.file.lock import ImageLock
from landbridge.live.lock import propose
from landbridge.live.sweep import find_leftovers, remove
from landbridge.plan.outputs import StackOutputs
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.recorder import apply
from tests.graph.components.pools.node_images import (
    PARENT,
    PIPELINE,
    built,
    inputs_of,
)
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import ACCOUNT
from tests.graph.support.inventory import client, left
from tests.unit.live.conftest import as_json, run


def test_an_image_is_built_found_and_pinned(
    cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run up, two builds and the lock; then destroy the environment and sweep its images."""
    monkeypatch.chdir(SANDBOX.parent)
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
