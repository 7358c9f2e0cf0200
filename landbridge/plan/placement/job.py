"""Job whose destination is to be decided, and the state of the on-prem site at that time."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from landbridge.environment.base import Site
from landbridge.plan.slurm.jobs.workloads import JobLabels


@dataclass(frozen=True, slots=True)
class DataInput:
    """Data that a job reads: its size in GB (10^9 bytes), the site where it is, and its data class."""

    gb: float
    site: Site
    data_class: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class PlacementJob:
    """Job with its labels in Slurm, GPUs, run time and data.

    `hours`: expected run time. `gpu`: Slurm's GRES type, empty: any. `gpu_memory_gib`: minimum memory of a GPU.
    `output_gb` is copied to the site after a run in AWS. `deadline_hours`: time until the job must have ended, counted
    from now. `workload`: class instead of the one that the labels select.
    """

    account: str
    gpus: int
    hours: float
    name: str = ""
    partition: str = ""
    qos: str = ""
    comment: str = ""
    wckey: str = ""
    gpu: str = ""
    gpu_memory_gib: float = 0.0
    inputs: tuple[DataInput, ...] = field(default=())
    output_gb: float = 0.0
    deadline_hours: float | None = None
    workload: str = ""

    @property
    def labels(self) -> JobLabels:
        """Return the fields that select the workload class."""
        return JobLabels(self.account, self.partition, self.qos, self.name, self.comment)


@dataclass(frozen=True, slots=True)
class MeasuredStaging:
    """Data that a job states and that a site lacks: GB (10^9 bytes), hours at the measured rate, and price of the transfer; None:
    not known.
    """

    gb: float
    hours: float | None
    usd: float | None


@dataclass(frozen=True, slots=True)
class SiteState:
    """State of both sites at the time of the decision. `idle_gpus`: those on-prem, None: all are idle. `wait_hours`:
    expected wait of a job that does not fit into them; `pool_wait_hours`: the same for pools, without the boot. `staging`: what
    the mover has reported about the job's data at each site. `left_usd`: what the hard caps leave for a training job of the account;
    None: it is not known."""

    idle_gpus: int | None = None
    wait_hours: float = 0.0
    pool_wait_hours: Mapping[str, float] = field(default_factory=dict)
    staging: Mapping[Site, MeasuredStaging] = field(default_factory=dict)
    left_usd: float | None = None
