"""Slurm commands of the controller: JSON from sinfo, squeue and scontrol, and grouped updates."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from landbridge.burst.model import BurstPolicy, SlurmNode, SlurmView
from landbridge.burst.slurm.slurm_json import (
    JOB_KEYS,
    active_host,
    hook_that_keeps,
    job_of,
    node_states_of,
    nodes_of,
    words,
)
from landbridge.hostlist import compress

# slurmctld starts its programs with a bare environment.
FALLBACK_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: States of jobs that have nodes.
STATES_WITH_NODES = "CONFIGURING,RUNNING,COMPLETING,SUSPENDED"
#: Names in one `scontrol update`: Linux permits 128 KiB in one argument, and slurmctld holds its locks for all of them.
MAX_NAMES_PER_COMMAND = 500
#: Prefix of a node's comment with its network path.
NETWORK_PREFIX = "network:"
#: States of nodes whose reason and address are queried.
REASON_STATES = frozenset({"DOWN", "FAIL", "DRAIN", "INVALID_REG"})


class SlurmError(Exception):
    """Slurm command that failed, timed out or did not print JSON."""


def run(command: Sequence[str], timeout: float = 15) -> str:
    """Run a Slurm command and return its output. Raises SlurmError."""
    environment = {**os.environ, "PATH": os.environ.get("PATH") or FALLBACK_PATH}
    try:
        completed = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SlurmError(f"{command[0]}: {str(error)[:500]}") from error
    if completed.returncode != 0:
        raise SlurmError(f"{' '.join(command)[:200]}: {(completed.stderr or completed.stdout).strip()[:500]}")
    return completed.stdout


def run_json(command: Sequence[str], timeout: float = 15, keep: frozenset[str] | None = None) -> dict[str, Any]:
    """Run a Slurm command and parse its JSON output; if `keep` is given, only these keys of each object are kept."""
    text = run(command, timeout)
    try:
        return dict(json.loads(text, object_hook=None if keep is None else hook_that_keeps(keep)))
    except ValueError as error:
        raise SlurmError(f"{' '.join(command)[:200]}: not JSON: {text[:200]!r}") from error


def view(policy: BurstPolicy, need_pending: bool = True, need_address: Iterable[str] = ()) -> SlurmView:
    """Return the pools' nodes and the jobs on them. `need_address`: nodes whose address is needed, such as one with two
    instances."""
    at = time.time()
    nodes = _nodes(policy, frozenset(need_address))
    up = [node.name for node in nodes.values() if "POWERED_DOWN" not in node.states]
    raw = _jobs(f"--states={STATES_WITH_NODES}", f"--nodelist={compress(up)}") if up else []
    if need_pending:
        raw += _jobs("--states=PENDING")
    return SlurmView(at, {job.id: job for job in map(job_of, raw)}, nodes)


def _nodes(policy: BurstPolicy, need_address: frozenset[str]) -> dict[str, SlurmNode]:
    host_lists = [f"{pool.node_prefix}[1-{pool.max_nodes}]" for pool in policy.pools.values()]
    if not host_lists:
        return {}
    raw = run_json(["sinfo", "--json", "--all", f"--nodes={','.join(host_lists)}"], timeout=30)
    states = {name: node_states for name, node_states in node_states_of(raw).items() if policy.pool_of(name)}
    names_with_details = [
        name for name, node_states in states.items() if node_states & REASON_STATES or name in need_address
    ]
    detailed: dict[str, SlurmNode] = {}
    for part in _batches(sorted(names_with_details)):
        detailed |= nodes_of(run_json(["scontrol", "show", "node", compress(part), "--json"], timeout=30))
    return {name: detailed.get(name) or SlurmNode(name, node_states) for name, node_states in states.items()}


def _jobs(*filters: str) -> list[dict[str, Any]]:
    return list(run_json(["squeue", "--json", "--all", *filters], timeout=30, keep=JOB_KEYS).get("jobs", []))


def node_states(nodes: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the state and flags of nodes, such as IDLE, CLOUD, POWERED_DOWN."""
    raw = run_json(["scontrol", "show", "node", compress(nodes), "--json"])
    return {name: node.states for name, node in nodes_of(raw).items()}


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


def comment(job: int, text: str, until: float | None) -> None:
    """Set a pending job's comment to the reason of its wait, and its earliest start to `until` (None: now)."""
    job_comment = " ".join(text.split())[:500].replace('"', "'")
    start = "now" if until is None else time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(until))
    run(["scontrol", "update", f"jobid={job}", f"comment={job_comment}", f"starttime={start}"])


def promote(job: int, partitions: Sequence[str]) -> None:
    """Let a pending job use further partitions in addition to its own."""
    raw = run_json(["scontrol", "show", "job", str(job), "--json"]).get("jobs", [])
    if not raw or "PENDING" not in words(raw[0].get("job_state")):
        return
    current = [partition for partition in str(raw[0].get("partition") or "").split(",") if partition]
    merged = list(dict.fromkeys([*current, *partitions]))
    if merged != current:
        run(["scontrol", "update", f"jobid={job}", f"partition={','.join(merged)}"])


def start(nodes: Sequence[str]) -> None:
    """Power up nodes without a job, as an operator does by hand: Slurm then calls ResumeProgram for them."""
    for part in _batches(nodes):
        run(["scontrol", "update", f"nodename={compress(part)}", "state=power_up"])


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
