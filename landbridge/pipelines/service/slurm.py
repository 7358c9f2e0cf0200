"""Slurm's commands for pipelines: sacct and squeue by the names of jobs, sbatch and scancel as the owner.

Source: sbatch(1), squeue(1) and sacct(1) of Slurm 23.11 to 26.05, read on 2026-11-26; src/sbatch/sbatch.c (main: the text
"Batch job submission failed: REASON" with exit status 1, and `--parsable` prints `JOB[;CLUSTER]`).
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from landbridge.pipelines.reconcile.cost import PipelineNodeRate, job_cost
from landbridge.pipelines.reconcile.view import StepJob, SubmitOutcome
from landbridge.pipelines.service.owners import OwnerAccount

RunCommand = Callable[[Sequence[str]], str]
COMMAND_SECONDS = 120.0
#: Names in one command: 100 characters each, and Linux permits 128 KiB in one argument.
MAX_NAMES = 500
SACCT_FIELDS = ("JobIDRaw", "JobName", "User", "State", "ElapsedRaw", "NodeList", "AllocTRES")
SQUEUE_FIELDS = ("JobID", "Name", "UserName", "State", "Reason")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_JOB = re.compile(r"(\d+)(;\S*)?")


class SlurmCommandError(Exception):
    """Slurm command that failed or did not print the requested fields."""


def accounted(
    names: Sequence[str], since: float, rates: Mapping[str, PipelineNodeRate], run: RunCommand | None = None
) -> list[StepJob]:
    """Return the jobs with these names from the accounting database. Raises SlurmCommandError. `run`: on another host."""
    start = datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    jobs: list[StepJob] = []
    for part in _parts(names):
        separator = _separator()
        command = ["sacct", "--noheader", "--allusers", "--allocations", "--parsable2", f"--delimiter={separator}"]
        command += [f"--format={','.join(SACCT_FIELDS)}", f"--starttime={start}", f"--name={','.join(part)}"]
        jobs += accounted_of((run or _run)(command), separator, rates)
    return jobs


def queued(names: Sequence[str], run: RunCommand | None = None) -> list[StepJob]:
    """Return the jobs with these names that slurmctld has, also ended ones. Raises SlurmCommandError. `run`: on another host."""
    jobs: list[StepJob] = []
    for part in _parts(names):
        separator = _separator()
        fields = ",".join(f"{field}:0{separator}" for field in SQUEUE_FIELDS)
        command = ["squeue", "--noheader", "--all", "--states=all", f"--Format={fields}", f"--name={','.join(part)}"]
        jobs += queued_of((run or _run)(command), separator)
    return jobs


def accounted_of(text: str, separator: str, rates: Mapping[str, PipelineNodeRate]) -> list[StepJob]:
    """Return the jobs of sacct's text. Raises SlurmCommandError."""
    jobs = []
    for line in filter(None, text.splitlines()):
        fields = line.split(separator)
        if len(fields) != len(SACCT_FIELDS) or not fields[0].isdigit():
            raise SlurmCommandError(f"sacct: the fields {', '.join(SACCT_FIELDS)} are expected: {line[:200]!r}")
        number, name, user, state, seconds, nodes, tres = fields
        cost = job_cost(nodes, tres, int(seconds) if seconds.isdigit() else 0, rates)
        # `CANCELLED by 20001`, and `PENDING` of a job that was requeued.
        jobs.append(StepJob(int(number), name, user, state.partition(" ")[0], usd=cost))
    return jobs


def queued_of(text: str, separator: str) -> list[StepJob]:
    """Return the jobs of squeue's text. Raises SlurmCommandError."""
    *fields, rest = text.split(separator)
    if rest.strip() or len(fields) % len(SQUEUE_FIELDS):
        raise SlurmCommandError(f"squeue: the fields {', '.join(SQUEUE_FIELDS)} are expected: {text[:200]!r}")
    jobs = []
    for first in range(0, len(fields), len(SQUEUE_FIELDS)):
        number, name, user, state, why = fields[first : first + len(SQUEUE_FIELDS)]
        if not number.strip().isdigit():
            raise SlurmCommandError(f"squeue: {number[:40]!r} is not a job")
        jobs.append(StepJob(int(number), name, user, state, why))
    return jobs


def submit(
    account: OwnerAccount,
    options: Sequence[str],
    script: str,
    variables: Mapping[str, str],
    seconds: int,
    unknown: Sequence[str],
) -> SubmitOutcome:
    """Run sbatch as the owner with the script on standard input; it ends after `seconds` also if this process dies."""
    command = ["timeout", "--kill-after=5", str(seconds), "sbatch", "--parsable", *options]
    try:
        completed = subprocess.run(
            command,
            input=script,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds + 30,
            env={**_environment(), **_of_owner(account), **variables},
            cwd="/",
            umask=0o022,
            check=False,
            user=None if account.is_self else account.uid,
            group=None if account.is_self else account.gid,
            extra_groups=None if account.is_self else account.groups,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return SubmitOutcome(fault=str(error)[:500])
    return outcome_of(completed.returncode, completed.stdout, completed.stderr, unknown)


def outcome_of(status: int, out: str, error: str, unknown: Sequence[str]) -> SubmitOutcome:
    """Return the outcome of sbatch's exit status and output."""
    matched = _JOB.fullmatch(out.strip())
    if status == 0 and matched is not None:
        return SubmitOutcome(job=int(matched[1]))
    text = " ".join(error.split())[:500] or f"exit status {status}"
    # 124 and 137 are of timeout(1), 126 and 127 of a program that did not start.
    if status not in (1, 255) or any(part.casefold() in error.casefold() for part in unknown):
        return SubmitOutcome(fault=text)
    return SubmitOutcome(refusal=text)


def cancel(account: OwnerAccount, job: int) -> None:
    """Cancel a job as its owner. Raises SlurmCommandError."""
    _run(["scancel", str(job)], account)


def _run(command: Sequence[str], account: OwnerAccount | None = None) -> str:
    environment = {**_environment(), "TZ": "UTC"}
    other = account if account is not None and not account.is_self else None
    try:
        completed = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=COMMAND_SECONDS,
            env=environment,
            check=False,
            user=other.uid if other is not None else None,
            group=other.gid if other is not None else None,
            extra_groups=other.groups if other is not None else None,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SlurmCommandError(f"{command[0]}: {str(error)[:500]}") from error
    if completed.returncode != 0:
        raise SlurmCommandError(f"{command[0]}: {(completed.stderr or completed.stdout).strip()[:500]}")
    return completed.stdout


def _environment() -> dict[str, str]:
    settings = {name: os.environ[name] for name in ("SLURM_CONF", "LANG") if name in os.environ}
    return {"PATH": os.environ.get("PATH") or _PATH, **settings}


def _of_owner(account: OwnerAccount) -> dict[str, str]:
    return {"HOME": str(account.home), "USER": account.name, "LOGNAME": account.name}


def _parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(names), MAX_NAMES):
        yield names[first : first + MAX_NAMES]


def _separator() -> str:
    # Names of jobs are any text: a user must not be able to write another job's record.
    return f"|{os.urandom(4).hex()}|"
