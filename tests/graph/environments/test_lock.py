"""No image is resolved during `up`: with a lock, a second `up` changes nothing although AWS publishes new images."""

from pathlib import Path

import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.environment import load_environment, lock_path
from landbridge.live.lock import propose
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import client

pytestmark = [pytest.mark.engine]
UBUNTU = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"


def _lock(file: Path, cloud: EmulatorProcess, *, upgrade: bool = False) -> str:
    """Write the lock as `landbridge lock` does; return the image of the name `ubuntu`."""
    from datetime import date

    loaded = load_environment(file)
    assert loaded.environment is not None, loaded.findings
    aws = AwsClient(loaded.environment.region, cloud.endpoint)
    proposal = propose(loaded.environment, loaded.lock, aws, date(2026, 11, 21), upgrade=upgrade)
    lock_path(file).write_text(proposal.lock.text(loaded.environment.name))
    return proposal.lock.amis["ubuntu"]


def _image(cloud: EmulatorProcess) -> str:
    """Return the image of the launch template's latest version."""
    latest = client(cloud, "ec2").describe_launch_template_versions(LaunchTemplateName="graph-p5", Versions=["$Latest"])
    return str(latest["LaunchTemplateVersions"][0]["LaunchTemplateData"]["ImageId"])


def test_second_up_does_not_drift(
    engine: Engine, cloud: EmulatorProcess, environment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(cloud.operator_credentials))
    text = environment_file.read_text()
    text = text.replace("image: ami-0a11ce5a9db0c5000", "image: ubuntu\n          root_device: /dev/sda1")
    text = text.replace("      pools:\n", f"      images: {{ubuntu: {{parameter: {UBUNTU}}}}}\n      pools:\n", 1)
    environment_file.write_text(text)
    environment = load_environment(environment_file).environment
    assert environment is not None
    try:
        cloud.control(released={UBUNTU: 1})
        first = _lock(environment_file, cloud)
        pulumi.up(environment, environment_file)
        assert _image(cloud) == first

        # AWS publishes the next image. Neither `up` nor a lock without --upgrade uses it.
        cloud.control(released={UBUNTU: 2})
        before = cloud.control()["asked"].get("ssm:GetParameters", 0)
        assert _lock(environment_file, cloud) == first
        assert pulumi.up(environment, environment_file).changed == 0
        assert cloud.control()["asked"].get("ssm:GetParameters", 0) == before

        # An upgrade is a change of one file, and of one resource.
        second = _lock(environment_file, cloud, upgrade=True)
        assert second != first
        upgraded = pulumi.up(environment, environment_file)
        assert [s.name for s in upgraded.steps if s.operation == "update"] == ["graph-p5"], upgraded.steps
        assert _image(cloud) == second
    finally:
        pulumi.destroy(environment, environment_file)
        cloud.control(reset=True)
