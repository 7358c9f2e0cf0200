"""Conversion of the text of sinfo and squeue to values of the model, for Slurm 23.11 to 26.05. Pure.

Text instead of JSON for three reasons. `sinfo --json` has a group for each word of node_state_string(), which shows
MAINT, REBOOT or DRAINED in place of a power flag, with the flags of its first node; StateComplete is one group for each
combination of the base state and all flags. `squeue --json` of 23.11 ignores every filter. A job in JSON has about
16 kB, and 4 kB more for each node of 96 cores; here it has 200 bytes.

Source: Slurm's src/common/slurm_protocol_defs.c (node_state_string, node_state_string_complete, job_state_string),
src/sinfo/sinfo.c (_match_node_data), src/squeue/print.c, src/squeue/opts.c, src/common/parse_time.c, at the tags
slurm-23-11-11-1 to slurm-26-05-3-1; commit ff14834caa (filters with --json, 24.05.1).
"""

import re
from collections.abc import Iterator, Sequence
from sys import intern

from landbridge.burst.model import SlurmJob
from landbridge.hostlist import HostlistError, expand

#: Value of `sinfo --Format`. A width of 0 is unlimited, and the text behind it follows the field.
NODE_FORMAT = "NodeList:0 ,StateComplete:0"
#: Fields of `squeue --Format`, in the order of `_job`.
JOB_FIELDS = (
    *("JobID", "State", "NodeList", "Partition", "Account", "UserName", "WCKey", "RestartCnt"),
    *("StartTime", "TimeLimit", "HetJobID", "ArrayJobID", "ArrayTaskID", "NumNodes", "EligibleTime"),
    *("BatchFlag", "Requeue", "tres-alloc"),
)
#: Variable of squeue's environment for times in seconds since 1970, without the ambiguous hour of a time zone.
TIME_ENVIRONMENT = {"SLURM_TIME_FORMAT": "%s"}
#: States of the model. The flags that squeue shows in place of RUNNING are signals and changes of a job with nodes.
_STATES = frozenset({"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED"})
#: States without nodes: the job has ended, though squeue still has its node list.
_ENDED = frozenset(
    (
        *("STAGE_OUT", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL"),
        *("DEADLINE", "OUT_OF_MEMORY", "REVOKED"),
    )
)
_NODE_STATES = frozenset({"DOWN", "IDLE", "ALLOCATED", "ERROR", "MIXED", "FUTURE", "UNKNOWN", "INVALID"})
_TIME_LIMIT = re.compile(r"(?:(?P<days>\d+)-)?(?:(?P<hours>\d+):)?(?P<minutes>\d+):\d+")


class SlurmTextError(ValueError):
    """Output that does not have the requested fields."""


def job_format(separator: str) -> str:
    """Return the value of `squeue --Format`.

    `separator`: text that no user can foresee, because account and WCKey are free text without accounting, and a job
    must not be able to write another job's record.
    """
    return ",".join(f"{field}:0{separator}" for field in JOB_FIELDS)


def node_states_of(text: str) -> dict[str, frozenset[str]]:
    """Return the states of nodes from `sinfo --noheader --Format` with `NODE_FORMAT`. Raises SlurmTextError."""
    states: dict[str, frozenset[str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        host_list, _, text_of_state = line.partition(" ")
        state, *flags = text_of_state.strip().upper().split("+")
        if state not in _NODE_STATES:
            raise SlurmTextError(f"sinfo: a node list and a state are expected: {line[:200]!r}")
        try:
            states.update(dict.fromkeys(expand(host_list), frozenset((state, *flags))))
        except HostlistError as error:
            raise SlurmTextError(f"sinfo: {error}") from error
    return states


def jobs_of(text: str, separator: str) -> Iterator[SlurmJob]:
    """Yield the jobs from `squeue --noheader --Format` with `job_format(separator)`, without those that have ended.
    Raises SlurmTextError."""
    *fields, rest = text.split(separator)
    if rest.strip() or len(fields) % len(JOB_FIELDS):
        raise SlurmTextError(f"squeue: {len(JOB_FIELDS)} fields of each job are expected: {text[:200]!r}")
    for start in range(0, len(fields), len(JOB_FIELDS)):
        job = _job(fields[start : start + len(JOB_FIELDS)])
        if job.state not in _ENDED:
            yield job


def _job(fields: Sequence[str]) -> SlurmJob:
    values = ["" if field in ("(null)", "N/A") else field for field in fields]
    number, word, node_list, partition, account, user, wckey, restarts, start, *others = values
    limit, het, array, task, count, eligible, batch, requeue, resources = others
    try:
        nodes = tuple(expand(node_list)) if node_list else ()
        state = word if word in _STATES or word in _ENDED else "RUNNING" if nodes else "PENDING"
        is_pending = state == "PENDING"
        started = _timestamp(start)
        return SlurmJob(
            id=int(number),  # after a line break
            state=intern(state),
            nodes=() if is_pending else nodes,
            partition=intern(partition),  # shared by many jobs: kept once in memory
            account=intern(account),
            user=intern(user),
            wckey=intern(wckey.lstrip("*")),
            restarts=int(restarts or 0),
            started=None if is_pending else started,
            minutes=_minutes(limit),
            het_job=int(het or 0),
            array_job=int(array) if task else 0,  # of another job its own id
            wanted_nodes=int(count or 0) if is_pending else 0,
            eligible=_timestamp(eligible),
            expected_start=started if is_pending else None,
            array_task=int(task) if task.isdigit() else None,  # of tasks that have not been split off: a range
            is_batch=batch != "0",
            may_requeue=requeue != "0",
            gpus=_count("gres/gpu", resources),
            cpus=_count("cpu", resources),
        )
    except ValueError as error:
        raise SlurmTextError(f"squeue: job {number[:20]!r}: {error}") from error


def _count(resource: str, resources: str) -> int:
    """Return the count of a trackable resource, such as 8 of `gres/gpu` in cpu=96,mem=1T,gres/gpu=8,gres/gpu:h100=8."""
    counts = dict(part.split("=", 1) for part in resources.split(",") if "=" in part)
    return int(counts[resource]) if counts.get(resource, "").isdigit() else 0


def _timestamp(text: str) -> float | None:
    """Return a time in seconds; None for N/A, Unknown and None, the words for no time, and for 0."""
    return float(text) or None if text.isdigit() else None


def _minutes(text: str) -> int | None:
    """Return a time limit; None for UNLIMITED, NOT_SET and INVALID, the word for more than a year."""
    matched = _TIME_LIMIT.fullmatch(text)
    if matched is None:
        return None
    return int(matched["days"] or 0) * 1440 + int(matched["hours"] or 0) * 60 + int(matched["minutes"])
