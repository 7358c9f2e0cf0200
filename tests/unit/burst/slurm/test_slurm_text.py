"""Text of sinfo and squeue: recorded output of real daemons of each release, and values that users control."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.model import SlurmNode
from landbridge.burst.reconcile.node_states import is_drained, is_powered_down, is_powering_up, is_up
from landbridge.burst.slurm.slurm_text import JOB_FIELDS, SlurmTextError, job_format, jobs_of, node_states_of
from tests.unit.burst.slurm.commands import DATA, SEPARATOR, recorded_jobs

EVERY_NODE = {f"p5-{number}" for number in range(1, 9)}
OFF = {"p5-6", "p5-7", "p5-8"}
MOMENTS = sorted(DATA.glob("*/*.sinfo.txt"))
VERSIONS = sorted({path.parent.name for path in MOMENTS})


def nodes(moment: str, version: str) -> dict[str, SlurmNode]:
    text = (DATA / version / f"{moment}.sinfo.txt").read_text()
    return {name: SlurmNode(name, states) for name, states in node_states_of(text).items()}


def line(separator: str = SEPARATOR, **values: str) -> str:
    """Return squeue's line of a running job with changed fields."""
    job = dict.fromkeys(JOB_FIELDS, "N/A") | {"JobID": "7", "State": "RUNNING", "NodeList": "p5-1"} | values
    return "".join(f"{value}{separator}" for value in job.values()) + "\n"


def test_output_of_every_release_is_recorded() -> None:
    assert VERSIONS == ["23.11", "24.05", "24.11", "25.05", "25.11", "26.05"]


@pytest.mark.parametrize("path", MOMENTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_states_of_each_node_are_those_of_scontrol(path: Path) -> None:
    lines = path.with_name(path.name.replace(".sinfo.", ".node.")).read_text().splitlines()
    by_scontrol = {name: frozenset(state.split("+")) for name, state in (line.split() for line in lines)}
    assert node_states_of(path.read_text()) == by_scontrol and set(by_scontrol) == EVERY_NODE


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("moment", "up", "flags"),
    [
        ("power", {"p5-1", "p5-2"}, set()),
        ("planned", {"p5-1", "p5-2"}, {"PLANNED"}),
        ("maint", {"p5-1", "p5-2"}, {"MAINTENANCE", "RESERVED"}),
        ("maint-drain", {"p5-1", "p5-2"}, {"MAINTENANCE", "DRAIN"}),
        ("maint-reboot", {"p5-1"}, {"MAINTENANCE", "REBOOT_ISSUED"}),
        ("reserved", {"p5-1", "p5-2"}, {"RESERVED"}),
        ("reboot", {"p5-1"}, {"REBOOT_ISSUED"}),
        ("drain", {"p5-1", "p5-2"}, {"DRAIN"}),
        ("fail", {"p5-1", "p5-2"}, {"FAIL"}),
    ],
)
def test_the_power_of_each_node_is_read_in_every_state(
    moment: str, up: set[str], flags: set[str], version: str
) -> None:
    shown = nodes(moment, version)
    assert {name for name, node in shown.items() if is_up(node)} == up
    assert "p5-3" in {name for name, node in shown.items() if is_powering_up(node)} <= {"p5-3", "p5-4"}
    assert {name for name, node in shown.items() if is_powered_down(node)} >= OFF
    assert flags <= shown["p5-2"].states and "CLOUD" in frozenset.intersection(*(n.states for n in shown.values()))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_drained_node_stays_up_when_slurm_suspends_an_idle_one(version: str) -> None:
    shown = nodes("after-suspend-time", version)
    assert is_drained(shown["p5-2"]) and is_powered_down(shown["p5-7"])


@pytest.mark.parametrize("version", [version for version in VERSIONS if version != "23.11"])
def test_a_blocked_node_is_still_powered_down(version: str) -> None:
    shown = nodes("blocked", version)
    assert is_up(shown["p5-5"])
    blocked = {name for name, node in shown.items() if "BLOCKED" in node.states}
    assert blocked == OFF and all(is_powered_down(shown[name]) for name in blocked)


