"""Observed Slurm: jobs and nodes at one time."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """Job as reported by squeue. `nodes`: its allocated nodes; `started`: the time of the allocation."""

    id: int
    state: str  # PENDING, CONFIGURING, RUNNING, COMPLETING, SUSPENDED
    nodes: tuple[str, ...] = ()
    partition: str = ""
    account: str = ""
    user: str = ""
    wckey: str = ""
    restarts: int = 0
    started: float | None = None
    minutes: int | None = None  # time limit; None: unlimited
    het_job: int = 0  # the leader's id of a heterogeneous job, else 0
    array_job: int = 0
    wanted_nodes: int = 0  # of a pending job
    submitted: float | None = None
    expected_start: float | None = None  # the backfill scheduler's estimate for a pending job
    comment: str = ""


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """Cloud node in Slurm. `states`: its base state and flags, such as {"IDLE", "CLOUD", "POWERED_DOWN"}."""

    name: str
    states: frozenset[str]
    reason: str = ""
    address: str = ""  # NodeAddr if it was requested, else empty


@dataclass(frozen=True, slots=True)
class SlurmView:
    """View of Slurm at one time: the jobs on or for cloud nodes, and all cloud nodes. It is read after the Ec2View of
    the same pass."""

    at: float
    jobs: Mapping[int, SlurmJob]
    nodes: Mapping[str, SlurmNode]
