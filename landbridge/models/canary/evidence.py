"""Evidence against a bound on the difference of two rates, as e-values of blocks whose product may be evaluated at any time.

A block has `n` requests of the champion (rate a) and `m` of the candidate (rate b), independent within the block. The null
hypothesis is the convex set b - a <= d, or b - a >= d. For an alternative (a1, b1) outside of it, let (a0, b0) be the point of the
null hypothesis with the smallest Kullback-Leibler divergence from it. The likelihood ratio of (a1, b1) to (a0, b0) has an
expectation of at most 1 under each point of the null hypothesis, so it is an e-value: log E[ratio] is concave in (a, b), is 0 at
(a0, b0), and its gradient there is the negative gradient of the divergence, which no direction into the convex set increases.
Sources: Turner, Ly and Gruenwald, Generic E-variables for exact sequential k-sample tests that allow for optional stopping, 2024
(blocks, equal rates); Turner and Gruenwald, Exact anytime-valid confidence intervals for contingency tables and beyond, 2023
(bounds on a difference). The alternative of a block may depend on earlier blocks; the product of e-values is then a test martingale,
and it reaches 1/alpha at any look with a probability of at most alpha (Ville, Etude critique de la notion de collectif, 1939). The
rates may differ from block to block, so changes of traffic or of weights over time do no harm.
"""

from math import log, log1p

from landbridge.models.canary.tallies import Tally

#: Rates of alternatives stay away from 0 and 1, so that each likelihood ratio is finite.
SMALLEST = 1e-6
_STEPS = 60


def clipped(rate: float) -> float:
    """Return a rate between SMALLEST and 1 - SMALLEST."""
    return min(max(rate, SMALLEST), 1 - SMALLEST)


def nearest_rate(rate_a: float, rate_b: float, n: int, m: int, difference: float) -> float:
    """Return the champion's rate at the nearest point with b - a = `difference`.

    The derivative of the divergence along that line falls from positive to negative values; its root is found by Newton's method
    inside a bracket. Without a difference the point is the weighted mean.
    """
    if difference == 0:
        return (n * rate_a + m * rate_b) / (n + m)
    low, high = max(0.0, -difference), min(1.0, 1 - difference)
    at = min(max((n * rate_a + m * (rate_b - difference)) / (n + m), low + SMALLEST), high - SMALLEST)
    for _ in range(_STEPS):
        shifted = at + difference
        value = n * (rate_a - at) / (at * (1 - at)) + m * (rate_b - shifted) / (shifted * (1 - shifted))
        if value > 0:
            low = at
        else:
            high = at
        slope = -n * _curvature(rate_a, at) - m * _curvature(rate_b, shifted)
        following = at - value / slope
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - at) <= 1e-12 * following:
            return following
        at = following
    return at


def log_e_value(champion: Tally, candidate: Tally, rate_a: float, rate_b: float, difference: float) -> float:
    """Return the logarithm of a block's e-value for the alternative (`rate_a`, `rate_b`) against a bound `difference` on b - a.

    The alternative is on the other side of the bound than the null hypothesis. A block without requests of one version says
    nothing about the difference.
    """
    if not champion.all or not candidate.all:
        return 0.0
    null_a = nearest_rate(rate_a, rate_b, champion.all, candidate.all, difference)
    return _log_ratio(champion, rate_a, clipped(null_a)) + _log_ratio(candidate, rate_b, clipped(null_a + difference))


def _log_ratio(tally: Tally, rate: float, null: float) -> float:
    return tally.bad * log(rate / null) + (tally.all - tally.bad) * (log1p(-rate) - log1p(-null))


def _curvature(rate: float, at: float) -> float:
    return rate / (at * at) + (1 - rate) / ((1 - at) * (1 - at))
