"""Decisions of the cloud agent, and its reading of jobs, node lists and settings."""

import os
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
    return [(act.kind, act.jobs) for act in agent.decide(seen, done or set(), limits)]


def test_nothing_is_done_without_a_notice() -> None:
    assert acts(agent.Seen(NOW, jobs=JOBS, lease=NOW - 5)) == []


def test_an_interruption_notice_checkpoints_drains_and_requeues() -> None:
    early = agent.Seen(NOW, ends=NOW + 120, jobs=JOBS, known=JOBS)
    assert acts(early) == [("checkpoint", (7, 8)), ("drain", ())]
    assert acts(early, {"checkpoint:end", "drain:end"}) == []
    late = agent.Seen(NOW + 90, ends=NOW + 120, jobs=frozenset(), known=JOBS)
    # A job that the signal has already ended is requeued too.
    assert acts(late, {"checkpoint:end", "drain:end"}) == [("requeue", (7,)), ("requeue", (8,))]
    assert acts(late, {"checkpoint:end", "drain:end", "requeue:7"}) == [("requeue", (8,))]


def test_a_late_interruption_notice_causes_all_actions_at_once() -> None:
    assert [action for action, _ in acts(agent.Seen(NOW, ends=NOW + 10, known=JOBS))] == [
        "checkpoint",
        "drain",
        "requeue",
        "requeue",
    ]


def test_a_rebalance_recommendation_requeues_nothing_and_may_be_ignored() -> None:
    seen = agent.Seen(NOW, rebalance=True, known=JOBS)
    assert acts(seen) == [("checkpoint", (7, 8)), ("drain", ())]
    assert acts(seen, limits=agent.Limits(1800, 30, 120, False)) == []
    reasons = [act.text for act in agent.decide(seen, set(), LIMITS) if act.kind == "drain"]
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
def test_a_node_powers_off_only_without_contact_and_without_leased_jobs(seen: Any, off: bool) -> None:
    assert ("off" in [action for action, _ in acts(seen)]) is off


def test_jobs_are_asked_to_checkpoint_before_their_lease_ends() -> None:
    assert acts(agent.Seen(NOW, alone=60.0, jobs=JOBS, lease=NOW + 119)) == [("checkpoint", (7, 8))]


@given(
    st.floats(0, 5000),
    st.one_of(st.none(), st.floats(NOW - 500, NOW + 500)),
    st.one_of(st.none(), st.floats(NOW - 500, NOW + 500)),
    st.frozensets(st.integers(1, 9)),
    st.booleans(),
)
def test_a_node_never_powers_off_before_its_lease_ends_and_each_action_is_decided_once(
    alone: float, ends: float | None, lease: float | None, jobs: frozenset[int], rebalance: bool
) -> None:
    seen = agent.Seen(NOW, ends, rebalance, jobs, jobs, alone, lease)
    decided = agent.decide(seen, set(), LIMITS)
    if any(act.kind == "off" for act in decided) and jobs:
        assert lease is not None and lease <= NOW and alone > 0
    assert len({act.key for act in decided}) == len(decided)
    assert agent.decide(seen, {act.key for act in decided}, LIMITS) == []


def test_jobs_of_a_node_are_those_of_its_slurmstepd_processes(tmp_path: Path) -> None:
    lines = [b"slurmstepd: [12.batch]\0", b"slurmstepd: [12.0]\0", b"slurmstepd: [9.extern]\0"]
    lines += [b"/usr/sbin/slurmstepd\0infinity\0", b"", b"bash\0-c\0slurmstepd: [99.0]\0"]
    for pid, line in enumerate(lines, 1):
        process(tmp_path, pid, line)
    process(tmp_path, 20, b"slurmstepd: [20.0]\0", program="/usr/sbin/slurmstepd (deleted)")
    # Debian's package slurm-wlm gives the program this name.
    process(tmp_path, 21, b"slurmstepd: [21.0]\0", program="/usr/sbin/slurmstepd-wlm")
    assert agent.jobs_here(tmp_path) == {9, 12, 20, 21}


@pytest.mark.parametrize(
    "differences",
    [
        {"uid": os.getuid() + 65534},
        {"uid": os.getuid() + 65534, "effective": os.getuid()},  # a set-user-id program
        {"program": "/usr/bin/python3"},
        {"program": "/home/alice/slurmstepd-1"},
    ],
)
def test_another_process_with_the_title_of_a_step_is_no_job(tmp_path: Path, differences: dict[str, Any]) -> None:
    process(tmp_path, 1, b"slurmstepd: [4242.0]\0", **differences)
    process(tmp_path, 2, b"python3\0", parent=1)
    assert agent.jobs_here(tmp_path) == frozenset()
    assert not agent.handles(4242, 10, tmp_path)


def test_a_step_whose_daemon_acts_as_its_user_for_a_time_is_a_job(tmp_path: Path) -> None:
    process(tmp_path, 1, b"slurmstepd: [7.0]\0", effective=os.getuid() + 1000)
    process(tmp_path, 2, b"python3\0", uid=os.getuid() + 1000, parent=1)
    assert agent.jobs_here(tmp_path) == {7} and agent.handles(7, 10, tmp_path)


def process(
    proc: Path,
    pid: int,
    title: bytes,
    *,
    program: str = "/usr/sbin/slurmstepd",
    uid: int | None = None,
    effective: int | None = None,
    parent: int = 0,
) -> None:
    """Create a process's files below a folder in the form of /proc; without `uid` it has this process's user."""
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "cmdline").write_bytes(title)
    (folder / "exe").symlink_to(program)
    real = os.getuid() if uid is None else uid
    users = f"{real}\t{real if effective is None else effective}\t{real}\t{real}"
    (folder / "status").write_text(
        f"Name:\tx\nPPid:\t{parent}\nUid:\t{users}\nSigIgn:\t{1 << 9:016x}\nSigCgt:\t{0:016x}\n"
    )


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


def test_the_agent_imports_only_the_standard_library() -> None:
    module: ModuleType = agent
    modules = {name for name, value in vars(module).items() if isinstance(value, ModuleType)}
    assert modules <= sys.stdlib_module_names
