"""Settings of a pool under Pulumi's real engine: CPU options and a node role are created, and a second `up` changes nothing."""

from pathlib import Path

import pytest

from landbridge.environment import load_environment
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine]
SETTINGS = (
    "max_nodes: 4\n          threads_per_core: 1\n          slurm: {Weight: 500}\n"
    "          node_policies: ['arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy']"
)


def test_a_second_up_with_settings_of_a_pool_changes_nothing(
    engine: Engine, cloud: EmulatorProcess, environment_file: Path
) -> None:
    before = left(cloud)
    environment_file.write_text(environment_file.read_text().replace("max_nodes: 4", SETTINGS))
    environment = load_environment(environment_file).environment
    assert environment is not None
    try:
        pulumi.up(environment, environment_file)
        latest = client(cloud, "ec2").describe_launch_template_versions(
            LaunchTemplateName="graph-p5", Versions=["$Latest"]
        )
        data = latest["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        assert data["CpuOptions"] == {"CoreCount": 96, "ThreadsPerCore": 1}
        profile = client(cloud, "iam").get_instance_profile(InstanceProfileName="graph-node-p5")["InstanceProfile"]
        assert data["IamInstanceProfile"]["Arn"] == profile["Arn"]
        assert [role["RoleName"] for role in profile["Roles"]] == ["graph-node-p5"]
        assert pulumi.up(environment, environment_file).changed == 0
        assert pulumi.refresh(environment, environment_file).changed == 0
    finally:
        pulumi.destroy(environment, environment_file)
    assert left(cloud) == before
