"""Evidence of a shadow: copies of the champion's requests that the candidate answered, before it gets requests of clients. Pure.

Each guard has a limit: a share of copies that may be bad. Two tests run at each look, and both stay valid for any number of looks:
harm, an e-value against "the share is at most the limit", and safety, one against "the share is at least the limit". For a share on
its side of the limit, the likelihood ratio of an alternative on the other side to the limit is an e-value of each copy; the mean over
alternatives is one too. Sources: Robbins, 1970 (mixtures); Vovk and Wang, 2021 (means of e-values); Ville, 1939 (at any look).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import exp, log, log1p

from landbridge.models.canary.evidence import clipped
from landbridge.models.canary.guards import threshold
from landbridge.models.canary.tallies import NO_REQUESTS, Tally

#: Alternatives, as multiples of the limit's odds.
_TIMES = (1.5, 2.0, 4.0, 10.0, 50.0)


@dataclass(frozen=True, slots=True)
class ShadowGuard:
    """Guard of a shadow: the share of bad copies that is its limit."""

    name: str
    limit: float

    def __post_init__(self) -> None:
        if not 0 < self.limit < 1:
            raise ValueError(f"shadow guard {self.name}: 0 < limit < 1 must hold")


@dataclass(frozen=True, slots=True)
class ShadowPlan:
    """Plan of a shadow.

    `false_refusals`: largest probability that a candidate is refused whose shares are all at most the limits. `false_passes`: largest
    probability that a candidate gets requests of clients although one of its shares is at the limit or above. `copies`: the least number.
    """

    guards: tuple[ShadowGuard, ...]
    false_refusals: float
    false_passes: float
    copies: int = 1

    def __post_init__(self) -> None:
        if not self.guards or not 0 < self.false_refusals < 1 or not 0 < self.false_passes < 1:
            raise ValueError("a shadow needs guards, and rates of false decisions between 0 and 1")


@dataclass(frozen=True, slots=True)
class ShadowEvidence:
    """Evidence of a guard over all copies: logarithms of e-values by alternative, and the tally."""

    harm: tuple[float, ...] = (0.0,) * len(_TIMES)
    safe: tuple[float, ...] = (0.0,) * len(_TIMES)
    copies: Tally = NO_REQUESTS

    @property
    def harm_e(self) -> float:
        """E-value against a share up to the limit."""
        return _mean(self.harm)

    @property
    def safe_e(self) -> float:
        """E-value against a share from the limit."""
        return _mean(self.safe)


def with_copies(guard: ShadowGuard, before: ShadowEvidence, new: Tally) -> ShadowEvidence:
    """Return the evidence with further copies."""
    harm, safe = (
        tuple(each + _log_ratio(new, rate, guard.limit) for each, rate in zip(logs, rates, strict=True))
        for logs, rates in (
            (before.harm, tuple(_rate(guard.limit, times) for times in _TIMES)),
            (before.safe, tuple(_rate(guard.limit, 1 / times) for times in _TIMES)),
        )
    )
    return replace(before, harm=harm, safe=safe, copies=before.copies + new)


def refusal(plan: ShadowPlan, evidence: Mapping[str, ShadowEvidence]) -> str:
    """Return the reason to refuse the candidate; empty without one. The mean over guards is one e-value for all of them."""
    harm = sum(each.harm_e for each in evidence.values()) / len(evidence) if evidence else 1.0
    if harm < threshold(plan.false_refusals):
        return ""
    guard = max(plan.guards, key=lambda each: evidence.get(each.name, ShadowEvidence()).harm_e)
    copies = evidence[guard.name].copies
    return f"shadow: {guard.name} in {copies.share:.2%} of {copies.all} copies, limit {guard.limit:.2%}, e-value {harm:.3g}"


def unproven(plan: ShadowPlan, evidence: Mapping[str, ShadowEvidence]) -> tuple[str, ...]:
    """Return the guards without evidence that their share is below the limit.

    A candidate passes with evidence in each guard, so that the guard whose share is at the limit decides: no correction is needed.
    """
    return tuple(_unproven(plan, evidence))


def _unproven(plan: ShadowPlan, evidence: Mapping[str, ShadowEvidence]) -> Iterator[str]:
    for guard in plan.guards:
        each = evidence.get(guard.name, ShadowEvidence())
        if each.safe_e < threshold(plan.false_passes) or each.copies.all < plan.copies:
            yield guard.name


def _rate(limit: float, times: float) -> float:
    odds = limit / (1 - limit) * times
    return clipped(odds / (1 + odds))


def _log_ratio(tally: Tally, rate: float, null: float) -> float:
    return tally.bad * log(rate / null) + (tally.all - tally.bad) * (log1p(-rate) - log1p(-null))


def _mean(logs: tuple[float, ...]) -> float:
    return sum(exp(min(value, 600.0)) for value in logs) / len(logs)
