"""Client of the running lab cluster: users, Slurm, gateway and tracking server."""

import json
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.machine.node import load as node_record
from sandbox.nspawn.network import ssh


class ClusterError(Exception):
    """Error: a command in the cluster failed, or a condition was not met in time."""


@dataclass(frozen=True)
class LabCluster:
    """The lab's nodes, as a person with a shell on each of them sees them."""

    lab: Layout

    def run(self, node: str, *command: str, user: str | None = None, timeout: float = 60) -> str:
        """Run `command` on a node (as `user`, in that user's home) and return what it printed; ClusterError when it fails."""
        words = list(command)
        if user:
            words = ["runuser", "-l", user, "-c", shlex.join(command)]
        done = nodes.exec(self.lab, node, [shlex.join(words)], timeout=timeout)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()[-1500:]
            raise ClusterError(f"{node}: `{shlex.join(command)}` ended with {done.returncode}: {said}")
        return str(done.stdout)

    def put(self, node: str, path: str, content: bytes, owner: str) -> None:
        """Write a file on a node as `owner` (root may not write into homes over NFS); folders on the way are made."""
        write = f"mkdir -p {shlex.quote(str(PurePosixPath(path).parent))} && cat > {shlex.quote(path)}"
        words = shlex.join(["runuser", "-u", owner, "--", "sh", "-c", write])
        command = [*ssh.command(self.lab, node_record(self.lab, node).address), words]
        done = subprocess.run(command, input=content, capture_output=True, timeout=60, check=False)
        if done.returncode != 0:
            raise ClusterError(f"{node}: cannot write {path}: {done.stderr.decode(errors='replace').strip()}")

    def json(self, node: str, *command: str, timeout: float = 60) -> dict[str, Any]:
        """The same for a command that prints one JSON object."""
        return dict(json.loads(self.run(node, *command, timeout=timeout)))


def wait_for(
    what: str, ready: Callable[[], bool], seconds: float, every: float = 0.5, instead: Callable[[], str] = lambda: ""
) -> float:
    """Seconds until `ready` said yes; ClusterError naming `what`, and `instead` of it, when it did not within `seconds`."""
    started = time.monotonic()
    while not ready():
        if time.monotonic() - started > seconds:
            raise ClusterError(f"{what}: not within {seconds:.0f} s\n{instead()}".rstrip())
        time.sleep(every)
    return time.monotonic() - started


def submit(cluster: LabCluster, login: str, user: str, folder: str, words: Sequence[str]) -> int:
    """`sbatch` with `words` from `folder` as `user` on the login host; returns the job's id."""
    said = cluster.run(
        login, "sh", "-c", f"cd {shlex.quote(folder)} && {shlex.join(['sbatch', '--parsable', *words])}", user=user
    )
    return int(said.strip().split(";")[0])


@dataclass(frozen=True)
class LabJob:
    """One job as Slurm's controller knows it."""

    id: int
    state: str
    nodes: tuple[str, ...]
    started: int
    ended: int
    restarts: int
    reason: str
    comment: str

    @property
    def over(self) -> bool:
        return self.state in {
            "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE",
        }  # fmt: skip


def job(cluster: LabCluster, controller: str, number: int) -> LabJob:
    """The job's present state; slurmctld remembers ended jobs for minutes, longer than a demonstration."""
    from landbridge.hostlist import expand

    found = cluster.json(controller, "scontrol", "show", "job", str(number), "--json")["jobs"][0]
    hosts, states = found.get("nodes") or "", found["job_state"]
    return LabJob(
        id=number,
        # A job whose nodes boot is RUNNING and CONFIGURING at once. One that is COMPLETED and COMPLETING shows only the nodes
        # whose epilog has not ended.
        state=next((state for state in ("CONFIGURING", "COMPLETING") if state in states), states[0]),
        nodes=tuple(expand(hosts)) if hosts else (),
        started=int(found["start_time"]["number"]),
        ended=int(found["end_time"]["number"]),
        restarts=int(found.get("restart_cnt", 0)),
        reason=str(found.get("state_reason", "")),
        comment=str(found.get("comment", "")),
    )


def bgp_routes(cluster: LabCluster, gateway: str) -> set[str]:
    """Prefixes the gateway's kernel routes because BGP said so."""
    return {
        prefix
        for prefix, entries in cluster.json(gateway, "vtysh", "-c", "show ip route bgp json").items()
        if any(entry.get("installed") for entry in entries)
    }
