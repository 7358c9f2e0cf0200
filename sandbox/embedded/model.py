"""Nodes and jobs of the simulated Slurm, and their form in Slurm's JSON."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from landbridge.hostlist import compress, expand

FINISHED = ("COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT")


@dataclass
class EmbeddedNode:
    """One node. A job runs on nodes of one `group`: the on-prem site, or a pool in AWS."""

    name: str
    gpus: int = 0
    cpus: int = 2
    weight: int = 1
    cloud: bool = False
    state: str = "IDLE"
    flags: set[str] = field(default_factory=set)
    address: str = ""
    instance: str = ""
    reason: str = ""
    job: int | None = None
    idle_since: float = 0.0
    resume_by: float = 0.0
    down_at: float = 0.0

    @classmethod
    def many(
        cls, hosts: str, *, gpus: int = 0, cpus: int = 2, weight: int = 1, cloud: bool = False
    ) -> list["EmbeddedNode"]:
        """Return equal nodes of a host list; cloud nodes start as POWERED_DOWN."""
        flags = {"CLOUD", "POWERED_DOWN"} if cloud else set()
        return [
            cls(name, gpus, cpus, weight, cloud, flags=set(flags), address=name, idle_since=time.monotonic())
            for name in expand(hosts)
        ]

    @property
    def group(self) -> str:
        return self.name.rpartition("-")[0] if self.cloud else "onprem"

    @property
    def up(self) -> bool:
        unavailable = {"POWERED_DOWN", "POWERING_UP", "POWERING_DOWN", "NOT_RESPONDING"}
        return self.state != "DOWN" and not self.flags & unavailable

    @property
    def free(self) -> bool:
        return self.job is None and self.state == "IDLE" and not self.flags & {"POWERING_DOWN", "POWERING_UP"}

    def show(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "hostname": self.name,
            "address": self.address,
            "instance_id": self.instance,
            "state": [self.state, *sorted(self.flags)],
            "reason": self.reason,
            "cpus": self.cpus,
            "weight": self.weight,
            "gres": f"gpu:{self.gpus}" if self.gpus else "",
        }


@dataclass
class EmbeddedJob:
    """One job. Times are seconds since the epoch, 0 if not reached; `history` contains every change of state."""

    id: int
    name: str
    size: int
    script: Path
    partition: str
    account: str
    user: str
    minutes: int
    workdir: Path
    environment: dict[str, str]
    directory: Path
    state: str = "PENDING"
    reason: str = ""
    restarts: int = 0
    nodes: tuple[str, ...] = ()
    submitted: float = field(default_factory=time.time)
    started: float = 0.0
    ended: float = 0.0
    exit_code: int | None = None
    eligible: float = 0.0
    comment: str = ""  # the user's
    admin_comment: str = ""
    held: bool = False  # until `scontrol release`
    history: list[tuple[float, str, str]] = field(default_factory=list)

    def become(self, state: str, reason: str = "") -> None:
        self.state, self.reason = state, reason
        self.history.append((time.time(), state, reason))
        if state in FINISHED:
            self.ended = time.time()

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    def output(self, rank: int = 0) -> str:
        """Return the output of the step on the job's node number `rank`, including earlier starts of the job."""
        path = self.directory / f"rank-{rank}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def show(self) -> dict[str, Any]:
        return {
            "job_id": self.id,
            "name": self.name,
            "account": self.account,
            "user_name": self.user,
            "partition": self.partition,
            "job_state": [self.state],
            "state_reason": self.reason or "None",
            "comment": self.comment,
            "admin_comment": self.admin_comment,
            "restart_cnt": self.restarts,
            "node_count": _number(self.size),
            "nodes": compress(self.nodes) if self.nodes else "",
            "submit_time": _number(int(self.submitted)),
            "start_time": _number(int(self.started)),
            "end_time": _number(int(self.ended)),
            "time_limit": _number(self.minutes),
        }

    def fields(self) -> dict[str, str]:
        """Return the fields of `squeue --Format`, by their names in lower case; times are seconds since the epoch."""
        return {
            "jobid": str(self.id),
            "state": self.state,
            "nodelist": compress(self.nodes) if self.nodes else "",
            "partition": self.partition,
            "account": self.account or "(null)",
            "username": self.user,
            "userid": str(os.getuid()),
            "wckey": "(null)",
            "restartcnt": str(self.restarts),
            "starttime": str(int(self.started)) if self.started else "N/A",
            "timelimit": f"{self.minutes // 1440}-{self.minutes // 60 % 24:02}:{self.minutes % 60:02}:00",
            "hetjobid": "N/A",
            "arrayjobid": str(self.id),
            "arraytaskid": "N/A",
            "numnodes": str(self.size),
            "eligibletime": str(int(max(self.submitted, self.eligible))),
            "batchflag": "1",  # each job has a script,
            "requeue": "1",  # and is requeued
            "tres-alloc": f"cpu={self.size},node={self.size}",
            "prioritylong": "0" if self.held else "1",
            "deadline": "N/A",
            "comment": self.comment or "(null)",
            "admin_comment": self.admin_comment or "(null)",
        }


def groups(nodes: Iterable[EmbeddedNode], partition: str) -> list[list[EmbeddedNode]]:
    """Return the groups of nodes of which a job of the partition may use one, the preferred group first."""
    nodes_by_group: dict[str, list[EmbeddedNode]] = {}
    for node in nodes:
        if {"gpu", node.group} & set(partition.split(",")):
            nodes_by_group.setdefault(node.group, []).append(node)
    return sorted(nodes_by_group.values(), key=lambda group: group[0].weight)


def _number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


def state_text(jobs: Iterable[EmbeddedJob], nodes: Iterable[EmbeddedNode]) -> str:
    """Return the state of jobs and nodes, one in a line."""
    lines = [f"job {job.id}: {job.state} {job.reason} {','.join(job.nodes)} {job.admin_comment}" for job in jobs]
    lines += [f"{node.name}: {node.state} {'+'.join(sorted(node.flags))} {node.reason}" for node in nodes]
    return "\n".join(lines)
