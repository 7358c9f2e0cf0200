"""Jobs and result of a replay."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from landbridge.simulation.cloud_pool import InstanceUsage


@dataclass(frozen=True, slots=True)
class SimulatedJob:
    """Job of the replay. `limit`: its time limit in seconds, at least its run time."""

    submitted: float
    seconds: float
    gpus: int
    account: str
    limit: float


@dataclass(frozen=True, slots=True)
class Sample:
    """Sample of the cluster at one time: GPUs in use, and waiting jobs."""

    at: float
    onprem: int
    aws: int
    waiting: int


@dataclass(slots=True)
class SimulationResult:
    """Result of a replay by job: `began` is None for a job that never started; `pool` is empty for one that ran on-prem."""

    tasks: Sequence[SimulatedJob]
    began: list[float | None]
    pool: list[str]
    refused: dict[str, set[int]] = field(default_factory=dict)  # code -> jobs
    stays: list[InstanceUsage] = field(default_factory=list)
    spent: dict[tuple[str, str, str], float] = field(default_factory=dict)  # (month, account, pool) -> USD
    peaks: dict[str, int] = field(default_factory=dict)  # pool -> maximum number of running nodes
    launches: dict[str, int] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    ended: float = 0.0
