"""The graph of every shipped environment complies with every policy, as a preview and as an update."""

from pathlib import Path

import pytest

from landbridge.environment import load_environment
from landbridge.policy import Level, PolicySettings, policy_settings, violations
from sandbox.pulumi_provider.graph import Graph, record
from sandbox.pulumi_provider.policy_view import resources
from sandbox.pulumi_provider.program import program_of
from tests.graph.conftest import ROOT
from tests.graph.environments.test_program import Answering

FILES = sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))


def recorded(file: Path, preview: bool) -> Graph:
    program, stack, config = program_of(file)
    return record(program, stack=stack, config=config, backing=Answering(), preview=preview)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.split(".")[1])
@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
def test_a_shipped_environment_complies_with_every_policy(
    file: Path, preview: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "stacks")
    environment = load_environment(file).environment
    assert environment is not None
    settings = policy_settings(environment)
    every = resources(recorded(file, preview))
    assert len(every) > 40
    broken = [str(violation) for violation in violations(every, settings) if violation.level is Level.MANDATORY]
    assert broken == []


def test_an_unprotected_graph_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "stacks")
    every = resources(recorded(ROOT / "stacks" / "Pulumi.sandbox.yaml", False))
    broken = {
        (violation.policy, violation.resource.type)
        for violation in violations(every, PolicySettings(least_dh_group=14))
        if violation.level is Level.MANDATORY
    }
    assert broken == {
        ("protected-data", kind)
        for kind in ("aws:s3/bucket:Bucket", "aws:kms/key:Key", "aws:secretsmanager/secret:Secret")
    }
