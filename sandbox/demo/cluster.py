"""Client of the running lab cluster: users, Slurm, gateway and tracking server."""

import json
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeVar

from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.machine.node import load as node_record
from sandbox.nspawn.network import ssh

T = TypeVar("T")
#: Seconds without a change of the observed state after which a wait fails; long, because a busy machine is slow.
NO_PROGRESS_SECONDS = 300


class ClusterError(Exception):
    """Error: a command in the cluster failed, or a condition was not met in time."""


@dataclass(frozen=True)
class LabCluster:
    """Client that runs commands on the lab's nodes over SSH."""

    lab: Layout

    def run(self, node: str, *command: str, user: str | None = None, timeout: float = 300) -> str:
        """Return the output of `command` on a node (as `user`, in that user's home). Raise ClusterError if it fails."""
        words = list(command)
        if user:
            words = ["runuser", "-l", user, "-c", shlex.join(command)]
        completed = nodes.exec(self.lab, node, [shlex.join(words)], timeout=timeout)
        if completed.returncode != 0:
            message = (completed.stderr or completed.stdout).strip()[-1500:]
            raise ClusterError(f"{node}: `{shlex.join(command)}` ended with {completed.returncode}: {message}")
        return str(completed.stdout)

    def put(self, node: str, path: str, content: bytes, owner: str) -> None:
        """Write a file on a node as `owner` (root may not write into homes over NFS); create parent folders."""
        write = f"mkdir -p {shlex.quote(str(PurePosixPath(path).parent))} && cat > {shlex.quote(path)}"
        words = shlex.join(["runuser", "-u", owner, "--", "sh", "-c", write])
        command = [*ssh.command(self.lab, node_record(self.lab, node).address), words]
        completed = subprocess.run(command, input=content, capture_output=True, timeout=300, check=False)
        if completed.returncode != 0:
            raise ClusterError(f"{node}: cannot write {path}: {completed.stderr.decode(errors='replace').strip()}")

    def json(self, node: str, *command: str, timeout: float = 300) -> dict[str, Any]:
        """Run a command that prints one JSON object, and return the object."""
        return dict(json.loads(self.run(node, *command, timeout=timeout)))


def wait_for(
    subject: str,
    probe: Callable[[], T],
    accept: Callable[[T], object] = bool,
    *,
    seconds: float = NO_PROGRESS_SECONDS,
    every: float = 0.5,
    details: Callable[[], object] | None = None,
) -> T:
    """Repeat `probe` until `accept` is true for its value, and return the value.

    A probe that raises ClusterError has no value yet. Raise ClusterError when neither value nor error has changed for
    `seconds`, with the subject, the last value or error, and `details()`: more of the cluster's state.
    """
    last_state, deadline = "", time.monotonic() + seconds
    while True:
        try:
            value = probe()
            if accept(value):
                return value
            state = repr(value)
        except ClusterError as error:
            state = f"error: {error}"
        if state != last_state:
            last_state, deadline = state, time.monotonic() + seconds
        elif time.monotonic() > deadline:
            raise ClusterError(
                f"{subject}: no progress in {seconds:.0f} s; last state: {last_state}\n{_text(details)}".rstrip()
            )
        time.sleep(every)


def _text(details: Callable[[], object] | None) -> str:
    try:
        return "" if details is None else str(details())
    except Exception as error:  # noqa: BLE001 - the error of the wait is the one to report
        return f"no details: {error}"


def submit(cluster: LabCluster, login: str, user: str, folder: str, words: Sequence[str]) -> int:
    """Run `sbatch` with `words` in `folder` as `user` on the login host; return the job's id."""
    output = cluster.run(
        login, "sh", "-c", f"cd {shlex.quote(folder)} && {shlex.join(['sbatch', '--parsable', *words])}", user=user
    )
    return int(output.strip().split(";")[0])


@dataclass(frozen=True)
class LabJob:
    """State of one job in slurmctld."""

    id: int
    state: str
    nodes: tuple[str, ...]
    started: int
    ended: int
    restarts: int
    reason: str
    comment: str
    admin_comment: str

    @property
    def finished(self) -> bool:
        return self.state in {
            "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE",
        }  # fmt: skip


def job(cluster: LabCluster, controller: str, number: int) -> LabJob:
    """Return the job's present state; slurmctld keeps ended jobs for minutes, longer than a demonstration."""
    from landbridge.hostlist import expand

    job = cluster.json(controller, "scontrol", "show", "job", str(number), "--json")["jobs"][0]
    hosts, states = job.get("nodes") or "", job["job_state"]
    return LabJob(
        id=number,
        # A job whose nodes boot is RUNNING and CONFIGURING at once. One that is COMPLETED and COMPLETING shows only the nodes
        # whose epilog has not ended.
        state=next((state for state in ("CONFIGURING", "COMPLETING") if state in states), states[0]),
        nodes=tuple(expand(hosts)) if hosts else (),
        started=int(job["start_time"]["number"]),
        ended=int(job["end_time"]["number"]),
        restarts=int(job.get("restart_cnt", 0)),
        reason=str(job.get("state_reason", "")),
        comment=str(job.get("comment", "")),
        admin_comment=str(job.get("admin_comment", "")),
    )


def bgp_routes(cluster: LabCluster, gateway: str) -> set[str]:
    """Return the prefixes of the BGP routes in the gateway's kernel."""
    return {
        prefix
        for prefix, entries in cluster.json(gateway, "vtysh", "-c", "show ip route bgp json").items()
        if any(entry.get("installed") for entry in entries)
    }
