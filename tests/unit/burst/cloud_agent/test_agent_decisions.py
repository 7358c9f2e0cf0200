"""The agent on a cloud node: what it decides, and what it reads."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from landbridge.hostlist import compress
from tests.unit.burst.cloud_agent.cloud_node import LIMITS, ROLE, agent, identity

NOW = 1_800_000_000.0
JOBS = frozenset({7, 8})


def acts(seen: Any, done: set[str] | None = None, limits: Any = LIMITS) -> list[tuple[str, tuple[int, ...]]]:
    return [(act.what, act.jobs) for act in agent.decide(seen, done or set(), limits)]


def test_nothing_is_done_while_all_is_well() -> None:
    assert acts(agent.Seen(NOW, jobs=JOBS, lease=NOW - 5)) == []


def test_a_notice_saves_drains_and_requeues_before_the_end() -> None:
    early = agent.Seen(NOW, ends=NOW + 120, jobs=JOBS, known=JOBS)
    assert acts(early) == [("checkpoint", (7, 8)), ("drain", ())]
    assert acts(early, {"checkpoint:end", "drain:end"}) == []
    late = agent.Seen(NOW + 90, ends=NOW + 120, jobs=frozenset(), known=JOBS)
    # One has ended by the signal already: it is requeued all the same.
    assert acts(late, {"checkpoint:end", "drain:end"}) == [("requeue", (7,)), ("requeue", (8,))]
    assert acts(late, {"checkpoint:end", "drain:end", "requeue:7"}) == [("requeue", (8,))]


def test_a_notice_that_is_seen_late_is_followed_at_once() -> None:
    assert [what for what, _ in acts(agent.Seen(NOW, ends=NOW + 10, known=JOBS))] == [
        "checkpoint",
        "drain",
        "requeue",
        "requeue",
    ]


def test_a_recommendation_requeues_nothing_and_may_be_ignored() -> None:
    seen = agent.Seen(NOW, rebalance=True, known=JOBS)
    assert acts(seen) == [("checkpoint", (7, 8)), ("drain", ())]
    assert acts(seen, limits=agent.Limits(1800, 30, 120, False)) == []
    reasons = [act.text for act in agent.decide(seen, set(), LIMITS) if act.what == "drain"]
    assert reasons[0].startswith("landbridge: SPOT ")


@pytest.mark.parametrize(
    ("seen", "off"),
    [
        (agent.Seen(NOW, alone=1799.0), False),
        (agent.Seen(NOW, alone=1800.0), True),
        (agent.Seen(NOW, alone=0.0, lease=NOW - 9999), False),
        (agent.Seen(NOW, alone=9999.0, jobs=JOBS, lease=NOW + 300), False),
        (agent.Seen(NOW, alone=9999.0, jobs=JOBS, lease=None), False),
        (agent.Seen(NOW, alone=9.0, jobs=JOBS, lease=NOW), True),
        (agent.Seen(NOW, alone=0.0, jobs=JOBS, lease=NOW - 9999), False),
    ],
)
def test_who_goes(seen: Any, off: bool) -> None:
    assert ("off" in [what for what, _ in acts(seen)]) is off


def test_jobs_are_asked_to_checkpoint_before_their_lease_ends() -> None:
    assert acts(agent.Seen(NOW, alone=60.0, jobs=JOBS, lease=NOW + 119)) == [("checkpoint", (7, 8))]


@given(
    st.floats(0, 5000),
    st.one_of(st.none(), st.floats(NOW - 500, NOW + 500)),
    st.one_of(st.none(), st.floats(NOW - 500, NOW + 500)),
    st.frozensets(st.integers(1, 9)),
    st.booleans(),
)
def test_a_job_is_never_switched_off_before_its_lease_and_all_is_done_once(
    alone: float, ends: float | None, lease: float | None, jobs: frozenset[int], rebalance: bool
) -> None:
    seen = agent.Seen(NOW, ends, rebalance, jobs, jobs, alone, lease)
    wanted = agent.decide(seen, set(), LIMITS)
    if any(act.what == "off" for act in wanted) and jobs:
        assert lease is not None and lease <= NOW and alone > 0
    assert len({act.key for act in wanted}) == len(wanted)
    assert agent.decide(seen, {act.key for act in wanted}, LIMITS) == []


def test_jobs_are_those_of_slurmstepd(tmp_path: Path) -> None:
    lines = [b"slurmstepd: [12.batch]\0", b"slurmstepd: [12.0]\0", b"slurmstepd: [9.extern]\0"]
    lines += [b"/usr/sbin/slurmstepd\0infinity\0", b"", b"bash\0-c\0slurmstepd: [99.0]\0"]
    for pid, line in enumerate(lines, 1):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cmdline").write_bytes(line)
    assert agent.jobs_here(tmp_path) == {9, 12}


@given(st.lists(st.integers(1, 1200), unique=True, min_size=1, max_size=30), st.booleans())
def test_lists_of_nodes_are_read_as_slurm_writes_them(numbers: list[int], padded: bool) -> None:
    hosts = [f"p5-{number:04d}" if padded else f"p5-{number}" for number in numbers] + ["login01"]
    assert sorted(agent.names(compress(hosts))) == sorted(hosts) == sorted(identity.expanded(compress(hosts)))


def test_the_agent_reads_every_setting_that_the_role_writes() -> None:
    tasks = yaml.safe_load((ROLE / "tasks/main.yml").read_text())
    written = next(task["vars"]["settings"] for task in tasks if "settings" in task.get("vars", {}))
    source = (ROLE / "files/landbridge-cloud-agent").read_text()
    assert all(f'settings["{name}"]' in source for name in written)
    defaults = yaml.safe_load((ROLE / "defaults/main.yml").read_text())
    specified = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    assert set(defaults) == set(specified)


def test_the_agent_needs_nothing_but_python() -> None:
    module: ModuleType = agent
    own = {name for name, value in vars(module).items() if isinstance(value, ModuleType)}
    assert own <= sys.stdlib_module_names
