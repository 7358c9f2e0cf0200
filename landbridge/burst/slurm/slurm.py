"""Slurm commands of the controller: text from sinfo and squeue, JSON from scontrol, and grouped updates."""

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from landbridge.burst.model import BurstPolicy, JobComment, SlurmJob, SlurmNode, SlurmView
from landbridge.burst.slurm.job_updates import errors_by_id, groups, one_line
from landbridge.burst.slurm.slurm_json import active_host, job_of, nodes_of, number
from landbridge.burst.slurm.slurm_json import words as words_of
from landbridge.burst.slurm.slurm_text import (
    NODE_FORMAT,
    TIME_ENVIRONMENT,
    SlurmTextError,
    job_format,
    jobs_of,
    node_states_of,
)
from landbridge.burst.slurm.suspend_exclusions import exclusion_words, with_keeps
from landbridge.hostlist import compress

# slurmctld starts its programs with a bare environment.
FALLBACK_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Names in one `scontrol update`: Linux permits 128 KiB in one argument, and slurmctld holds its locks for all of them.
MAX_NAMES_PER_COMMAND = 500
#: Jobs in one `scontrol update`, which sends a request for each, one after the other.
MAX_JOBS_PER_COMMAND = 250
JOBS_TIMEOUT_SECONDS = 30.0
#: Time for the comments of one pass: the daemon's watchdog waits for 300 s.
COMMENTS_SECONDS = 60.0
#: Terminals that get a message in one pass, with a command each.
MAX_NOTIFIED_JOBS = 100
#: Job ids in one `squeue`: ten characters each, and the same limit of an argument.
MAX_IDS_PER_COMMAND = 10_000
#: Prefix of a node's comment with its network path.
NETWORK_PREFIX = "network:"
#: States of nodes whose reason and address are queried.
REASON_STATES = frozenset({"DOWN", "FAIL", "DRAIN", "INVALID_REG"})


class SlurmError(Exception):
    """Slurm command that failed, timed out or did not print the requested fields."""


def run(command: Sequence[str], timeout: float = 15, environ: Mapping[str, str] | None = None) -> str:
    """Run a Slurm command and return its output. Raises SlurmError."""
    completed = _completed(command, timeout, environ)
    if completed.returncode != 0:
        raise SlurmError(f"{' '.join(command)[:200]}: {(completed.stderr or completed.stdout).strip()[:500]}")
    return completed.stdout


