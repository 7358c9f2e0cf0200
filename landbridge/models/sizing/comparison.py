"""Comparison of a smaller version with its original, on the same rows and in one run: accuracy, latency, memory, size and cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class MeasuredVersion:
    """Measurement of a version: whether each row's prediction was right, seconds of each request, memory and size."""

    correct: tuple[bool, ...]
    seconds: tuple[float, ...]
    memory_mib: float
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ComparisonBounds:
    """Bounds of the smaller version: the loss of accuracy, and the ratios of latency, memory and size to the original's.

    `confidence` is that of the bounds on accuracy and latency.
    """

    accuracy_loss: float
    latency_ratio: float
    memory_ratio: float
    size_ratio: float
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """Value of both versions. `judged` is compared with `bound`: the upper confidence bound of a loss or a ratio, or the ratio."""

    name: str
    original: float
    smaller: float
    judged: float
    bound: float | None

    @property
    def passed(self) -> bool:
        """Return whether the bound holds; a value without a bound is only reported."""
        return self.bound is None or self.judged <= self.bound


def compared(
    original: MeasuredVersion, smaller: MeasuredVersion, bounds: ComparisonBounds, usd_hour: float | None = None
) -> tuple[ComparedValue, ...]:
    """Return all values of the comparison. Raises ValueError if both were not measured on the same rows."""
    if len(original.correct) != len(smaller.correct) or not original.correct:
        raise ValueError("both versions must be measured on the same rows")
    values = [
        ComparedValue(
            "accuracy",
            _share(original.correct),
            _share(smaller.correct),
            accuracy_loss_bound(original.correct, smaller.correct, bounds.confidence),
            bounds.accuracy_loss,
        ),
        _latency(original, smaller, bounds),
        _ratio("memory_mib", original.memory_mib, smaller.memory_mib, bounds.memory_ratio),
        _ratio("size_bytes", original.size_bytes, smaller.size_bytes, bounds.size_ratio),
    ]
    if usd_hour is not None:
        usd = [usd_of_1000(each.seconds, usd_hour) for each in (original, smaller)]
        values.append(_ratio("usd_1000_predictions", usd[0], usd[1], None))
    return tuple(values)


def accuracy_loss_bound(original: Sequence[bool], smaller: Sequence[bool], confidence: float) -> float:
    """Return the upper bound of the loss of accuracy on paired rows.

    Source: Agresti and Min, Simple improved confidence intervals for comparing matched proportions, 2005: half a row is added to
    each of the four cells, then Wald's interval.
    """
    lost = sum(a and not b for a, b in zip(original, smaller, strict=True)) + 0.5
    won = sum(b and not a for a, b in zip(original, smaller, strict=True)) + 0.5
    count = len(original) + 2
    loss = (lost - won) / count
    deviation = sqrt(max(0.0, lost + won - (lost - won) ** 2 / count)) / count
    return loss + NormalDist().inv_cdf(confidence) * deviation


def quantile_bounds(seconds: Sequence[float], quantile: float, confidence: float) -> tuple[float, float]:
    """Return bounds of a quantile by order statistics, without an assumption about the distribution.

    Source: David and Nagaraja, Order statistics, 2003, section 7.1, with the normal approximation of the binomial distribution.
    """
    ordered, count = sorted(seconds), len(seconds)
    width = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(count * quantile * (1 - quantile))
    low, high = floor(count * quantile - width), ceil(count * quantile + width)
    return ordered[min(max(low - 1, 0), count - 1)], ordered[min(max(high, 0), count - 1)]


def usd_of_1000(seconds: Sequence[float], usd_hour: float) -> float:
    """Return the cost of 1,000 predictions of a worker that is always busy, at the price of an hour of it."""
    return sum(seconds) / len(seconds) * 1000 / 3600 * usd_hour


def _latency(original: MeasuredVersion, smaller: MeasuredVersion, bounds: ComparisonBounds) -> ComparedValue:
    (low, _), (_, high) = (quantile_bounds(each.seconds, 0.95, bounds.confidence) for each in (original, smaller))
    p95 = [sorted(each.seconds)[ceil(0.95 * len(each.seconds)) - 1] for each in (original, smaller)]
    return ComparedValue("p95_seconds", p95[0], p95[1], high / low if low else float("inf"), bounds.latency_ratio)


def _ratio(name: str, original: float, smaller: float, bound: float | None) -> ComparedValue:
    return ComparedValue(name, original, smaller, smaller / original if original else float("inf"), bound)


def _share(rows: Sequence[bool]) -> float:
    return sum(rows) / len(rows)
