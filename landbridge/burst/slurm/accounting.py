"""User, account, partition and state of finished and running jobs from Slurm's accounting database (sacct).

Source: Slurm's sacct(1), DEFAULT TIME WINDOW (with --jobs the start time is Epoch 0), and src/sacct/print.c (PRINT_STATE:
a cancelled job has the words `by` and a user id), at the tags slurm-23-11-11-1 to 26.05. Runaway jobs:
src/sacctmgr/runaway_job_functions.c, which compares the same two lists, but changes the database in a transaction.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from landbridge.burst.slurm.slurm import MAX_IDS_PER_COMMAND, SlurmError, run

#: Fields of `sacct --format`. The raw id is the number of a task of an array and of a component of a heterogeneous job.
FIELDS = ("JobIDRaw", "User", "Account", "Partition", "State")
TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class AccountedJob:
    """Job as the accounting database has it; an empty field is not known."""

    id: int
    user: str
    account: str
    partition: str
    state: str


def accounted_jobs(ids: Iterable[int]) -> dict[int, AccountedJob]:
    """Return the jobs that the accounting database has, by their ids. Raises SlurmError."""
    jobs: dict[int, AccountedJob] = {}
    numbers = sorted(set(ids))
    for first in range(0, len(numbers), MAX_IDS_PER_COMMAND):
        separator = f"|{os.urandom(4).hex()}|"  # an account may contain any fixed text
        command = [
            *("sacct", "--noheader", "--allusers", "--allocations", "--parsable2", f"--delimiter={separator}"),
            f"--format={','.join(FIELDS)}",
            f"--jobs={','.join(map(str, numbers[first : first + MAX_IDS_PER_COMMAND]))}",
        ]
        jobs |= jobs_of(run(command, TIMEOUT_SECONDS), separator)
    return jobs


def queued_jobs() -> frozenset[int]:
    """Return the numbers of all jobs that slurmctld has, also those that ended a moment ago. Raises SlurmError."""
    words = run(["squeue", "--noheader", "--all", "--states=all", "--Format=JobID:0"], TIMEOUT_SECONDS).split()
    return frozenset(int(word) for word in words if word.isdigit())


def runaway_jobs() -> list[AccountedJob]:
    """Return the jobs that run in the accounting database and that slurmctld does not have. Raises SlurmError."""
    separator = f"|{os.urandom(4).hex()}|"
    # Without a start, --state means the jobs that are in the state now.
    options = ("--noheader", "--allusers", "--allocations", "--parsable2", "--state=RUNNING,SUSPENDED")
    text = run(["sacct", *options, f"--delimiter={separator}", f"--format={','.join(FIELDS)}"], TIMEOUT_SECONDS)
    accounted = jobs_of(text, separator)  # before squeue: a job that starts meanwhile is in both or in neither
    queued = queued_jobs() if accounted else frozenset()
    return [job for number, job in sorted(accounted.items()) if number not in queued]


def jobs_of(text: str, separator: str) -> dict[int, AccountedJob]:
    """Return the jobs of sacct's text by their ids. Raises SlurmError."""
    jobs: dict[int, AccountedJob] = {}
    for line in filter(None, text.splitlines()):
        fields = line.split(separator)
        if len(fields) != len(FIELDS) or not fields[0].isdigit():
            raise SlurmError(f"sacct: the fields {', '.join(FIELDS)} are expected: {line[:200]!r}")
        job = _job(fields)
        jobs[job.id] = job
    return jobs


def _job(fields: Sequence[str]) -> AccountedJob:
    number, user, account, partition, state = fields
    return AccountedJob(int(number), user, account, partition, state.partition(" ")[0])
