"""Findings for instances that EC2 refuses to terminate."""

from contextlib import closing
from pathlib import Path

import pytest

from landbridge.burst.config.config import BurstConfig
from landbridge.burst.journal.store import Store
from landbridge.burst.model import State, TerminationRefusal
from landbridge.burst.operator.doctor import refused_terminations
from tests.unit.burst.situations import NOW, site


@pytest.mark.parametrize(
    ("code", "fix"),
    [("OperationNotPermitted", "--no-disable-api-termination"), ("UnauthorizedOperation", "terminate role")],
)
def test_each_refused_instance_is_a_finding_with_its_fix(tmp_path: Path, code: str, fix: str) -> None:
    config = BurstConfig(site(), state_dir=tmp_path)
    assert list(refused_terminations(config, NOW)) == []
    with closing(Store(config.database)) as store:
        refusals = {"i-1": TerminationRefusal(code, "why", NOW - 60, NOW + 540)}
        store.save(State(), State(termination_refusals=refusals))
    (finding,) = refused_terminations(config, NOW)
    assert finding.rule == "burst-not-terminated" and "i-1" in finding.message and fix in finding.fix
