"""CrossGuard pack run by Pulumi's real engine: a mandatory violation stops a preview, an advisory one is reported."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.policy import PolicySettings, pack_config, policy_settings
from landbridge.realise.project import write_project
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.conftest import ROOT

pytestmark = [pytest.mark.engine]
PACK = ROOT / "components" / "policy"
Preview = Callable[..., "subprocess.CompletedProcess[str]"]


def _program(rule: str) -> str:
    return (
        "import pulumi, pulumi_aws as aws\n"
        "tags = {'landbridge:cluster': 'c', 'landbridge:owner': 'o', 'landbridge:cost-center': '1'}\n"
        "p = aws.Provider('p', region='us-east-1', endpoints=[{'ec2': 'http://127.0.0.1:1'}], default_tags={'tags': tags})\n"
        "own = pulumi.ResourceOptions(provider=p)\n"
        "vpc = aws.ec2.Vpc('v', cidr_block='10.0.0.0/16', opts=own)\n"
        "group = aws.ec2.SecurityGroup('g', description='g', vpc_id=vpc.id, opts=own)\n"
        "aws.vpc.SecurityGroupIngressRule('r', security_group_id=group.id, ip_protocol='tcp', from_port=443, to_port=443,\n"
        f"    cidr_ipv4={rule!r}, opts=own)\n"
    )


@pytest.fixture
def preview(engine: Engine, tmp_path: Path) -> Preview:
    """Return a function that runs `pulumi preview` of a VPC with one rule, with the pack and its configuration."""
    (tmp_path / "Pulumi.yaml").write_text("name: judged\nruntime: python\n")
    run = ["pulumi", "--non-interactive", "-C", str(tmp_path)]
    subprocess.run([*run, "stack", "init", "judged"], check=True, capture_output=True)

    def preview(rule: str, config: dict[str, Any] | None = None) -> "subprocess.CompletedProcess[str]":
        (tmp_path / "__main__.py").write_text(_program(rule))
        (tmp_path / "settings.json").write_text(json.dumps(config or {}))
        with_pack = ["--policy-pack", str(PACK), "--policy-pack-config", str(tmp_path / "settings.json")]
        command = [*run, "preview", "-s", "judged", "--color", "never", *with_pack]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return preview


def test_a_mandatory_violation_stops_the_preview(preview: Preview) -> None:
    completed = preview("0.0.0.0/0")
    assert completed.returncode != 0 and "[mandatory]  no-world-ingress" in completed.stdout, completed.stdout
    assert "open to 0.0.0.0/0" in completed.stdout and "SecurityGroupIngressRule: r" in completed.stdout
    assert "tagged" not in completed.stdout, "the provider's tags count"


def test_an_advisory_violation_is_reported_and_stops_nothing(preview: Preview) -> None:
    completed = preview("10.0.0.0/8")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "[advisory]  flow-logs" in completed.stdout and "mandatory" not in completed.stdout


def test_the_packs_configuration_decides(preview: Preview) -> None:
    completed = preview(
        "0.0.0.0/0", {"no-world-ingress": {"world_ports": [443]}, "allowed-regions": {"regions": ["eu-west-1"]}}
    )
    assert "no-world-ingress" not in completed.stdout and "is in us-east-1, and may be in eu-west-1" in completed.stdout
    assert completed.returncode != 0
    softer = preview("0.0.0.0/0", {"no-world-ingress": "advisory"})
    assert softer.returncode == 0 and "[advisory]  no-world-ingress" in softer.stdout, softer.stdout
    wrong = preview("10.0.0.0/8", {"no-world-ingress": {"world_ports": ["https"]}})
    assert wrong.returncode != 0 and "world_ports.0" in wrong.stdout + wrong.stderr


def test_a_shipped_environment_passes_under_its_own_settings(
    engine: Engine, environment: Environment, environment_file: Path, tmp_path: Path
) -> None:
    """Preview the shipped stack; the strict defaults stop it, because its data is not protected."""
    folder = write_project(environment.name, environment_file)
    run = ["pulumi", "--non-interactive", "--color", "never", "-C", str(folder)]
    subprocess.run([*run, "stack", "select", "--create", environment.name], check=True, capture_output=True)

    def preview(settings: PolicySettings) -> "subprocess.CompletedProcess[str]":
        (tmp_path / "settings.json").write_text(json.dumps(pack_config(settings)))
        with_pack = ["--policy-pack", str(PACK), "--policy-pack-config", str(tmp_path / "settings.json")]
        command = [*run, "preview", "-s", environment.name, *with_pack]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    completed = preview(policy_settings(environment))
    assert completed.returncode == 0 and "[mandatory]" not in completed.stdout, completed.stdout[-3000:]
    strict = preview(policy_settings(environment).model_copy(update={"protect": True}))
    assert strict.returncode != 0 and "[mandatory]  protected-data" in strict.stdout, strict.stdout[-3000:]
