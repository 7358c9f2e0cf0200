"""Submission of a job file with sbatch: an estimate of its start, and one job for each submission's name.

Source (2026-11-26): sbatch(1) of Slurm 25.11, `--test-only`; src/api/allocate.c, job_will_run, for its line "Job N to start at TIME using N
processors on nodes NODES in partition NAME".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from landbridge.burst.slurm.slurm import SlurmError, run
from landbridge.hostlist import HostlistError, expand

_ESTIMATE = re.compile(r"to start at (?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d).* on nodes (?P<nodes>\S+) in partition")
#: Word of a job's comment with the name of its submission.
WORD = "submission="
#: sbatch waits for slurmctld (MessageTimeout), and its prolog may be slow.
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class StartEstimate:
    """Estimate of Slurm: start (Unix time) and nodes."""

    at: float
    nodes: tuple[str, ...]


def estimate(script: Path) -> StartEstimate | None:
    """Return the estimate of a job file's start; None if Slurm has none. Raises SlurmError if it refuses the job."""
    # sbatch writes the line to standard error, with status 0.
    return estimate_of(run(["sh", "-c", 'sbatch --test-only "$1" 2>&1', "sbatch", str(script)], _SECONDS))


def estimate_of(text: str) -> StartEstimate | None:
    """Return the estimate of sbatch's line."""
    match = _ESTIMATE.search(text)
    if match is None:
        return None
    try:
        # Slurm's times are those of the host's time zone.
        return StartEstimate(datetime.fromisoformat(match["at"]).timestamp(), tuple(expand(match["nodes"])))
    except (HostlistError, ValueError):
        return None


def submitted(name: str) -> int | None:
    """Return the job of a submission that slurmctld has, ended ones of the last minutes included. Raises SlurmError."""
    listed = run(["squeue", "--me", "--noheader", "--states=all", "--format=%i %k"], _SECONDS)
    return next(_jobs_of(listed, name), None)


def submit_file(script: Path, name: str, comment: str) -> int:
    """Submit a job file, and return the job's number. Raises SlurmError."""
    words = f"{comment} {WORD}{name}".strip()
    text = run(["sbatch", "--parsable", f"--comment={words}", str(script)], _SECONDS)
    number = text.strip().partition(";")[0]
    if not number.isdecimal():
        raise SlurmError(f"sbatch printed {text[:200]!r} instead of a job's number")
    return int(number)


def _jobs_of(listed: str, name: str) -> Iterator[int]:
    for line in listed.splitlines():
        number, _, comment = line.strip().partition(" ")
        if f"{WORD}{name}" in comment.split() and number.isdecimal():
            yield int(number)
