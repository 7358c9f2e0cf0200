"""Distances between two distributions over the same bins: population stability index and Kolmogorov-Smirnov."""

from collections.abc import Iterator
from itertools import accumulate
from math import exp, log, sqrt

from landbridge.models.drift.reference import BinnedCounts

#: Added to each count, so that an empty bin has a finite term. Source: Jeffreys' prior of a multinomial distribution.
_HALF = 0.5


def psi(reference: BinnedCounts, current: BinnedCounts) -> float:
    """Return the population stability index, the symmetric Kullback-Leibler divergence over bins.

    Source: Siddiqi, Credit risk scorecards, 2006: sum of (q - p) ln(q / p).
    """
    return sum((q - p) * log(q / p) for p, q in zip(_smoothed(reference), _smoothed(current), strict=True))


def psi_noise(reference: BinnedCounts, current: BinnedCounts, chance: float) -> float:
    """Return the index that two samples of one distribution exceed with a probability of `chance`.

    Source: Yurdakul, Statistical properties of population stability index, 2018: the index is distributed as (1/n + 1/m) times a
    chi-squared variable with one degree of freedom less than bins.
    """
    degrees = len(reference.counts) - 1
    return (1 / reference.total + 1 / current.total) * chi_squared(degrees, chance) if degrees else 0.0


def ks(reference: BinnedCounts, current: BinnedCounts) -> float:
    """Return the largest difference of the cumulative shares at the edges: at most the statistic of the values themselves."""
    pairs = zip(accumulate(reference.shares), accumulate(current.shares), strict=True)
    return max((abs(p - q) for p, q in pairs), default=0.0)


def ks_chance(statistic: float, n: int, m: int) -> float:
    """Return the probability of a statistic this large in samples of `n` and `m` values of one distribution.

    Source: Smirnov, Table for estimating the goodness of fit of empirical distributions, 1948 (asymptotic distribution), with the
    correction for small samples of Stephens, 1970. Bins make the statistic smaller, so the true probability is lower.
    """
    if not n or not m or statistic <= 0:
        return 1.0
    root = sqrt(n * m / (n + m))
    scaled = (root + 0.12 + 0.11 / root) * statistic
    total = 2 * sum((-1) ** (k - 1) * exp(-2 * k * k * scaled * scaled) for k in range(1, 101))
    return min(1.0, max(0.0, total)) if scaled > 0.2 else 1.0


def chi_squared(degrees: int, chance: float) -> float:
    """Return the value that a chi-squared variable exceeds with a probability of `chance`, by bisection of its exact tail."""
    low, high = 0.0, 10.0 + 20.0 * degrees - 4 * log(chance)
    for _ in range(100):
        middle = (low + high) / 2
        if _tail(degrees, middle) > chance:
            low = middle
        else:
            high = middle
    return high


def _tail(degrees: int, value: float) -> float:
    """Return the tail of a chi-squared distribution by its recurrence over degrees. Source: Abramowitz and Stegun, 26.4.4, 26.4.5."""
    from math import erfc, lgamma

    half = value / 2
    total = erfc(sqrt(half)) if degrees % 2 else exp(-half)
    first = 1.5 if degrees % 2 else 2.0
    for number in range((degrees - 1) // 2):
        at = first + number
        total += exp((at - 1) * log(half) - half - lgamma(at)) if half > 0 else 0.0
    return total


def _smoothed(counts: BinnedCounts) -> Iterator[float]:
    whole = counts.total + _HALF * len(counts.counts)
    return ((count + _HALF) / whole for count in counts.counts)