@pytest.mark.parametrize("version", VERSIONS)
def test_jobs_with_nodes_are_read(version: str) -> None:
    first, second = recorded_jobs("power", version)
    assert (first.id, first.nodes, first.partition, first.account) == (1, ("p5-1",), "p5", "vision")
    assert (first.user, first.wckey, first.minutes, first.restarts, first.het_job, first.array_job) == (
        *("root", "", 60, 0),
        *(0, 0),
    )
    assert (second.state, second.nodes, second.wckey, second.minutes) == ("CONFIGURING", ("p5-3",), "patients", 1)
    assert second.started is not None and second.eligible is not None and 0 <= second.started - second.eligible < 600
    assert second.expected_start is None and second.wanted_nodes == 0
    in_reservation = recorded_jobs("maint", version)[-1]
    assert (in_reservation.state, in_reservation.nodes) == ("CONFIGURING", ("p5-4",))


@pytest.mark.parametrize(
    ("text", "gpus", "cpus"),
    [
        ("cpu=192,mem=2000G,node=2,billing=192,gres/gpu=16,gres/gpu:h100=16", 16, 192),
        ("cpu=4,mem=1M,node=1,billing=4", 0, 4),
        ("N/A", 0, 0),
        ("cpu=,gres/gpu=many", 0, 0),
    ],
)
def test_the_resources_of_a_job_are_read(text: str, gpus: int, cpus: int) -> None:
    (job,) = jobs_of(line(**{"tres-alloc": text}), SEPARATOR)
    assert (job.gpus, job.cpus) == (gpus, cpus)


@pytest.mark.parametrize(("text", "eligible"), [("1795337683", 1795337683.0), ("Unknown", None), ("0", None)])
def test_the_time_from_which_a_job_may_start_is_read(text: str, eligible: float | None) -> None:
    (job,) = jobs_of(line(EligibleTime=text), SEPARATOR)
    assert job.eligible == eligible


@pytest.mark.parametrize("version", VERSIONS)
def test_pending_jobs_are_read(version: str) -> None:
    (job,) = recorded_jobs("pending", version)
    assert (job.state, job.nodes, job.wanted_nodes, job.minutes) == ("PENDING", (), 6, 20)
    assert job.started is None and job.expected_start is not None and job.eligible is not None
    assert job.expected_start > job.eligible


@pytest.mark.parametrize("version", VERSIONS)
def test_array_and_heterogeneous_jobs_are_read_with_their_leader(version: str) -> None:
    free, array, leader, component = recorded_jobs("by-id", version)
    assert (array.array_job, array.het_job, free.array_job, leader.array_job) == (array.id, 0, 0, 0)
    assert (leader.het_job, component.het_job, component.wanted_nodes) == (leader.id, leader.id, 2)
    assert (free.minutes, free.account) == (None, "lab, two")


@pytest.mark.parametrize("version", VERSIONS)
def test_jobs_that_slurm_ends_instead_of_requeues_are_read(version: str) -> None:
    interactive, requeued, *tasks, last = recorded_jobs("requeue", version)
    assert (interactive.state, interactive.nodes, interactive.is_batch) == ("RUNNING", ("p5-2",), False)
    # Slurm writes JobRequeue, the default, into an interactive job too.
    assert interactive.may_requeue and not interactive.is_requeued
    assert (requeued.state, requeued.restarts, requeued.is_requeued) == ("PENDING", 1, True)
    assert (last.state, last.is_batch, last.may_requeue) == ("PENDING", True, False)
    others = [
        job for moment in ("power", "maint", "pending", "stopped", "by-id") for job in recorded_jobs(moment, version)
    ]
    assert all(job.is_batch and job.may_requeue for job in (*tasks, *others))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_task_of_an_array_is_read_and_the_tasks_that_have_no_record_of_their_own_are_not(version: str) -> None:
    free, array, leader, component = recorded_jobs("by-id", version)
    assert "|1-3%2|" in (DATA / version / "by-id.squeue.txt").read_text()
    assert array.slurm_id == str(array.id)
    assert [job.array_task for job in (free, array, leader, component)] == [None] * 4
    _, _, pending, running, _ = recorded_jobs("requeue", version)
    assert (pending.state, pending.array_job, pending.array_task) == ("PENDING", pending.id, None)
    assert (running.state, running.array_job, running.array_task) == ("RUNNING", pending.id, 1)
    assert running.id != pending.id and running.slurm_id == f"{pending.id}_1"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_pending_task_with_a_record_of_its_own_is_read_by_its_id(version: str) -> None:
    (task,) = recorded_jobs("split-task", version)
    assert (task.state, task.array_task, task.slurm_id) == ("PENDING", 3, f"{task.array_job}_3")
    assert task.id != task.array_job
    # Beside the array's record squeue shows it as part of the array's range, without a line.
    pending, running = recorded_jobs("split-task-and-array", version)
    assert (pending.id, pending.array_task, running.array_task) == (task.array_job, None, 1)
    assert task.id not in (pending.id, running.id)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_wckey_cannot_write_the_record_of_another_job(version: str) -> None:
    free, *others = recorded_jobs("by-id", version)
    assert free.wckey.lower() == "x|\n7|running|p5-1|"
    assert {job.state for job in (free, *others)} == {"PENDING"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_stopped_job_has_its_nodes(version: str) -> None:
    (job,) = recorded_jobs("stopped", version)
    assert (job.state, job.nodes) == ("RUNNING", ("p5-1",))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_job_that_has_ended_has_no_nodes(version: str) -> None:
    (job,) = recorded_jobs("completing", version)
    assert (job.state, job.nodes) == ("COMPLETING", ("p5-2",))
    assert recorded_jobs("ended", version) == [] and recorded_jobs("ended-all-states", version) == []
    assert "CANCELLED" in (DATA / version / "ended-all-states.squeue.txt").read_text()


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("1:00", 1),
        ("1:00:00", 60),
        ("1-02:04:00", 1564),
        ("364-00:00:00", 524160),
        ("UNLIMITED", None),
        ("NOT_SET", None),
        ("INVALID", None),
    ],
)
def test_a_time_limit_is_read_in_minutes(text: str, minutes: int | None) -> None:
    (job,) = jobs_of(line(TimeLimit=text), SEPARATOR)
    assert job.minutes == minutes


