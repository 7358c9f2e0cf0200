"""Comments of jobs: the user's text stays, no sibling of an array's task changes, and one command serves many jobs.

A stand-in of scontrol changes jobs as slurmctld does (Slurm 26.05, job_mgr.c: update_job_str) and prints errors as
scontrol does (scontrol/update_job.c).
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.model import JobComment, SlurmJob
from landbridge.burst.slurm import slurm
from landbridge.burst.slurm.slurm import SlurmError
from landbridge.burst.slurm.slurm_json import job_of

DATA = Path(__file__).parent.parent / "data"
USERS_TEXT = '{"experiment": 12}'
SCONTROL = f"""#!{sys.executable}
import json, pathlib, sys
jobs_file, log = pathlib.Path(sys.argv[0]).with_name("jobs.json"), pathlib.Path(sys.argv[0]).with_name("log")
with log.open("a") as file: print(json.dumps(sys.argv[1:]), file=file)
jobs = json.loads(jobs_file.read_text())
if sys.argv[1] == "notify":
    (job,) = [job for job in jobs if job["id"] == int(sys.argv[2])]
    if job["batch"]: sys.exit("Requested operation is presently disabled")
    job["messages"].append(" ".join(sys.argv[3:]))
    jobs_file.write_text(json.dumps(jobs))
    sys.exit(0)
fields = dict(word.split("=", 1) for word in sys.argv[2:])
failed = False
def update(job):
    for key, value in fields.items():
        if key == "starttime" and job["state"] != "PENDING": return "Job is no longer pending execution"
        if key != "jobid": job[key] = value
for spec in fields["jobid"].split(","):
    number, _, task = spec.partition("_")
    number = int(number)
    if task:
        chosen = [job for job in jobs if (job["array"], job["task"]) == (number, int(task))]
    else:
        chosen = [job for job in jobs if job["array"] == number] or [job for job in jobs if job["id"] == number]
    if not chosen:
        print(f"Invalid job id specified for job {{spec}}", file=sys.stderr)
        failed = True
    for job in chosen:
        if error := update(job):
            failed = True
            is_single = not task and not job["array"]
            print(f"{{error}} for job {{spec}}" if is_single else f"{{job['array']}}_[{{job['task']}}]: {{error}}", file=sys.stderr)
