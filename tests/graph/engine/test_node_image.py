"""Node image under Pulumi's real engine: its pipeline created, unchanged, with other ingredients, pinned, destroyed."""

from pathlib import Path

import pytest

from landbridge.environment import lock_path
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.engine.test_guardrails import changed
from tests.graph.environments.test_program import ACCOUNT
from tests.graph.support.inventory import client, left
from tests.unit.live.conftest import as_json, run

pytestmark = [pytest.mark.engine, pytest.mark.long]
AMI = "ami-0a11ce5a9db0c5000"


def test_a_pipeline_is_created_and_updated_and_its_image_is_pinned(
    engine: Engine,
    cloud: EmulatorProcess,
    environment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "sandbox")
    before = left(cloud)
    file = ("--file", str(environment_file))
    changed(environment_file, "protect: false", "protect: false\n      images: {node: {build: {disk_gib: 30}}}")
    first = changed(environment_file, f"image: {AMI}", "image: node")
    assert set(pulumi.up(first, environment_file).changes) == {"create"}
    assert pulumi.up(first, environment_file).changed == 0
    assert pulumi.refresh(first, environment_file).changed == 0

    # Other ingredients are another version, created before the pipeline refers to it; then the old one is deleted.
    later = changed(environment_file, "disk_gib: 30", "disk_gib: 40")
    updated = {key: count for key, count in pulumi.up(later, environment_file).changes.items() if key != "same"}
    assert updated == {"replace": 2, "update": 2}, updated
    recipes = {
        pipeline["imageRecipeArn"]
        for pipeline in client(cloud, "imagebuilder").list_image_pipelines()["imagePipelineList"]
    }
    assert len(recipes) == 1 and pulumi.up(later, environment_file).changed == 0

    assert as_json(capsys, "image", "build", "node", *file)[0] == 0
    assert run(capsys, "lock", *file)[0] == 0
    assert "source: " in lock_path(environment_file).read_text()
    pinned = {key: count for key, count in pulumi.up(later, environment_file).changes.items() if key != "same"}
    # The template's image; the recipe and its component now start from the locked parent.
    assert pinned == {"replace": 2, "update": 3}, pinned
    (template,) = client(cloud, "ec2").describe_launch_template_versions(
        LaunchTemplateName="graph-p5", Versions=["$Latest"]
    )["LaunchTemplateVersions"]
    (built,) = client(cloud, "ec2").describe_images(Owners=["self"], Filters=[
        {"Name": "tag:landbridge:image", "Values": ["node"]}
    ])["Images"]  # fmt: skip
    assert template["LaunchTemplateData"]["ImageId"] == built["ImageId"]

    pulumi.destroy(later, environment_file)
    assert left(cloud) == before
    assert client(cloud, "imagebuilder").list_image_pipelines()["imagePipelineList"] == []
    assert f"graph-node-image-{ACCOUNT}" not in {
        bucket["Name"] for bucket in client(cloud, "s3").list_buckets()["Buckets"]
    }
    client(cloud, "ec2").deregister_image(ImageId=built["ImageId"])
