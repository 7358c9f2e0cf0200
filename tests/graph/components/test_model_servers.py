"""Hosts of model servers in AWS as the whole program registers them: no role, no public way, and the gateway's own right."""

import json
from pathlib import Path

import pytest

from sandbox.pulumi_provider.recorder import joined, record_stacks
from tests.graph.environments.test_program import Answering

FULL = Path(__file__).parents[2] / "unit/rules/full.yaml"
ROOT = Path(__file__).parents[3]


def test_the_program_registers_instances_without_a_role_and_the_gateways_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    file = tmp_path / "Pulumi.full.yaml"
    file.write_text(FULL.read_text())
    graph = joined(record_stacks(file, Answering()).values())
    instances = [node for node in graph.of_type("aws:ec2/instance:Instance") if "serve-az4" in node.name]
    assert {node.inputs["privateIp"] for node in instances} == {"10.60.32.16", "10.60.32.17"}
    for node in instances:
        assert "iamInstanceProfile" not in node.inputs
        assert node.inputs["instanceInitiatedShutdownBehavior"] == "stop"
        assert node.inputs["metadataOptions"]["httpTokens"] == "required"
        assert node.inputs["rootBlockDevice"]["encrypted"] is True
        assert node.inputs["tags"]["landbridge:serving"] == "model-server"
    (policy,) = [node for node in graph.of_type("aws:iam/rolePolicy:RolePolicy") if node.name.endswith("-serving")]
    allowed = {
        statement["Sid"]: statement
        for statement in json.loads(policy.inputs["policy"])["Statement"]
        if statement["Effect"] == "Allow"
    }
    assert set(allowed) == {"FindModelServers", "StartAndStopModelServers", "GrantDiskKey"}
    assert allowed["StartAndStopModelServers"]["Condition"]["StringEquals"] == {
        "aws:ResourceTag/landbridge:cluster": "full",
        "aws:ResourceTag/landbridge:serving": "model-server",
    }
