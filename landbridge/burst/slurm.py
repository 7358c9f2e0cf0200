"""Talking to Slurm: JSON from its own commands, found on PATH."""

import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from landbridge.burst.order import JobFacts
from landbridge.hostlist import compress

# slurmctld starts its programs with a bare environment.
FALLBACK_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class SlurmError(Exception):
    """A Slurm command failed, timed out or said something that is not JSON."""


def run(command: Sequence[str], timeout: float = 15) -> str:
    """Run a Slurm command and return what it printed."""
    environment = {**os.environ, "PATH": os.environ.get("PATH") or FALLBACK_PATH}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SlurmError(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        raise SlurmError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[:500]}")
    return done.stdout


def run_json(command: Sequence[str], timeout: float = 15) -> dict[str, Any]:
    text = run(command, timeout)
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise SlurmError(f"{' '.join(command)}: not JSON: {text[:200]!r}") from error


def number(value: Any) -> int | None:
    """A number as Slurm's JSON writes it: plain, or with its flags; None when unset or infinite."""
    if isinstance(value, dict):
        usable = value.get("set", True) and not value.get("infinite", False)
        return int(value["number"]) if usable and "number" in value else None
    return int(value) if isinstance(value, int) else None


def job_facts(jobs: Iterable[int]) -> dict[int, JobFacts]:
    """What Slurm knows of jobs, by id; jobs that are gone are absent."""
    wanted = sorted(set(jobs))
    if not wanted:
        return {}
    raw = run_json(["squeue", "--json", "--jobs=" + ",".join(str(job) for job in wanted)])
    return {fact.id: fact for fact in map(_facts, raw.get("jobs", [])) if fact.id in wanted}


def _facts(job: Mapping[str, Any]) -> JobFacts:
    return JobFacts(
        id=int(job["job_id"]),
        account=str(job.get("account") or ""),
        user=str(job.get("user_name") or ""),
        restarts=number(job.get("restart_cnt")),
        started=number(job.get("start_time")) or None,
        minutes=number(job.get("time_limit")),
    )


def node_states(nodes: Iterable[str] | None = None) -> dict[str, frozenset[str]]:
    """State and flags of nodes (None: all), such as IDLE, CLOUD, POWERED_DOWN."""
    chosen = [] if nodes is None else [compress(nodes)]
    raw = run_json(["scontrol", "show", "node", *chosen, "--json"])
    return {str(node["name"]): frozenset(_words(node.get("state"))) for node in raw.get("nodes", [])}


def _words(state: Any) -> list[str]:
    return [str(word) for word in state] if isinstance(state, list) else str(state or "").split("+")


def set_down(nodes: Sequence[str], reason: str) -> None:
    """Put nodes down, which requeues their jobs at once, then power them down, so that they can be tried again."""
    group = compress(nodes)
    run(["scontrol", "update", f"nodename={group}", "state=down", f"reason={reason}"])
    run(["scontrol", "update", f"nodename={group}", "state=power_down_force", f"reason={reason}"])


def set_addresses(addresses: Mapping[str, str]) -> None:
    """Tell Slurm where nodes will be, so that nobody has to look a name up that no name service knows."""
    if addresses:
        # Slurm pairs the two lists; a hostlist would be sorted, plain lists keep their order.
        names, values = ",".join(addresses), ",".join(addresses.values())
        run(["scontrol", "update", f"nodename={names}", f"nodeaddr={values}"])