@pytest.mark.parametrize(
    ("word", "node_list", "state"),
    [
        ("SIGNALING", "p5-1", "RUNNING"),
        ("RESIZING", "p5-1", "RUNNING"),
        ("SUSPENDED", "p5-1", "SUSPENDED"),
        ("REQUEUE_HOLD", "", "PENDING"),
        ("SPECIAL_EXIT", "", "PENDING"),
        ("STAGE_OUT", "p5-1", None),
    ],
)
def test_every_word_of_a_state_has_a_state_of_the_model(word: str, node_list: str, state: str | None) -> None:
    assert [job.state for job in jobs_of(line(State=word, NodeList=node_list), SEPARATOR)] == ([state] if state else [])


@given(st.text(max_size=40), st.text(max_size=40))
def test_text_of_users_stays_in_its_field(account: str, wckey: str) -> None:
    separator = "|another|"
    text = line(separator, Account=account, WCKey=wckey) + line(separator, JobID="8")
    first, second = jobs_of(text, separator)
    assert (first.id, second.id, first.nodes) == (7, 8, ("p5-1",))
    assert first.account == ("" if account in ("(null)", "N/A") else account)


@pytest.mark.parametrize(
    "text", ["slurm_load_jobs error: x", line()[:-20], line().replace("7", "x", 1), line(NodeList="p5-[")]
)
def test_other_output_of_squeue_is_an_error(text: str) -> None:
    with pytest.raises(SlurmTextError, match="squeue"):
        list(jobs_of(text, SEPARATOR))


@pytest.mark.parametrize("text", ["p5-1", "p5-[1 idle", '{"sinfo": []}'])
def test_other_output_of_sinfo_is_an_error(text: str) -> None:
    with pytest.raises(SlurmTextError, match="sinfo"):
        node_states_of(text)


def test_the_format_names_every_field_with_the_separator() -> None:
    assert job_format("|x|").split(",")[:2] == ["JobID:0|x|", "State:0|x|"]
    assert len(job_format("|x|").split(",")) == len(JOB_FIELDS)


def test_texts_that_jobs_share_are_kept_once_in_memory() -> None:
    shared = {"Partition": "gpu-large", "Account": "vision-group", "UserName": "researcher", "WCKey": "*project-1"}
    first, second = jobs_of(line(**shared) + line(JobID="8", **shared), SEPARATOR)
    for name in ("state", "partition", "account", "user", "wckey"):
        assert getattr(first, name) is getattr(second, name), name
    assert (first.partition, first.account, first.user) == ("gpu-large", "vision-group", "researcher")
    assert first.wckey == "project-1"
