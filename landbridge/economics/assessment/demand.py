"""Demand: distribution of the GPUs in use at the same time."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

from landbridge.economics.assessment.answers import Answers

_HOURS_PER_WEEK = 168


class GpuDemand(Protocol):
    """GPUs in use at the same time, over all hours of a year."""

    @property
    def peak(self) -> float:
        """Return the largest number of GPUs in use."""
        ...

    def up_to(self, gpus: float) -> float:
        """Return the mean of min(GPUs in use, `gpus`): GPU hours that this many GPUs do in one hour."""
        ...


@dataclass(frozen=True, slots=True)
class ShapedDemand:
    """Demand of a constant floor and a part that varies: floor + (peak - floor) * U^k, with U uniform in 0 to 1.

    k = (peak - floor) / (mean - floor) - 1 gives the mean. It holds for the `active` share of the hours; otherwise the
    demand is 0.
    """

    mean: float
    peak: float
    floor: float
    active: float

    def up_to(self, gpus: float) -> float:
        """Return the mean of min(D, gpus): the integral of P(D > x) from 0 to `gpus`."""
        if gpus <= self.floor or self.mean - self.floor < 1e-9 * max(self.mean, 1):
            return self.active * min(gpus, self.mean)
        width = self.peak - self.floor
        exponent = width / (self.mean - self.floor) - 1
        y = min((gpus - self.floor) / width, 1.0)
        # P(D > floor + width * y) = 1 - y^(1/k); its integral is y - y^(1/k + 1) / (1/k + 1).
        tail = y ** (1 / exponent + 1) / (1 / exponent + 1) if exponent > 1e-9 else 0.0
        return self.active * (self.floor + width * (y - tail))


@dataclass(frozen=True, slots=True)
class TracedDemand:
    """Demand of quantiles: pairs of level (0 to 1) and GPUs, joined by straight lines, for the `active` hours."""

    points: tuple[tuple[float, float], ...]
    active: float

    @property
    def peak(self) -> float:
        """Return the largest number of GPUs in use."""
        return self.points[-1][1]

    def up_to(self, gpus: float) -> float:
        """Return the mean of min(D, gpus), exact for straight lines."""
        total = 0.0
        for (low, below), (high, above) in pairwise(self.points):
            share = high - low
            if gpus >= above:
                total += share * (below + above) / 2
            elif gpus <= below:
                total += share * gpus
            else:
                inside = (gpus - below) / (above - below)
                total += share * (inside * (below + gpus) / 2 + (1 - inside) * gpus)
        return self.active * total


def demand_of(answers: Answers, share: float = 1.0, scale: float = 1.0) -> ShapedDemand | TracedDemand:
    """Return the demand of a share (0 to 1) of the work, with all GPUs multiplied by `scale`. The baseline is in it."""
    use = answers.utilisation
    active = use.hours_a_week / _HOURS_PER_WEEK
    factor = share * scale
    if use.trace is not None:
        levels = [(float(name[1:]) / 100, gpus) for name, gpus in use.trace.model_dump().items() if gpus is not None]
        traced = TracedDemand(((0.0, 0.0), *levels, (1.0, use.peak_gpus)), 1.0)
        factor *= use.mean_gpus / traced.up_to(traced.peak)
        return replace(traced, points=tuple((level, gpus * factor) for level, gpus in traced.points), active=active)
    floor = min(answers.workloads.baseline / 100, share) * use.mean_gpus * scale
    return ShapedDemand(use.mean_gpus * factor, use.peak_gpus * factor, floor, active)
