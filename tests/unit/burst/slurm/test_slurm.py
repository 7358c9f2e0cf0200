"""The Slurm client of burst: parsing of recorded output, and arguments of its commands (stubs record their calls)."""

import json
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.model import BurstPolicy, JobComment, PoolPolicy
from landbridge.burst.slurm import slurm
from landbridge.burst.slurm.slurm import SlurmError
from landbridge.burst.slurm.slurm_json import (
    JOB_KEYS,
    active_host,
    hook_that_keeps,
    hosts,
    job_of,
    node_states_of,
    nodes_of,
    number,
)
from landbridge.hostlist import expand

DATA = Path(__file__).parents[1] / "data"
VERSIONS = sorted(path.name for path in DATA.iterdir() if path.is_dir())
POLICY = BurstPolicy("probe", "us-east-1", {"p5": PoolPolicy("p5", "p5-", 6, ())}, {})
NEW = "26.05"


def recorded(name: str, version: str = NEW) -> dict[str, Any]:
    return dict(json.loads((DATA / version / f"{name}.json").read_text()))


def slim(name: str, version: str = NEW) -> dict[str, Any]:
    text = (DATA / version / f"{name}.json").read_text()
    return dict(json.loads(text, object_hook=hook_that_keeps(JOB_KEYS)))


Calls = Callable[[], list[list[str]]]


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Calls]:
    """Return a function that puts stub commands on PATH; each prints a text or file chosen by its arguments, and calls
    are recorded."""

    def install(**answers: Path | str | dict[str, Path | str]) -> Calls:
        calls = tmp_path / "calls"
        for name, answer in answers.items():
            table = answer if isinstance(answer, dict) else {"": answer}
            program = tmp_path / name
            program.write_text(
                f"#!{sys.executable}\nimport json, sys, pathlib\n"
                f"with open({str(calls)!r}, 'a') as file: print(json.dumps(sys.argv), file=file)\n"
                f"for word, answer in {[(word, str(value)) for word, value in table.items()]!r}:\n"
                "    if word in ' '.join(sys.argv):\n"
                "        if answer.startswith('fail:'): sys.exit(answer)\n"
                "        print(pathlib.Path(answer).read_text() if answer.startswith('/') else answer); break\n"
            )
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return lambda: [
            [Path(words[0]).name, *words[1:]]
            for words in map(json.loads, calls.read_text().splitlines() if calls.exists() else [])
        ]

    return install


def test_a_job_whose_nodes_start_is_read_with_all_its_fields() -> None:
    job = job_of(slim("gang-configuring.squeue")["jobs"][0])
    assert (job.id, job.state, job.nodes, job.partition) == (1, "CONFIGURING", ("p5-1", "p5-2"), "p5")
    assert (job.user, job.minutes, job.restarts, job.started, job.submitted) == (
        "alice",
        7,
        0,
        1795333778.0,
        1795333778.0,
    )
    assert (job.het_job, job.array_job, job.comment, job.expected_start) == (0, 0, "mine", None)


def test_array_and_heterogeneous_jobs_are_read_with_their_leader() -> None:
    array = {job.id: job for job in map(job_of, slim("array.squeue")["jobs"])}
    assert {job: array[job].array_job for job in (4, 7, 8, 9)} == {4: 4, 7: 4, 8: 4, 9: 4}
    assert (array[5].state, array[5].nodes, array[5].wanted_nodes, array[5].expected_start) == ("PENDING", (), 4, None)
    assert (array[6].expected_start, array[6].started) == (1795337683.0, None)
    het = {job.id: job for job in map(job_of, slim("het.squeue")["jobs"])}
    assert {job.het_job for job in het.values()} == {10}
    assert (het[10].nodes, het[11].nodes) == (("p5-6",), ("p5-1", "p5-3"))


def test_a_requeued_job_that_is_completing_still_has_its_nodes() -> None:
    job = job_of(slim("requeued-completing.squeue")["jobs"][0])
    assert (job.state, job.nodes, job.restarts) == ("COMPLETING", ("p5-3",), 1)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", ["sinfo", "squeue"])
