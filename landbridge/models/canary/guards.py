"""Guards of a canary: rates that the candidate must not raise, with the evidence for harm and for its absence."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, log

from landbridge.models.canary.evidence import clipped, log_e_value
from landbridge.models.canary.tallies import NO_REQUESTS, Tally

#: Alternatives of harm, as multiples of a guard's effect. Their e-values are averaged with equal weights: a mixture (Robbins,
#: Statistical methods related to the law of the iterated logarithm, 1970).
EFFECTS = (0.5, 1.0, 2.0, 5.0, 20.0)
#: Weight of a guard's expected rate, in requests, and share of earlier requests that counts at the next block.
PRIOR_REQUESTS, KEPT = 50.0, 0.98


@dataclass(frozen=True, slots=True)
class Guard:
    """Guard: a rate of bad requests.

    `expected` is its usual rate, from which the test begins. `margin` is the rise that is allowed, `effect` the rise that the canary
    finds, which is larger. `required`: the candidate is only promoted with evidence that its rise is below the effect. `most`: the
    largest share of its bad requests with which it gets more traffic, whatever the champion's share is. `per_row`: its tallies have
    the rows of requests, which end no step.
    """

    name: str
    expected: float
    effect: float
    margin: float = 0.0
    required: bool = True
    most: float = 1.0
    per_row: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.margin < self.effect < 1 or not 0 <= self.expected < 1:
            raise ValueError(f"guard {self.name}: 0 <= margin < effect < 1 and 0 <= expected < 1 must hold")


@dataclass(frozen=True, slots=True)
class GuardEvidence:
    """Evidence of a guard over all blocks: logarithms of e-values for harm (by alternative) and for safety, and the tallies.

    `bad` and `requests` are the champion's fading sums, from which the rate of the next block's alternative is estimated.
    """

    harm: tuple[float, ...] = (0.0,) * len(EFFECTS)
    safe: float = 0.0
    bad: float = 0.0
    requests: float = 0.0
    champion: Tally = NO_REQUESTS
    candidate: Tally = NO_REQUESTS

    @property
    def harm_e(self) -> float:
        """E-value for harm: the mean over the alternatives."""
        return sum(exp(min(value, 600.0)) for value in self.harm) / len(self.harm)

    @property
    def safe_e(self) -> float:
        """E-value for safety."""
        return exp(min(self.safe, 600.0))


def with_block(guard: Guard, before: GuardEvidence, champion: Tally, candidate: Tally) -> GuardEvidence:
    """Return the evidence with a further block. The alternatives use earlier blocks only."""
    rate = clipped((before.bad + PRIOR_REQUESTS * guard.expected) / (before.requests + PRIOR_REQUESTS))
    harm = tuple(
        log_sum + _log_harm(guard, champion, candidate, rate, times)
        for times, log_sum in zip(EFFECTS, before.harm, strict=True)
    )
    safe = before.safe + (
        log_e_value(champion, candidate, rate, rate, guard.effect) if rate < 1 - guard.effect else 0.0
    )
    return replace(
        before,
        harm=harm,
        safe=safe,
        bad=before.bad * KEPT + champion.bad,
        requests=before.requests * KEPT + champion.all,
        champion=before.champion + champion,
        candidate=before.candidate + candidate,
    )


def _log_harm(guard: Guard, champion: Tally, candidate: Tally, rate: float, times: float) -> float:
    """Return the logarithm of a block's e-value; 0 if no rate below 1 is a rise above the margin."""
    harmful = clipped(rate + guard.margin + times * guard.effect)
    return log_e_value(champion, candidate, rate, harmful, guard.margin) if harmful > rate + guard.margin else 0.0


def harm_of_all(evidence: Mapping[str, GuardEvidence]) -> float:
    """Return the e-value for harm in any guard: the mean of the guards' e-values.

    The mean of e-values is an e-value under any dependence, so that several guards need no further correction. Source: Vovk and
    Wang, E-values: calibration, combination and applications, 2021.
    """
    return sum(each.harm_e for each in evidence.values()) / len(evidence) if evidence else 1.0


def threshold(rate: float) -> float:
    """Return the e-value that is reached with a probability of at most `rate` if the null hypothesis holds."""
    return exp(-log(rate))
