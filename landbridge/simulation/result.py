"""Jobs and result of a replay."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from landbridge.simulation.cloud_pool import InstanceUsage


@dataclass(frozen=True, slots=True)
class SimulatedJob:
    """Job of the replay. `limit`: its time limit in seconds, at least its run time. `kind`: the GPU type that it needs;
    empty: any. `user`: its user or other group of jobs, for fair share."""

    submitted: float
    seconds: float
    gpus: int
    account: str
    limit: float
    kind: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """Sample of the cluster at one time: GPUs in use, and waiting jobs."""

    at: float
    onprem: int
    aws: int
    waiting: int


@dataclass(slots=True)
class SimulationResult:
    """Result of a replay by job: `began` is None for a job that never started; `pool` is empty for one that ran on-prem.

    `began` is the first start of a job, `pool` that of its last one. `gpu_seconds` ran on-prem and in AWS, of which
    `lost_gpu_seconds` were repeated after an interruption or spent with restarts; both are 0 without interruptions. `interruptions` are by pool; on-prem: an empty name.
    """

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
    gpu_seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])
    lost_gpu_seconds: float = 0.0
    interruptions: dict[str, int] = field(default_factory=dict)
    restarts: int = 0
    unfinished: set[int] = field(default_factory=set)  # jobs that were interrupted too often, or never started again
