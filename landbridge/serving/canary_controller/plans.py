"""Plan of a canary: guards and rates of the catalogue, with the schedule of a service."""

from dataclasses import dataclass

from landbridge.catalog.models.canary import canary_facts
from landbridge.models.canary.guards import Guard
from landbridge.models.canary.plan import CanaryPlan
from landbridge.models.canary.shadow import ShadowGuard, ShadowPlan


@dataclass(frozen=True, slots=True)
class CanarySchedule:
    """Schedule of a service's canaries; for zero and empty values the catalogue's values count.

    `shadow`: whether a candidate answers copies of requests first. `disagreement`: its limit of answers that differ.
    """

    weights: tuple[int, ...] = ()
    requests: int = 0
    step_seconds: float = 0.0
    low_confidence: float = 0.5
    shadow: bool = False
    disagreement: float = 0.0


def canary_plan(has_labels: bool, schedule: CanarySchedule | None = None) -> CanaryPlan:
    """Return the plan. Quality is only required for a promotion if there are labels."""
    facts, chosen = canary_facts(), schedule or CanarySchedule()
    guards = tuple(
        Guard(
            guard,
            row.expected,
            row.effect,
            row.margin,
            required=guard != "quality" or has_labels,
            most=row.most,
            per_row=row.per_row,
        )
        for guard, row in facts.guards.items()
    )
    return CanaryPlan(
        guards,
        chosen.weights or facts.weights.value,
        facts.false_rollbacks.value,
        facts.false_promotions.value,
        chosen.requests or int(facts.requests.value),
        chosen.step_seconds or facts.step_seconds.value,
        facts.limit_seconds.value,
        int(facts.extensions.value),
        facts.down_seconds.value,
        _shadow_plan(chosen) if chosen.shadow else None,
    )


def _shadow_plan(schedule: CanarySchedule) -> ShadowPlan:
    facts = canary_facts().shadow
    limits = {name: row.value for name, row in facts.limits.items()}
    if schedule.disagreement:
        limits["disagreement"] = schedule.disagreement
    return ShadowPlan(
        tuple(ShadowGuard(name, limit) for name, limit in limits.items()),
        facts.false_refusals.value,
        facts.false_passes.value,
        int(facts.copies.value),
    )