jobs_file.write_text(json.dumps(jobs))
sys.exit(int(failed))
"""


@dataclass
class Jobs:
    folder: Path

    def set(self, *jobs: dict[str, Any]) -> None:
        defaults = {"array": 0, "task": None, "state": "PENDING", "comment": USERS_TEXT, "batch": True, "messages": []}
        (self.folder / "jobs.json").write_text(json.dumps([{**defaults, **job} for job in jobs]))

    def get(self) -> dict[int, dict[str, Any]]:
        return {job["id"]: job for job in json.loads((self.folder / "jobs.json").read_text())}

    def commands(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jobs:
    program = tmp_path / "scontrol"
    program.write_text(SCONTROL)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return Jobs(tmp_path)


def note(
    job: int, slurm_id: str = "", text: str = "landbridge: CAPACITY none", until: float | None = 2e9
) -> JobComment:
    return JobComment(job, slurm_id or str(job), text, until)


def test_the_reason_goes_into_the_admin_comment_and_the_users_comment_stays(jobs: Jobs) -> None:
    jobs.set({"id": 7})
    assert slurm.comment([note(7, text='no "room"\nuntil', until=None)]) == {}
    job = jobs.get()[7]
    assert (job["comment"], job["admincomment"], job["starttime"]) == (USERS_TEXT, "no 'room' until", "now")


@pytest.mark.parametrize("sibling", ["PENDING", "RUNNING"])
def test_the_last_task_of_an_array_is_changed_alone(jobs: Jobs, sibling: str) -> None:
    jobs.set({"id": 7, "array": 4, "task": 0, "state": sibling}, {"id": 4, "array": 4, "task": 1})
    last = SlurmJob(4, "PENDING", array_job=4, array_task=1)
    assert slurm.comment([note(4, last.slurm_id)]) == {}
    assert "admincomment" in jobs.get()[4] and "admincomment" not in jobs.get()[7]


@pytest.mark.parametrize("version", ["24.11", "26.05"])
def test_each_task_of_a_recorded_array_has_its_own_id(version: str) -> None:
    raw = json.loads((DATA / version / "array.squeue.json").read_text())["jobs"]
    jobs = {job.id: job for job in map(job_of, raw)}
    tasks = {job["job_id"]: job["array_task_id"]["number"] for job in raw if job["array_task_id"]["set"]}
    assert tasks and {number: jobs[number].slurm_id for number in tasks} == {
        number: f"{jobs[number].array_job}_{task}" for number, task in tasks.items()
    }
    assert all(job.slurm_id == str(number) for number, job in jobs.items() if number not in tasks)


def test_jobs_with_one_reason_are_changed_with_one_command(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "MAX_JOBS_PER_COMMAND", 3)
    jobs.set(*({"id": number} for number in range(1, 8)))
    comments = [note(number) for number in range(1, 6)] + [
        note(6, text="landbridge: BUDGET x"),
        note(7, until=2e9 + 60),
    ]
    assert slurm.comment(comments) == {}
    assert [words[1] for words in jobs.commands()] == ["jobid=1,2,3", "jobid=4,5", "jobid=6", "jobid=7"]
    assert all(job["admincomment"].startswith("landbridge: ") for job in jobs.get().values())


def test_a_job_that_cannot_be_changed_is_returned_with_its_error_and_the_others_are_changed(jobs: Jobs) -> None:
    jobs.set(
        {"id": 1, "state": "RUNNING"},
        {"id": 2},
        {"id": 5, "array": 4, "task": 0, "state": "RUNNING"},
        {"id": 4, "array": 4, "task": 1},
    )
    errors = slurm.comment([note(1), note(2), note(3), note(5, "4_0"), note(4, "4_1")])
    assert errors == {
        1: "Job is no longer pending execution for job 1",
        3: "Invalid job id specified for job 3",
        5: "4_[0]: Job is no longer pending execution",
    }
    assert {number for number, job in jobs.get().items() if "starttime" in job} == {2, 4}


def test_an_error_without_an_id_concerns_all_jobs_of_the_command(fails: Callable[[str], None]) -> None:
    fails("slurm_update error: Access/permission denied")
    assert set(slurm.comment([note(1), note(2)])) == {1, 2}


def test_without_slurm_no_job_has_its_comment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    errors = slurm.comment([note(1), note(2, until=None)])
    assert set(errors) == {1, 2} and all("scontrol" in error for error in errors.values())


def test_comments_that_take_too_long_are_left_to_the_next_pass(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "MAX_JOBS_PER_COMMAND", 1)
    monkeypatch.setattr(slurm, "COMMENTS_SECONDS", 0.0)
    jobs.set(*({"id": number} for number in range(1, 4)))
    assert set(slurm.comment([note(1), note(2), note(3)])) == {2, 3}
    assert [number for number, job in jobs.get().items() if "admincomment" in job] == [1]


@pytest.fixture
def fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def install(error: str) -> None:
        program = tmp_path / "scontrol"
        program.write_text(f"#!/bin/sh\necho '{error}' >&2\nexit 1\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return install


def test_jobs_that_end_have_the_reason_and_interactive_jobs_a_message(jobs: Jobs) -> None:
    jobs.set({"id": 1, "state": "RUNNING", "batch": False}, {"id": 2, "state": "RUNNING"})
    slurm.report_end(
        [SlurmJob(1, "CONFIGURING", is_batch=False), SlurmJob(2, "CONFIGURING", may_requeue=False)],
        "landbridge: CAPACITY none",
    )
    seen = jobs.get()
    assert {job["comment"] for job in seen.values()} == {USERS_TEXT}
    assert all(job["admincomment"].startswith("landbridge: CAPACITY none; ") for job in seen.values())
    (message,) = seen[1]["messages"]
    assert message == seen[1]["admincomment"] and "the job ends" in message
    assert not seen[2]["messages"]


def test_messages_to_terminals_are_bounded(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "MAX_NOTIFIED_JOBS", 2)
    jobs.set(*({"id": number, "state": "RUNNING", "batch": False} for number in range(1, 4)))
    ended = [SlurmJob(number, "CONFIGURING", is_batch=False) for number in range(1, 4)]
    slurm.report_end(ended, "landbridge: CAPACITY none")
    seen = jobs.get()
    assert [number for number, job in seen.items() if job["messages"]] == [1, 2]
    assert all("admincomment" in job for job in seen.values())


def test_an_interactive_job_gets_its_message_also_if_another_one_has_ended(jobs: Jobs) -> None:
    jobs.set({"id": 2, "state": "RUNNING", "batch": False})
    ended_job, running_job = (SlurmJob(number, "CONFIGURING", is_batch=False) for number in (1, 2))
    with pytest.raises(SlurmError, match="for job 1"):
        slurm.report_end([ended_job, running_job], "landbridge: CAPACITY none")
    assert jobs.get()[2]["messages"]
