"""Judgement of a job's GPUs over the last minutes: never used, memory held without work, or a node that waits. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from landbridge.catalog.hardware.idle_gpus import IdleGpuFacts
from landbridge.ops.idle_gpus.jobs import GpuJob
from landbridge.ops.idle_gpus.samples import GpuSample

_PERIOD_SECONDS = 300.0


class IdleKind(StrEnum):
    """Kind of idleness of a job."""

    #: All GPUs are idle, and hold no memory.
    NEVER_USED = "never-used"
    #: All GPUs are idle, and some hold memory.
    HELD = "memory-held"
    #: All GPUs of a node are idle, while another node of the job works.
    NODE_WAITS = "node-waits"
    #: Some GPUs are idle, on nodes that work.
    PART = "part"

    @property
    def is_whole(self) -> bool:
        """Return true if no GPU of the job works: only then an action may end it."""
        return self in (IdleKind.NEVER_USED, IdleKind.HELD)


@dataclass(frozen=True, slots=True)
class GpuUse:
    """Use of one GPU in the window: mean utilisation in percent, highest memory in MiB, mean power in watts."""

    node: str
    gpu: int
    is_idle: bool
    holds: bool
    utilisation: float
    memory_mib: float
    watts: float


@dataclass(frozen=True, slots=True)
class IdleJob:
    """Job with idle GPUs. `idle`: the idle GPUs; `since`: start of the window."""

    job: GpuJob
    kind: IdleKind
    idle: tuple[GpuUse, ...]
    since: float

    @property
    def text(self) -> str:
        """Return the finding in one sentence for the user, without quotes."""
        nodes = ", ".join(sorted({use.node for use in self.idle}))
        memory = sum(use.memory_mib for use in self.idle) / 1024
        watts = sum(use.watts for use in self.idle)
        held = f", {memory:.0f} GiB of their memory are held" if any(use.holds for use in self.idle) else ""
        return f"{len(self.idle)} of {len(self.job.gpus)} GPUs were idle ({nodes}; {watts:.0f} W{held})"


def judge_jobs(
    jobs: Sequence[GpuJob],
    samples: Mapping[tuple[str, int], Sequence[GpuSample]],
    facts: IdleGpuFacts,
    window_minutes: float,
    now: float,
) -> tuple[IdleJob, ...]:
    """Return the jobs with idle GPUs. A job that is younger than the window, or with a GPU without enough samples, is not
    judged: its use is not known.
    """
    since = now - window_minutes * 60
    verdicts = []
    for job in jobs:
        if job.started > since:
            continue
        uses = [_use(gpu, samples.get(gpu, ()), facts, since, now) for gpu in job.gpus]
        known = [use for use in uses if use is not None]
        if len(known) < len(uses):
            continue
        idle = tuple(use for use in known if use.is_idle)
        if idle:
            verdicts.append(IdleJob(job, _kind(known, idle), idle, since))
    return tuple(verdicts)


def _kind(uses: Sequence[GpuUse], idle: Sequence[GpuUse]) -> IdleKind:
    if len(idle) == len(uses):
        return IdleKind.HELD if any(use.holds for use in idle) else IdleKind.NEVER_USED
    working = {use.node for use in uses if not use.is_idle}
    return IdleKind.NODE_WAITS if {use.node for use in idle} - working else IdleKind.PART


def _use(
    gpu: tuple[str, int], samples: Sequence[GpuSample], facts: IdleGpuFacts, since: float, now: float
) -> GpuUse | None:
    """Return the use of a GPU; None if it is not known for most of the window."""
    window = [sample for sample in samples if since <= sample.at <= now]
    rates = [(sample.at, sample.utilisation) for sample in window if sample.utilisation is not None]
    periods = max(1, int((now - since) // _PERIOD_SECONDS))
    covered = {min(periods - 1, int((at - since) // _PERIOD_SECONDS)) for at, _ in rates}
    if len(covered) < facts.covered_share.value * periods:
        return None
    memory = max((sample.memory_mib or 0.0 for sample in window), default=0.0)
    watts = [sample.watts for sample in window if sample.watts is not None]
    # Utilisation alone is 0 between short kernels.
    most_watts = min(watts, default=0.0) + facts.work_watts.value
    idle_samples = sum(
        sample.utilisation < facts.used_percent.value and (sample.watts is None or sample.watts < most_watts)
        for sample in window
        if sample.utilisation is not None
    )
    return GpuUse(
        node=gpu[0],
        gpu=gpu[1],
        is_idle=idle_samples >= facts.idle_share.value * len(rates),
        holds=memory >= facts.held_mib.value,
        utilisation=sum(rate for _, rate in rates) / len(rates),
        memory_mib=memory,
        watts=sum(watts) / len(watts) if watts else 0.0,
    )
