"""Data hub, file systems and flow logs with every setting comply with every policy."""

from pathlib import Path

import pytest

from landbridge.policy import Level, PolicySettings, violations
from sandbox.pulumi_provider.policy_view import resources
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import PROTECTED, graph_of
from tests.graph.support.file_system_settings import ALL, HUB, stored

FLOW = ("nat: none", "nat: none\n      logs: {flow_logs: true}")
MORE = "classes: {internal: {replica_region: us-west-2, object_lock: {days: 1}, tiering_days: 0}}"
HUB_TOO = (HUB.rstrip("\n"), HUB.rstrip("}\n") + f", {MORE}}}")


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "update"])
def test_all_settings_together_comply_with_every_policy(
    tmp_path: Path, preview: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(SANDBOX.parent)
    every = resources(graph_of(tmp_path, stored(ALL), HUB_TOO, FLOW, PROTECTED, preview=preview))
    settings = PolicySettings(regions=("us-east-1", "us-west-2"), least_dh_group=14)
    assert [str(violation) for violation in violations(every, settings) if violation.level is Level.MANDATORY] == []
    policies = [
        violation.policy for violation in violations(every, PolicySettings(regions=("us-east-1",), least_dh_group=14))
    ]
    assert any("region" in policy or "residen" in policy for policy in policies), policies
