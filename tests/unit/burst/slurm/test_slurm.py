"""The Slurm client of burst: arguments of its commands, whose stubs record their calls, and what it reads from them."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.model import BurstPolicy, JobComment, PoolPolicy
from landbridge.burst.reconcile.node_states import is_powered_down, is_powering_up, is_up
from landbridge.burst.slurm import slurm
from landbridge.burst.slurm.slurm import SlurmError
from landbridge.hostlist import expand
from tests.unit.burst.slurm.commands import DATA, Install, recorded_jobs

POLICY = BurstPolicy("probe", "us-east-1", {"p5": PoolPolicy("p5", "p5-", 6, ())}, {})
NEW = "26.05"


NODE_QUERY = ["sinfo", "--noheader", "--all", "--nodes=p5-[1-6]", "--Format=NodeList:0 ,StateComplete:0"]
OFF = "p5-[1-6] idle+cloud+powered_down\n"


def filters(call: list[str]) -> list[str]:
    """Return the arguments of a call of squeue behind its format."""
    assert call[:3] == ["squeue", "--noheader", "--all"] and call[3].startswith("--Format=JobID:0|")
    return call[4:]


def test_the_view_queries_the_nodes_of_pools_and_the_jobs_of_nodes_that_are_not_off(commands: Install) -> None:
    states = "p5-[1-2] down+cloud\np5-3 mixed+cloud\np5-[5-6] idle+cloud+powered_down\np5-4 down+cloud+powered_down\n"
    calls = commands(
        sinfo=states,
        squeue=DATA / NEW / "power.squeue.txt",
        scontrol=DATA / NEW / "gang-partly-up.node.json",
    )
    before = time.time()
    view = slurm.view(POLICY, pending=(), need_address=["p5-1", "p5-6"])
    assert set(view.nodes) == {f"p5-{number}" for number in range(1, 7)} and set(view.jobs) == {1, 3}
    assert view.nodes["p5-1"].address == "10.53.1.21" and before <= view.at <= time.time()
    info, node, queue = calls()
    assert info == NODE_QUERY
    # The nodes that are down, and those whose address is needed.
    assert node == ["scontrol", "show", "node", "p5-[1-2,4,6]", "--json"]
    assert filters(queue) == ["--nodelist=p5-[1-3]"]


def test_slurm_is_not_queried_for_jobs_while_all_nodes_are_off(commands: Install) -> None:
    calls = commands(sinfo=OFF, squeue=DATA / NEW / "pending.squeue.txt")
    assert slurm.view(POLICY).jobs == {}
    assert [call[0] for call in calls()] == ["sinfo"]
    assert {job.state for job in slurm.view(POLICY, all_pending=True).jobs.values()} == {"PENDING"}
    assert filters(calls()[-1]) == ["--states=PENDING"]


@pytest.mark.parametrize(
    ("ids", "queries"),
    [
        # A single unknown id would be an error: "Invalid job id specified".
        ([7], [["--jobs=7,7"]]),
        ([9, 7], [["--jobs=7,9"]]),
        ([93, 91, 92, 95, 94], [["--jobs=91,92"], ["--jobs=93,94"], ["--jobs=95,95"]]),
    ],
)
def test_pending_jobs_are_read_by_id(
    ids: list[int], queries: list[list[str]], commands: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "MAX_IDS_PER_COMMAND", 2)
    calls = commands(sinfo=OFF, squeue=DATA / NEW / "by-id.squeue.txt")
    jobs = slurm.view(POLICY, pending=ids).jobs
    assert [filters(call) for call in calls() if call[0] == "squeue"] == queries
    assert jobs and {job.state for job in jobs.values()} == {"PENDING"}


@pytest.mark.parametrize("all_pending", [False, True])
@pytest.mark.parametrize("version", sorted(path.parent.name for path in DATA.glob("*/split-task.squeue.txt")))
def test_a_split_off_task_is_read_beside_its_array(version: str, all_pending: bool, commands: Install) -> None:
    """The stand-in answers as squeue does: without the task as soon as the record of the array's other tasks is shown."""
    (array,) = [job for job in recorded_jobs("split-task-and-array", version) if job.state == "PENDING"]
    (task,) = recorded_jobs("split-task", version)
    by_id = {f"--jobs={task.id},{task.id}": DATA / version / "split-task.squeue.txt"}
    commands(sinfo=OFF, squeue={**by_id, "": DATA / version / "split-task-and-array.squeue.txt"})
    view = slurm.view(POLICY, [array.id, task.id], all_pending=all_pending)
    assert view.jobs[task.id].array_task is not None and view.jobs[array.id].array_task is None


@pytest.mark.parametrize("version", sorted(path.parent.name for path in DATA.glob("*/requeue.squeue.txt")))
def test_flags_and_tasks_are_in_the_view(version: str, commands: Install) -> None:
    calls = commands(sinfo="p5-[1-6] idle+cloud\n", squeue=DATA / version / "requeue.squeue.txt")
    jobs = slurm.view(POLICY).jobs
    assert len(jobs) == 5 and all(f"{field}:0|" in calls()[-1][3] for field in ("ArrayTaskID", "BatchFlag", "Requeue"))
    flags = sorted((job.is_batch, job.may_requeue) for job in jobs.values())
    assert flags == [(False, True), (True, False), *[(True, True)] * 3]
    assert [job.array_task for job in jobs.values() if job.array_job and job.state == "RUNNING"] == [1]


