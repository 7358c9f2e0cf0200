"""User, account, partition and state of finished and running jobs from Slurm's accounting database (sacct).

Source: Slurm's sacct(1), DEFAULT TIME WINDOW (with --jobs the start time is Epoch 0), and src/sacct/print.c (PRINT_STATE:
a cancelled job has the words `by` and a user id), at the tags slurm-23-11-11-1 to 26.05.
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
