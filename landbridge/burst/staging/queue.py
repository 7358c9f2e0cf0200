"""Slurm's queue of jobs that state data or results: a query of jobs that have not ended, releases and comments."""

import os
from collections.abc import Iterator, Sequence

from landbridge.burst.slurm.slurm import SlurmError, run
from landbridge.burst.slurm.slurm_text import TIME_ENVIRONMENT
from landbridge.burst.staging.model import DataJob, StagingNote
from landbridge.staging.results import stated_results
from landbridge.staging.statement import HELD_PREFIX, stated_data

#: Fields of `squeue --Format`, in the order of `_job`.
_FIELDS = (
    *("JobID", "ArrayJobID", "ArrayTaskID", "Partition", "Account", "PriorityLong", "Deadline", "EligibleTime"),
    *("StartTime", "TimeLimit", "State", "UserName", "UserID", "Comment", "admin_comment"),
)
#: States of a job whose base state is PENDING, and of one that completes before it may be queued again.
_PENDING = ("PENDING", "COMPLETING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT")
#: Slurm's answer to a change of a job that has ended (slurm_errno.c).
_ENDED = "already finished"


def data_jobs() -> list[DataJob]:
    """Return the jobs that state data or results and have not ended. Raises SlurmError."""
    # Comments are free text: no user can foresee the separator.
    separator = f"|{os.urandom(4).hex()}|"
    # Without --states squeue shows pending, running, suspended and completing jobs (squeue(1)).
    command = ["squeue", "--noheader", "--all", f"--Format={data_format(separator)}"]
    return list(jobs_of(run(command, 30, TIME_ENVIRONMENT), separator))


def data_format(separator: str) -> str:
    """Return the value of `squeue --Format`."""
    return ",".join(f"{field}:0{separator}" for field in _FIELDS)


def jobs_of(text: str, separator: str) -> Iterator[DataJob]:
    """Yield the jobs that state data or results from squeue's output. Raises SlurmError."""
    *values, rest = text.split(separator)
    if rest.strip() or len(values) % len(_FIELDS):
        raise SlurmError(f"squeue: {len(_FIELDS)} fields of each job are expected: {text[:200]!r}")
    for start in range(0, len(values), len(_FIELDS)):
        job = _job(values[start : start + len(_FIELDS)])
        if job is not None:
            yield job


def release(releases: Sequence[StagingNote]) -> dict[int, str]:
    """Release jobs and write their AdminComment; return the error by job.

    The comment follows the release: until then the job counts as held, and the next pass releases it again. A short job
    may end before its comment.
    """
    errors: dict[int, str] = {}
    for part in releases:
        try:
            run(["scontrol", "release", part.slurm_id])
            _comment(part.slurm_id, part.text)
        except SlurmError as error:
            if _ENDED not in str(error):
                errors[part.job] = str(error)
    return errors


def write_notes(notes: Sequence[StagingNote]) -> dict[int, str]:
    """Write the AdminComment of jobs that stay held; return the error by job."""
    errors: dict[int, str] = {}
    for part in notes:
        try:
            _comment(part.slurm_id, part.text)
        except SlurmError as error:
            errors[part.job] = str(error)
    return errors


def _comment(slurm_id: str, text: str) -> None:
    run(["scontrol", "update", f"jobid={slurm_id}", f"admincomment={text}"])


def _job(values: Sequence[str]) -> DataJob | None:
    cleaned = ["" if value in ("(null)", "N/A", "None", "NONE", "Unknown") else value for value in values]
    number, array, task, partition, account, priority, deadline, eligible, start, limit, *rest = cleaned
    state, user, uid, comment, note = rest
    try:
        data, results = stated_data(comment), stated_results(comment)
        if not data and results is None:
            return None
        identity = int(number)
    except ValueError:
        # job_submit.lua refuses other forms: the comment is of a job from before it, which is not held.
        return None
    return DataJob(
        id=identity,
        slurm_id=f"{array}_{task}" if task.isdigit() else str(identity),
        data=data,
        partition=partition,
        account=account,
        is_held=note.startswith(HELD_PREFIX) and priority.strip() == "0",
        note=note,
        deadline=_time(deadline),
        eligible=_time(eligible),
        expected_start=_time(start),
        minutes=_minutes(limit),
        is_pending=state.strip() in _PENDING,
        results=results,
        submission=(int(array) if array.strip().isdigit() else 0) or identity,
        user=user.strip(),
        uid=int(uid) if uid.strip().isdigit() else 0,
    )


def _time(text: str) -> float | None:
    return float(text) or None if text.strip().isdigit() else None


def _minutes(text: str) -> int | None:
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdigit() for part in (*parts, *([days] if dash else []))):
        return None
    hours, minutes = (int(parts[-3]) if len(parts) > 2 else 0), int(parts[-2]) if len(parts) > 1 else 0
    return int(days or 0) * 1440 + hours * 60 + minutes
