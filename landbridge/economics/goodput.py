"""Goodput: the share of used GPU-hours that a job finishes, after failures, checkpoints and restarts."""

from dataclasses import dataclass
from math import sqrt

from landbridge.environment import Goodput

_MINUTES_PER_DAY = 1440


@dataclass(frozen=True, slots=True)
class Losses:
    """Shares of a job's time that produce nothing: `checkpoints` (written), `rework` (computed again after a failure)
    and `restarts`. `mtbf_minutes`: mean time between failures of the job; None: failures are not counted.
    """

    checkpoints: float
    rework: float
    restarts: float
    mtbf_minutes: float | None
    checkpoint_every_minutes: float | None

    @property
    def goodput(self) -> float:
        """Share of the time that is finished work, from 0 to 1."""
        return max(0.0, 1 - self.checkpoints - self.rework - self.restarts)


def losses(settings: Goodput) -> Losses:
    """Return the losses of a job.

    A failure ends the job, and half an interval is computed again on average. The interval between checkpoints is stated,
    or sqrt(2 * checkpoint * MTBF), which has the smallest loss; source: Young, A first order approximation to the
    optimum checkpoint interval, 1974. Without a length of checkpoints they take no time, and nothing is computed again
    unless the interval is stated.
    """
    if not settings.failures_per_1000_node_days:
        every = settings.checkpoint_every_minutes
        writing = (settings.checkpoint_minutes or 0.0) / every if every is not None else 0.0
        return Losses(writing, 0.0, 0.0, None, every)
    mtbf = 1000 * _MINUTES_PER_DAY / (settings.failures_per_1000_node_days * (settings.job_nodes or 1))
    checkpoint, every = settings.checkpoint_minutes, settings.checkpoint_every_minutes
    if every is None and checkpoint:
        every = sqrt(2 * checkpoint * mtbf)
    writing = (checkpoint or 0.0) / every if every is not None else 0.0
    rework = every / 2 / mtbf if every is not None else 0.0
    return Losses(writing, rework, settings.restart_minutes / mtbf, mtbf, every)
