"""Keeps in the operator's commands, and announcements of EC2 in status, why and doctor."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.burst.config.config import BurstConfig
from landbridge.burst.journal.store import Store
from landbridge.burst.model import (
    MAX_KEEP_SECONDS,
    Attempt,
    DecisionRecord,
    InstanceStatus,
    NodeKeep,
    SlurmNode,
    State,
    StatusRead,
)
from landbridge.burst.operator import edits
from landbridge.burst.operator.doctor import instance_statuses, suspend_exclusions
from landbridge.burst.operator.explain import ADVICE
from landbridge.burst.operator.explain_node import explain_node
from landbridge.burst.operator.status import node_statuses, unread_statuses
from landbridge.timestamps import iso
from tests.unit.burst.operator.test_commands import command, file, journal, pool_of  # noqa: F401
from tests.unit.burst.situations import BUSY, IDLE, NOW, OFF, OFFERINGS, RISING, instance, job, offering, site, slurm
from tests.unit.burst.slurm.commands import Install, commands  # noqa: F401

KEEP = NodeKeep(NOW + 4 * 3600, NOW, "debug NCCL", "ann")
NODES = {
    name: SlurmNode(name, frozenset(words))
    for name, words in {"g-1": IDLE, "g-2": BUSY, "g-3": OFF, "g-4": RISING, "g-5": (*IDLE, "POWER_DOWN")}.items()
}
EVENT = InstanceStatus(event="system-reboot", event_at=NOW + 3600)


def test_nodes_that_are_up_or_start_are_kept() -> None:
    change = edits.keep(site(), NODES, ["g-1", "g-2", "g-4"], KEEP)
    assert change(State()).keeps == dict.fromkeys(("g-1", "g-2", "g-4"), KEEP)
    longer = replace(KEEP, until=NOW + 9 * 3600)
    assert edits.keep(site(), NODES, ["g-1"], longer)(change(State())).keeps["g-1"] == longer


@pytest.mark.parametrize(
    ("names", "seconds", "texts"),
    [
        (["g-1", "g-3", "g-5", "x-1", "g-99"], 3600, ["no pool has g-99,x-1", "g-[3,5]: not up", "state=power_up"]),
        ([], 3600, ["no node"]),
        (["g-1"], 0, ["at most 7 days"]),
        (["g-1"], MAX_KEEP_SECONDS + 1, ["at most 7 days", "min_nodes"]),
    ],
)
def test_other_nodes_and_times_are_refused_all_at_once(names: list[str], seconds: float, texts: list[str]) -> None:
    with pytest.raises(edits.EditError) as caught:
        edits.keep(site(), NODES, names, replace(KEEP, until=NOW + seconds))
    assert all(text in str(caught.value) for text in texts)


def test_a_release_ends_keeps_also_those_that_only_slurm_has() -> None:
    state = State(keeps={"g-1": KEEP, "g-2": KEEP})
    released = edits.release(["g-1"], (), NOW)(state)
    assert released.keeps.keys() == {"g-2"} and released.keeps_in_slurm == {"g-1": NOW}
    assert edits.release(["g-9"], ["g-9"], NOW)(State()).keeps_in_slurm == {"g-9": NOW}
    with pytest.raises(edits.EditError, match="g-3 is not kept"):
        edits.release(["g-3"], (), NOW)(state)


@pytest.mark.parametrize(
    "words",
    [("--for", "4h"), ("--reason", "x"), ("--release", "--for", "4h"), ("--for", "noon", "--reason", "x"), ()],
)
def test_a_keep_needs_a_time_and_a_reason(file: Path, words: tuple[str, ...]) -> None:  # noqa: F811
    assert command(file, "keep", "p5-1", *words)[0] == 2
    assert journal(file)[0].keeps == {}


def test_the_command_writes_the_keep_a_record_and_an_order(file: Path, commands: Install) -> None:  # noqa: F811
    pool = json.loads(file.read_text())["pools"][pool_of(file)]
    name, names = f"{pool['node_prefix']}1", f"{pool['node_prefix']}[1-{pool['max_nodes']}]"
    config = f"SuspendExcNodes = dgx1,{name}:1\n"
    commands(sinfo=f"{names} idle+cloud\n", squeue="", scontrol=config)
    assert command(file, "keep", name, "--for", "4h", "--reason", "debug")[0] == 0
    state, records = journal(file)
    node_keep = state.keeps[name]
    assert node_keep.until - node_keep.since == 4 * 3600 and node_keep.reason == "debug" and node_keep.by
    assert [(record.event, record.nodes, record.text) for record in records] == [("keep", (name,), "debug")]
    assert [order.kind for order in state.orders] == ["wake"]
    code, output = command(file, "keep", "--release", name, "--format", "json")
    assert (code, json.loads(output)) == (0, {"nodes": [name], "until": None})
    assert journal(file)[0].keeps == {} and name in journal(file)[0].keeps_in_slurm


def test_status_shows_events_failed_checks_and_keeps() -> None:
    state = State(
        instance_statuses={"i-1": EVENT, "i-2": replace(EVENT, impaired=("system", "instance"))}, keeps={"g-1": KEEP}
    )
    rows = node_statuses((instance("i-1", "g-1"), instance("i-2", "g-2")), NODES, state, site())
    notices = {row.node: row.notice for row in rows if row.instance}
    event = f"EC2 has scheduled system-reboot at {iso(NOW + 3600)}"
    assert notices["g-1"] == f"{event}; not suspended before {iso(KEEP.until)}, ann: debug NCCL"
    assert notices["g-2"] == f"{event}; EC2's status check of the system and the instance fails"
    assert all(not row.remark for row in rows if row.instance)


def test_status_does_not_show_the_end_of_a_capacity_block() -> None:
    policy = site((offering("a", market="capacity-block", closes=NOW + 3600), *OFFERINGS))
    member = instance("i-1", "g-1", market="capacity-block")
    (row,) = node_statuses((member,), {"g-1": NODES["g-1"]}, State(instance_statuses={"i-1": EVENT}), policy)
    assert row.notice == ""


READS = {
    "": StatusRead(NOW + 60, NOW),
    "far": StatusRead(NOW + 60, NOW - 600, "UnauthorizedOperation", "no"),
    "new": StatusRead(NOW + 60, None, "ReadTimeoutError", "late"),
}


def test_regions_whose_statuses_are_not_read_are_shown_with_their_fix(tmp_path: Path) -> None:
    assert unread_statuses(State(status_reads=READS)) == [
        f"status checks and scheduled events in far are not known since {iso(NOW - 600)}: UnauthorizedOperation",
        "status checks and scheduled events in new are not known since the start: ReadTimeoutError",
    ]
    config = BurstConfig(site(), state_dir=tmp_path)
    assert list(instance_statuses(config, NOW)) == []
    with closing(Store(config.database)) as store:
        store.save(State(), State(status_reads=READS))
    denied, late = instance_statuses(config, NOW)
    assert "in far: UnauthorizedOperation" in denied.message and "launch role" in denied.fix
    assert "link" in late.fix


def test_a_keep_that_only_slurm_has_is_a_finding(tmp_path: Path, commands: Install) -> None:  # noqa: F811
    commands(scontrol="SuspendExcNodes  = dgx[01-02],g-1:1,g-2:1,x-1:1\n")
    config = BurstConfig(site(), state_dir=tmp_path)
    with closing(Store(config.database)) as store:
        store.save(State(), State(keeps_in_slurm={"g-1": NOW}))
    (finding,) = suspend_exclusions(config, NOW)
    assert "g-2" in finding.message and finding.fix == "landbridge burst keep --release g-2"


def test_the_explanation_of_a_node_has_its_state_launch_announcements_and_decisions() -> None:
    attempt = Attempt("t", "g", "gpu", OFFERINGS[0].key, ("g-1",), (1,), "lab", False, NOW, NOW - 60, 0.0, 10.0)
    state = State(
        attempts={"t": replace(attempt, ended=NOW, instances={"g-1": "i-1"})}, instance_statuses={"i-1": EVENT}
    )
    view = slurm(job(1, "g-1", state="RUNNING"), nodes=[SlurmNode("g-1", frozenset(BUSY), "landbridge: EVENT x")])
    records = [
        DecisionRecord(NOW - 60, "launched", (1,), ("g-1",), "gpu"),
        DecisionRecord(NOW - 5, "launched", (2,), ("g-2",), "gpu"),
        DecisionRecord(NOW, "power-down", (1,), ("g-1",), "gpu", "EVENT", "EC2 has scheduled system-reboot"),
    ]
    answer = explain_node("g-1", view, state, site(), records)
    assert [(point.about, point.text) for point in answer.now] == [
        ("node", "allocated+cloud: landbridge: EVENT x"),
        ("job", "1 running, account lab"),
        ("instance", f"i-1 at {OFFERINGS[0].key}"),
        ("announced", f"EC2 has scheduled system-reboot at {iso(NOW + 3600)}"),
    ]
    assert [point.about for point in answer.before] == ["launched", "power-down"] and answer.do == (ADVICE["EVENT"],)
    assert not explain_node("x-1", view, state, site(), records).known