def test_a_running_job_is_not_read_as_a_pending_one(commands: Install) -> None:
    commands(sinfo=OFF, squeue=DATA / NEW / "power.squeue.txt")
    assert slurm.view(POLICY, pending=[1, 3]).jobs == {}


def test_the_separator_of_fields_is_another_one_in_each_query(commands: Install) -> None:
    calls = commands(sinfo=OFF, squeue="")
    for _ in range(3):
        slurm.view(POLICY, all_pending=True)
    assert len({call[3] for call in calls() if call[0] == "squeue"}) == 3


def test_power_flags_are_read_under_a_maintenance_reservation(commands: Install) -> None:
    """The stand-in answers as sinfo does: its JSON has one group of all idle nodes, with the flags of the first."""
    group = {"node": {"state": ["IDLE", "CLOUD", "MAINTENANCE", "RESERVED"]}, "nodes": {"nodes": ["p5-[2,5-6]"]}}
    commands(
        sinfo={"--json": json.dumps({"sinfo": [group]}), "": DATA / NEW / "maint.sinfo.txt"},
        squeue=DATA / NEW / "maint.squeue.txt",
    )
    nodes = slurm.view(POLICY).nodes
    up = {name for name, node in nodes.items() if is_up(node)}
    assert up == {"p5-1", "p5-2"}
    assert {name for name, node in nodes.items() if is_powering_up(node)} == {"p5-3", "p5-4"}
    assert {name for name, node in nodes.items() if is_powered_down(node)} == {"p5-5", "p5-6"}


@pytest.mark.parametrize("answer", ["fail: slurm_load_node error", "not JSON"])
def test_a_slurm_that_does_not_answer_is_an_error(commands: Install, answer: str) -> None:
    commands(sinfo=answer)
    with pytest.raises(SlurmError, match="sinfo"):
        slurm.view(POLICY, all_pending=True)


def test_a_missing_slurm_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlurmError):
        slurm.active()


def test_nodes_are_updated_with_scontrol_in_batches(commands: Install, monkeypatch: pytest.MonkeyPatch) -> None:
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
    commands: Install,
) -> None:
    calls = commands(scontrol="")
    slurm.retire(["p5-2", "p5-1"], "landbridge: APART x")
    assert calls() == [
        ["scontrol", "update", "nodename=p5-[1-2]", "state=power_down_asap", "reason=landbridge: APART x"]
    ]


def test_network_paths_are_written_with_one_command_for_each_path(commands: Install) -> None:
    calls = commands(scontrol="")
    slurm.set_network_paths({"p5-1": "nn-1/nn-3", "p5-2": "nn-1/nn-2", "p5-3": "nn-1/nn-3", "p5-4": ""})
    slurm.set_network_paths({})
    assert [call[1:] for call in calls()] == [
        ["update", "nodename=p5-4", "comment="],
        ["update", "nodename=p5-2", "comment=network:nn-1/nn-2"],
        ["update", "nodename=p5-[1,3]", "comment=network:nn-1/nn-3"],
    ]


def test_a_time_is_written_in_slurms_time_zone(commands: Install) -> None:
    calls = commands(scontrol="")
    slurm.comment([JobComment(7, "7", "later", 1795333778.0)])
    text = calls()[0][-1].removeprefix("starttime=")
    assert time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S")) == 1795333778.0


def test_a_promoted_job_keeps_its_partitions_and_is_updated_once(commands: Install, tmp_path: Path) -> None:
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


def test_a_promotion_of_the_last_task_of_an_array_leaves_its_siblings(commands: Install, tmp_path: Path) -> None:
    def task(job: int, number: int) -> dict[str, Any]:
        fields = {
            "job_id": job,
            "array_job_id": {"set": True, "number": 4},
            "array_task_id": {"set": True, "number": number},
        }
        return {**fields, "job_state": ["PENDING"], "partition": "gpu"}

    shown = tmp_path / "jobs.json"
    shown.write_text(json.dumps({"jobs": [task(5, 1), task(4, 2)]}))
    calls = commands(scontrol={"show job": shown, "update": ""})
    slurm.promote(4, ["p5"])
    assert calls()[-1] == ["scontrol", "update", "jobid=4_2", "partition=gpu,p5"]


def test_commands_accept_a_thousand_scattered_nodes(commands: Install) -> None:
    calls = commands(scontrol="")
    names = [f"a-rather-long-name-of-a-pool-{number}" for number in range(1, 2001, 2)]
    slurm.down(names, "landbridge: QUOTA x")
    slurm.set_addresses(dict.fromkeys(names, "100.100.100.100"))
    assert sorted(expand(",".join(call[2].removeprefix("nodename=") for call in calls()[:4:2]))) == sorted(names)