def _completed(
    command: Sequence[str], timeout: float, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": os.environ.get("PATH") or FALLBACK_PATH, **(environ or {})}
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",  # names of accounts and WCKeys are any bytes
            timeout=timeout,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SlurmError(f"{command[0]}: {str(error)[:500]}") from error


def run_json(command: Sequence[str], timeout: float = 15) -> dict[str, Any]:
    """Run a Slurm command and parse its JSON output. Raises SlurmError."""
    text = run(command, timeout)
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise SlurmError(f"{' '.join(command)[:200]}: not JSON: {text[:200]!r}") from error


def view(
    policy: BurstPolicy, pending: Iterable[int] = (), need_address: Iterable[str] = (), *, all_pending: bool = False
) -> SlurmView:
    """Return the pools' nodes, the jobs on them, the pending jobs with the ids `pending`, and all others if `all_pending`.

    `need_address`: nodes whose address is needed, such as one with two instances.
    """
    at = time.time()
    nodes = _nodes(policy, frozenset(need_address))
    up = [node.name for node in nodes.values() if "POWERED_DOWN" not in node.states]
    # Without --states: squeue compares a state without a flag with the whole state, so RUNNING omits a running job that
    # is stopped or just gets a signal (_filter_job in print.c, 23.11 to 26.05).
    jobs = {job.id: job for job in (_jobs(f"--nodelist={compress(up)}") if up else ())}
    if all_pending:
        jobs |= {job.id: job for job in _jobs("--states=PENDING")}
    return SlurmView(at, jobs | _pending_jobs(set(pending) - jobs.keys()), nodes)


def _pending_jobs(ids: AbstractSet[int]) -> dict[int, SlurmJob]:
    """Return those jobs that are pending.

    squeue leaves out a task that has its own record if the record of the array's other tasks is in the same answer
    (print.c, _combine_pending_array_tasks): then the tasks are read a second time, without it.
    """
    jobs = _jobs_by_id(sorted(ids))
    missing = ids - jobs.keys()
    if missing and any(job.array_job == job.id for job in jobs.values() if job.id in ids):
        jobs |= _jobs_by_id(sorted(missing))
    return jobs


def _jobs_by_id(ids: Sequence[int]) -> dict[int, SlurmJob]:
    jobs: dict[int, SlurmJob] = {}
    for first in range(0, len(ids), MAX_IDS_PER_COMMAND):
        part = ids[first : first + MAX_IDS_PER_COMMAND]
        # An unknown id is an error if it is alone: squeue then requests this job from slurmctld.
        numbers = ",".join(map(str, part if len(part) > 1 else [*part, *part]))
        jobs |= {job.id: job for job in _jobs(f"--jobs={numbers}") if job.state == "PENDING"}
    return jobs


def _nodes(policy: BurstPolicy, need_address: frozenset[str]) -> dict[str, SlurmNode]:
    host_lists = [f"{pool.node_prefix}[1-{pool.max_nodes}]" for pool in policy.pools.values()]
    if not host_lists:
        return {}
    shown = node_states(",".join(host_lists), timeout=30)
    states = {name: words for name, words in shown.items() if policy.pool_of(name)}
    names_with_details = [name for name, words in states.items() if words & REASON_STATES or name in need_address]
    detailed: dict[str, SlurmNode] = {}
    for part in _batches(sorted(names_with_details)):
        detailed |= nodes_of(run_json(["scontrol", "show", "node", compress(part), "--json"], timeout=30))
    return {name: detailed.get(name) or SlurmNode(name, words) for name, words in states.items()}


def node_states(host_list: str, timeout: float = 15) -> dict[str, frozenset[str]]:
    """Return the base state and all flags of nodes, also of those that an abbreviated state hides. Raises SlurmError."""
    command = ["sinfo", "--noheader", "--all", f"--nodes={host_list}", f"--Format={NODE_FORMAT}"]
    try:
        return node_states_of(run(command, timeout))
    except SlurmTextError as error:
        raise SlurmError(str(error)) from error


def _jobs(*filters: str) -> list[SlurmJob]:
    separator = f"|{os.urandom(4).hex()}|"
    command = ["squeue", "--noheader", "--all", f"--Format={job_format(separator)}", *filters]
    try:
        return list(jobs_of(run(command, 30, TIME_ENVIRONMENT), separator))
    except SlurmTextError as error:
        raise SlurmError(str(error)) from error


def active() -> bool:
    """Return whether this host's slurmctld is the active one."""
    return active_host(run_json(["scontrol", "ping", "--json"])) == socket.gethostname().partition(".")[0]


def down(nodes: Sequence[str], reason: str) -> None:
    """Set nodes down, which requeues their jobs at once, then power them down, so that they can be launched again."""
    for part in _batches(nodes):
        host_list = compress(part)
        run(["scontrol", "update", f"nodename={host_list}", "state=down", f"reason={reason}"])
        run(["scontrol", "update", f"nodename={host_list}", "state=power_down_force", f"reason={reason}"])


def set_addresses(addresses: Mapping[str, str]) -> None:
    """Set the nodes' addresses in Slurm, so that no program resolves a name that no DNS server has."""
    for part in _batches(sorted(addresses)):
        # Slurm pairs the two lists; a hostlist would be sorted, plain lists keep their order.
        values = ",".join(addresses[name] for name in part)
        run(["scontrol", "update", f"nodename={','.join(part)}", f"nodeaddr={values}"])


def comment(comments: Sequence[JobComment]) -> dict[int, str]:
    """Set the AdminComment of pending jobs to the reason of their wait, and their earliest start; return the error of
    each job that was not changed.

    Not the Comment, which is the user's. The job's owner reads the AdminComment with scontrol, squeue and sacct; only root,
    SlurmUser and administrators change it (Slurm's job_mgr.c, _update_job).
    """
    errors: dict[int, str] = {}
    end, failure = time.monotonic() + COMMENTS_SECONDS, ""
    for group in groups(comments, MAX_JOBS_PER_COMMAND):
        if not failure:
            try:
                errors |= _comment_group(group)
                failure = "" if time.monotonic() < end else f"comments take longer than {COMMENTS_SECONDS:.0f} s"
                continue
            except SlurmError as error:
                failure = str(error)
        errors |= {part.job: failure for part in group}
    return errors


def _comment_group(group: Sequence[JobComment]) -> dict[int, str]:
    """Write comments with the same text and start; return the errors by job."""
    until = group[0].until
    start = "now" if until is None else time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(until))
    errors = _update_jobs([part.slurm_id for part in group], group[0].text, f"starttime={start}")
    return {part.job: errors[part.slurm_id] for part in group if part.slurm_id in errors}


def report_end(jobs: Sequence[SlurmJob], reason: str) -> None:
    """Write the reason to jobs that Slurm ends with their nodes: into the AdminComment, which accounting keeps, and for
    interactive jobs to standard error of their salloc or srun.

    slurmctld sends such a message to the port of a salloc or srun, also while nodes boot (Slurm's srun_comm.c,
    srun_user_message).
    """
    text = one_line(f"{reason}; the job ends, because Slurm requeues only batch jobs without --no-requeue")
    errors: list[str] = []
    for part in _batches([job.slurm_id for job in jobs]):
        errors += _update_jobs(part, text).values()
    for job in [job for job in jobs if not job.is_batch][:MAX_NOTIFIED_JOBS]:
        completed = _completed(["scontrol", "notify", str(job.id), text], JOBS_TIMEOUT_SECONDS)
        if completed.returncode:
            errors.append(f"message to job {job.id}: {completed.stderr.strip()[:500]}")
    if errors:
        raise SlurmError(errors[0])


