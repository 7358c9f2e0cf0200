"""Whole stack under Pulumi's real engine, against the emulated AWS: up, up again, refresh, drift, change, destroy."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.environment import Environment, load_environment
from landbridge.paths import outputs_file, secrets_dir, state_dir
from landbridge.plan.outputs import StackOutputs
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.conftest import ROOT
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine]


def test_life_of_a_stack(
    engine: Engine, cloud: EmulatorProcess, environment: Environment, environment_file: Path
) -> None:
    before, tree = left(cloud), _tree()

    built = pulumi.up(environment, environment_file)
    assert set(built.changes) == {"create"} and built.outputs is not None
    _outputs_are_written(built.outputs)
    _secrets_are_encrypted(built.outputs)
    _made(cloud, built.outputs)

    # An engine that is killed while it writes leaves such a file.
    (torn,) = (state_dir("graph") / "pulumi" / ".pulumi" / "stacks").rglob("graph.json.attrs")
    torn.write_text("")
    assert pulumi.up(environment, environment_file).changed == 0
    assert pulumi.refresh(environment, environment_file).changed == 0
    _a_tunnel_gets_another_key(cloud, environment, environment_file, built.outputs)

    # A launch template and a tag are deleted outside Pulumi.
    ec2 = client(cloud, "ec2")
    vpc = built.outputs.network.vpc_id
    ec2.delete_tags(Resources=[vpc], Tags=[{"Key": "landbridge:owner"}])
    ec2.delete_launch_template(LaunchTemplateName="graph-p5")
    refreshed = pulumi.refresh(environment, environment_file)
    assert refreshed.changes == {"same": built.changes["create"] - 2, "update": 1, "delete": 1}

    # A later environment with larger disks: only affected resources change, and nothing is replaced.
    environment_file.write_text(
        environment_file.read_text().replace("max_nodes: 4", "max_nodes: 4\n          root_volume_gib: 300")
    )
    changed = load_environment(environment_file).environment
    assert changed is not None
    updated = pulumi.up(changed, environment_file)
    assert (updated.changes["create"], updated.changes["update"]) == (1, 1), updated.changes
    latest = ec2.describe_launch_template_versions(LaunchTemplateName="graph-p5", Versions=["$Latest"])
    disk = latest["LaunchTemplateVersions"][0]["LaunchTemplateData"]["BlockDeviceMappings"][0]["Ebs"]
    assert disk["VolumeSize"] == 300 and disk["Encrypted"] is True

    # Destroy deletes an unprotected bucket although it contains an object.
    client(cloud, "s3").put_object(Bucket=built.outputs.data_hub.buckets["internal"].name, Key="model", Body=b"x")
    pulumi.destroy(changed, environment_file)
    assert left(cloud) == before
    assert not outputs_file("graph").exists() and not (secrets_dir("graph") / "link_pre_shared_keys").exists()
    assert _tree() == tree, "Pulumi wrote into the tree"


def test_wrong_inputs_are_reported_with_their_paths(engine: Engine, cloud: EmulatorProcess, tmp_path: Path) -> None:
    """Preview a program with three mistakes that the SDK accepts: the provider refuses it and names their paths."""
    (tmp_path / "__main__.py").write_text(
        "import pulumi, pulumi_aws as aws\n"
        f"p = aws.Provider('p', region='us-east-1', endpoints=[{{'ec2': '{cloud.endpoint}'}}])\n"
        "aws.ec2.LaunchTemplate('wrong', image_id='ami-1', network_interfaces=[\n"
        "    {'network_card_index': 0, 'interface_type': 'efaa'}, {'network_card_indx': 1, 'device_index': 'zero'}],\n"
        "    opts=pulumi.ResourceOptions(provider=p))\n"
    )
    (tmp_path / "Pulumi.yaml").write_text("name: wrong\nruntime: python\n")
    run = ["pulumi", "--non-interactive", "-C", str(tmp_path)]
    subprocess.run([*run, "stack", "init", "wrong"], check=True, capture_output=True)
    completed = subprocess.run([*run, "preview", "-s", "wrong"], capture_output=True, text=True, check=False)
    assert completed.returncode != 0
    for path in (
        "networkInterfaces[0].interfaceType",
        "networkInterfaces[1].network_card_indx",
        "networkInterfaces[1].deviceIndex",
    ):
        assert path in completed.stdout, completed.stdout


def _tree() -> str:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return ""
    return subprocess.run(
        [git, "status", "--porcelain", "stacks", "Pulumi.yaml"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def _outputs_are_written(outputs: StackOutputs) -> None:
    written = json.loads(outputs_file("graph").read_text())
    assert "link_pre_shared_keys" not in written
    assert StackOutputs.model_validate(written) == outputs.model_copy(update={"link_pre_shared_keys": None})
    keys = secrets_dir("graph") / "link_pre_shared_keys"
    assert keys.stat().st_mode & 0o077 == 0
    assert tuple(json.loads(keys.read_text())) == outputs.link_pre_shared_keys


def _a_tunnel_gets_another_key(
    cloud: EmulatorProcess, environment: Environment, file: Path, before: StackOutputs
) -> None:
    assert before.link is not None and before.link_pre_shared_keys is not None
    ec2, keys_file = client(cloud, "ec2"), secrets_dir("graph") / "link_pre_shared_keys"
    second = before.link.tunnels[1].outside_address

    def renew(address: str) -> Result:
        credentials = {"AWS_ACCESS_KEY_ID": "operator", "AWS_SECRET_ACCESS_KEY": "unused"}
        return CliRunner(env=credentials).invoke(build(), ["link", "renew-key", "-f", str(file), address])

    unknown = renew("198.51.100.99")
    assert unknown.exit_code == 1 and "tunnel-unknown" in str(unknown.exception)
    done = renew(second)
    assert done.exit_code == 0, done.output
    keys = json.loads(keys_file.read_text())
    assert keys[0] == before.link_pre_shared_keys[0] and keys[1] not in before.link_pre_shared_keys
    assert keys[1] not in done.output and keys_file.stat().st_mode & 0o077 == 0
    (connection,) = ec2.describe_vpn_connections(Filters=[{"Name": "state", "Values": ["available"]}])["VpnConnections"]
    assert [row["PreSharedKey"] for row in connection["Options"]["TunnelOptions"]] == keys
    # Every later `up` writes the present keys, on this machine or another.
    keys_file.unlink()
    again = pulumi.up(environment, file)
    assert again.changed == 0 and again.outputs is not None
    assert json.loads(keys_file.read_text()) == keys == list(again.outputs.link_pre_shared_keys or ())
    _secrets_are_encrypted(again.outputs)


def _secrets_are_encrypted(outputs: StackOutputs) -> None:
    assert outputs.link_pre_shared_keys and len(set(outputs.link_pre_shared_keys)) == 2
    passphrase = (state_dir("graph") / "passphrase").read_text()
    for file in state_dir("graph").rglob("*.json"):
        text = file.read_text()
        assert passphrase not in text
        assert not any(key in text for key in outputs.link_pre_shared_keys), file


def _made(cloud: EmulatorProcess, outputs: StackOutputs) -> None:
    """Check in AWS the resources that the burst controller needs."""
    ec2, pool = client(cloud, "ec2"), outputs.pools["p5"]
    versions = ec2.describe_launch_template_versions(LaunchTemplateId=pool.launch_template_id, Versions=["$Default"])
    data = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    assert "NetworkInterfaces" not in data, "the request of a launch has them (decision 2)"
    assert data["MetadataOptions"]["HttpTokens"] == "required"
    assert data["MetadataOptions"]["HttpPutResponseHopLimit"] == 1
    assert data["MetadataOptions"]["InstanceMetadataTags"] == "enabled"

    group = ec2.describe_security_groups(GroupIds=[pool.security_group_id])["SecurityGroups"][0]
    for direction in ("IpPermissions", "IpPermissionsEgress"):
        to_itself = [p for p in group[direction] if p.get("UserIdGroupPairs")]
        assert [p["IpProtocol"] for p in to_itself] == ["-1"], direction
        assert to_itself[0]["UserIdGroupPairs"][0]["GroupId"] == pool.security_group_id
    world = [p for p in group["IpPermissions"] for r in p.get("IpRanges", []) if r["CidrIp"] == "0.0.0.0/0"]
    assert world == []

    bucket, s3 = outputs.data_hub.buckets["internal"], client(cloud, "s3")
    rule = s3.get_bucket_encryption(Bucket=bucket.name)["ServerSideEncryptionConfiguration"]["Rules"][0]
    assert rule["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"] == bucket.key_arn
    assert s3.get_bucket_versioning(Bucket=bucket.name)["Status"] == "Enabled"
    assert all(s3.get_public_access_block(Bucket=bucket.name)["PublicAccessBlockConfiguration"].values())

    secret = client(cloud, "secretsmanager").describe_secret(SecretId=outputs.secrets.slurm_key)
    assert not secret.get("VersionIdsToStages"), "the secret has no value until the controller publishes one"