def test_every_record_can_be_read(version: str, kind: str) -> None:
    for path in (DATA / version).glob(f"*.{kind}.json"):
        raw = json.loads(path.read_text(), object_hook=hook_that_keeps(JOB_KEYS) if kind == "squeue" else None)
        if kind == "squeue":
            jobs = [job_of(entry) for entry in raw["jobs"]]
            assert all(job.state in {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING"} for job in jobs), path
            assert [
                job_of(entry) for entry in json.loads(path.read_text())["jobs"]
            ] == jobs  # the slim parser drops no needed field
        else:
            states = node_states_of(raw)
            assert {f"p5-{number}" for number in range(1, 7)} <= set(states), path
            assert all(states[node] & {"IDLE", "ALLOCATED", "MIXED", "DOWN", "COMPLETING"} for node in states), path


def test_states_addresses_and_reasons_of_nodes_are_read() -> None:
    states = node_states_of(recorded("gang-partly-up.sinfo"))
    assert states["p5-1"] == {"ALLOCATED", "CLOUD"}
    assert states["p5-2"] == {"ALLOCATED", "CLOUD", "NOT_RESPONDING", "POWERING_UP"}
    assert states["p5-6"] == {"IDLE", "CLOUD", "POWERED_DOWN"} and states["dgx01"] == {"IDLE"}
    node = nodes_of(recorded("gang-partly-up.node"))["p5-1"]
    assert (node.states, node.address, node.reason) == (frozenset({"ALLOCATED", "CLOUD"}), "10.53.1.21", "")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ({"set": True, "infinite": False, "number": 7}, 7),
        ({"set": False, "infinite": False, "number": 0}, None),
        ({"set": True, "infinite": True, "number": 0}, None),
        (7, 7),
        ("7", 7),
        (None, None),
        ("UNLIMITED", None),
    ],
)
def test_numbers_of_every_json_parser_version_are_read(raw: Any, value: int | None) -> None:
    assert number(raw) == value


def test_older_parsers_write_a_state_as_one_word_and_hosts_as_one_text() -> None:
    old = {"job_id": 3, "job_state": "CONFIGURING", "nodes": "p5-[1-2]", "start_time": 5, "time_limit": 60}
    job = job_of(old)
    assert (job.state, job.nodes, job.started, job.minutes) == ("CONFIGURING", ("p5-1", "p5-2"), 5.0, 60)
    group = {"node": {"state": "IDLE+CLOUD"}, "nodes": {"nodes": "p5-[1-2]"}}
    assert node_states_of({"sinfo": [group]}) == dict.fromkeys(["p5-1", "p5-2"], frozenset({"IDLE", "CLOUD"}))


@given(st.lists(st.integers(1, 400), unique=True, max_size=20))
def test_hosts_are_read_from_a_list_or_a_text(numbers: list[int]) -> None:
    names = [f"n{number}" for number in numbers]
    assert hosts(names) == names == hosts(",".join(names))


def test_the_view_queries_the_nodes_of_pools_and_the_jobs_of_nodes_that_are_not_off(
    commands: Callable[..., Calls],
) -> None:
    calls = commands(
        sinfo=DATA / NEW / "down-with-reasons.sinfo.json",
        squeue=DATA / NEW / "gang-configuring.squeue.json",
        scontrol=DATA / NEW / "gang-partly-up.node.json",
    )
    before = time.time()
    view = slurm.view(POLICY, need_pending=False, need_address=["p5-1"])
    assert set(view.nodes) == {f"p5-{number}" for number in range(1, 7)} and set(view.jobs) == {1}
    assert view.nodes["p5-1"].address == "10.53.1.21" and before <= view.at <= time.time()
    info, node, queue = calls()
    assert info == ["sinfo", "--json", "--all", "--nodes=p5-[1-6]"]
    # The nodes that are down, and the one whose address is needed.
    assert node == ["scontrol", "show", "node", "p5-[1-2,4-6]", "--json"]
    assert queue == [
        "squeue",
        "--json",
        "--all",
        "--states=CONFIGURING,RUNNING,COMPLETING,SUSPENDED",
        "--nodelist=p5-[1,3-4]",
    ]


def test_slurm_is_not_queried_for_jobs_while_all_nodes_are_off(commands: Callable[..., Calls], tmp_path: Path) -> None:
    off = tmp_path / "off.json"
    group = {"node": {"state": ["IDLE", "CLOUD", "POWERED_DOWN"]}, "nodes": {"nodes": ["p5-[1-6]"]}}
    off.write_text(json.dumps({"sinfo": [group]}))
    calls = commands(sinfo=off, squeue=DATA / NEW / "array.squeue.json")
    assert slurm.view(POLICY, need_pending=False).jobs == {}
    assert [call[0] for call in calls()] == ["sinfo"]
    assert slurm.view(POLICY, need_pending=True).jobs[5].state == "PENDING"
    assert calls()[-1] == ["squeue", "--json", "--all", "--states=PENDING"]


@pytest.mark.parametrize("answer", ["fail: slurm_load_node error", "not JSON"])
def test_a_slurm_that_does_not_answer_is_an_error(commands: Callable[..., Calls], answer: str) -> None:
    commands(sinfo=answer)
    with pytest.raises(SlurmError, match="sinfo"):
        slurm.view(POLICY)