def _update_jobs(slurm_ids: Sequence[str], text: str, *settings: str) -> dict[str, str]:
    """Set the AdminComment of jobs and further settings with one command; return the errors by job id."""
    settings_of_jobs = [f"jobid={','.join(slurm_ids)}", f"admincomment={one_line(text)}", *settings]
    completed = _completed(["scontrol", "update", *settings_of_jobs], JOBS_TIMEOUT_SECONDS)
    return errors_by_id(completed.stderr or completed.stdout, slurm_ids) if completed.returncode else {}


def requeue(jobs: Sequence[SlurmJob]) -> None:
    """Cancel the jobs that Slurm does not requeue, then requeue the others; a heterogeneous job is named by its leader.

    Their nodes stay up. Not `requeuehold`: the start time of the comment that follows ends by itself.
    """
    for command, is_requeued, separator in (("scancel", False, " "), ("scontrol requeue", True, ",")):
        members = [job for job in jobs if job.is_requeued is is_requeued]
        for part in _batches(list(dict.fromkeys(str(job.het_job or job.slurm_id) for job in members))):
            run([*command.split(), *separator.join(part).split()])


def resume(nodes: Sequence[str]) -> None:
    """End the state DOWN of nodes."""
    for part in _batches(nodes):
        run(["scontrol", "update", f"nodename={compress(part)}", "state=resume"])


def promote(job: int, partitions: Sequence[str]) -> None:
    """Let a pending job use further partitions in addition to its own. Other tasks of its array are not changed."""
    records = run_json(["scontrol", "show", "job", str(job), "--json"]).get("jobs", [])
    raw = next((record for record in records if number(record.get("job_id")) == job), None)
    if raw is None or "PENDING" not in words_of(raw.get("job_state")):
        return
    current = [partition for partition in str(raw.get("partition") or "").split(",") if partition]
    merged = list(dict.fromkeys([*current, *partitions]))
    if merged != current:
        run(["scontrol", "update", f"jobid={job_of(raw).slurm_id}", f"partition={','.join(merged)}"])


def start(nodes: Sequence[str]) -> None:
    """Power up nodes without a job, as an operator does by hand: Slurm then calls ResumeProgram for them."""
    for part in _batches(nodes):
        run(["scontrol", "update", f"nodename={compress(part)}", "state=power_up"])


def retire(nodes: Sequence[str], reason: str) -> None:
    """Power down nodes when their jobs have ended, and start no new job on them: POWER_DOWN_ASAP drains them.

    Slurm 23.11 to 26.05: node_mgr.c (update_node, NODE_STATE_POWER_DRAIN); power_save.c clears the drain.
    """
    for part in _batches(nodes):
        run(["scontrol", "update", f"nodename={compress(part)}", "state=power_down_asap", f"reason={reason}"])


def keep(nodes: Collection[str], owned: Collection[str]) -> None:
    """Exclude `nodes` from the suspension of idle nodes, and no other node of `owned`; other words of the value stay."""
    value = suspend_exclusions()
    changed = with_keeps(value, nodes, owned)
    if exclusion_words(changed) != exclusion_words(value):
        run(["scontrol", "update", f"SuspendExcNodes={changed}"])


def suspend_exclusions() -> str:
    """Return the present value of SuspendExcNodes; empty if it has none. Raises SlurmError."""
    text = run(["scontrol", "show", "config"])
    setting = re.search(r"^SuspendExcNodes\s*=[ \t]*(.*?)\s*$", text, re.MULTILINE)
    return "" if setting is None or setting[1] == "(null)" else setting[1]


def set_network_paths(paths: Mapping[str, str]) -> None:
    """Set the comments of nodes to their network paths, from which a job reads the order of its nodes.

    Not the field Extra: slurmctld clears it when a node registers (Slurm 23.11 to 26.05, node_mgr.c).
    """
    by_path: dict[str, list[str]] = {}
    for node, path in paths.items():
        by_path.setdefault(path, []).append(node)
    for path, nodes in sorted(by_path.items()):
        comment_text = f"{NETWORK_PREFIX}{path}" if path else ""
        for part in _batches(nodes):
            run(["scontrol", "update", f"nodename={compress(part)}", f"comment={comment_text}"])


def _batches(names: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), MAX_NAMES_PER_COMMAND):
        yield list(names[start : start + MAX_NAMES_PER_COMMAND])