def test_a_missing_slurm_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlurmError):
        slurm.active()


@pytest.mark.parametrize(
    ("pings", "host"),
    [
        ([{"hostname": "ctl01", "responding": True, "primary": True}], "ctl01"),
        ([{"hostname": "ctl01", "pinged": "DOWN", "mode": "primary"}, {"hostname": "ctl02", "pinged": "UP"}], "ctl02"),
        ([{"hostname": "b", "pinged": "UP", "mode": "backup1"}, {"hostname": "a.x", "pinged": "UP", "mode": "primary"}], "a"),
        ([{"hostname": "ctl01", "responding": False, "primary": True}], None),
        ([], None),
    ],
)  # fmt: skip
def test_the_active_controller_is_read_from_pings(pings: list[dict[str, Any]], host: str | None) -> None:
    assert active_host({"pings": pings}) == host


def test_the_active_controller_is_read_from_a_recorded_ping() -> None:
    assert active_host(recorded("scontrol-ping")) == "ctl01"


def test_nodes_are_updated_with_scontrol_in_batches(
    commands: Callable[..., Calls], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "MAX_NAMES_PER_COMMAND", 2)
    calls = commands(scontrol="")
    slurm.down(["p5-1", "p5-2", "p5-4"], "landbridge: CAPACITY no room")
    slurm.set_addresses({"p5-2": "10.0.0.2", "p5-10": "10.0.0.10"})
    slurm.set_addresses({})
    reason = "reason=landbridge: CAPACITY no room"
    assert [call[2:] for call in calls()] == [
        ["nodename=p5-[1-2]", "state=down", reason],
        ["nodename=p5-[1-2]", "state=power_down_force", reason],
        ["nodename=p5-4", "state=down", reason],
        ["nodename=p5-4", "state=power_down_force", reason],
        ["nodename=p5-10,p5-2", "nodeaddr=10.0.0.10,10.0.0.2"],
    ]


def test_nodes_without_a_job_are_powered_down_after_any_job_that_starts_meanwhile(
    commands: Callable[..., Calls],
) -> None:
    calls = commands(scontrol="")
    slurm.retire(["p5-2", "p5-1"], "landbridge: APART x")
    assert calls() == [
        ["scontrol", "update", "nodename=p5-[1-2]", "state=power_down_asap", "reason=landbridge: APART x"]
    ]


def test_network_paths_are_written_with_one_command_for_each_path(commands: Callable[..., Calls]) -> None:
    calls = commands(scontrol="")
    slurm.set_network_paths({"p5-1": "nn-1/nn-3", "p5-2": "nn-1/nn-2", "p5-3": "nn-1/nn-3", "p5-4": ""})
    slurm.set_network_paths({})
    assert [call[1:] for call in calls()] == [
        ["update", "nodename=p5-4", "comment="],
        ["update", "nodename=p5-2", "comment=network:nn-1/nn-2"],
        ["update", "nodename=p5-[1,3]", "comment=network:nn-1/nn-3"],
    ]


def test_a_time_is_written_in_slurms_time_zone(commands: Callable[..., Calls]) -> None:
    calls = commands(scontrol="")
    slurm.comment([JobComment(7, "7", "later", 1795333778.0)])
    text = calls()[0][-1].removeprefix("starttime=")
    assert time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S")) == 1795333778.0


def test_a_promoted_job_keeps_its_partitions_and_is_updated_once(
    commands: Callable[..., Calls], tmp_path: Path
) -> None:
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"jobs": [{"job_id": 7, "job_state": ["PENDING"], "partition": "gpu,p5"}]}))
    calls = commands(scontrol={"show job": job, "update": ""})
    slurm.promote(7, ["p5", "g6"])
    assert calls()[-1] == ["scontrol", "update", "jobid=7", "partition=gpu,p5,g6"]
    slurm.promote(7, ["p5"])
    assert len(calls()) == 3
    job.write_text(json.dumps({"jobs": [{"job_id": 7, "job_state": ["RUNNING"], "partition": "gpu"}]}))
    slurm.promote(7, ["p5"])
    assert len(calls()) == 4


def test_commands_accept_a_thousand_scattered_nodes(commands: Callable[..., Calls]) -> None:
    calls = commands(scontrol="")
    names = [f"a-rather-long-name-of-a-pool-{number}" for number in range(1, 2001, 2)]
    slurm.down(names, "landbridge: QUOTA x")
    slurm.set_addresses(dict.fromkeys(names, "100.100.100.100"))
    assert sorted(expand(",".join(call[2].removeprefix("nodename=") for call in calls()[:4:2]))) == sorted(names)
