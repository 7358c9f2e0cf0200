"""Simulated traffic of two versions behind a gateway: rates change over time, labels come for half of the requests."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from landbridge.models.canary.decide import CanaryAction, CanaryLook, begun, decided
from landbridge.models.canary.guards import Guard
from landbridge.models.canary.plan import CanaryPlan
from landbridge.models.canary.tallies import Tally

GUARDS = (
    Guard("errors", 0.001, 0.01),
    Guard("latency", 0.05, 0.05),
    Guard("quality", 0.05, 0.05),
    Guard("drift", 0.05, 0.05),
)
EXPECTED = {guard.name: guard.expected for guard in GUARDS}
LABELLED = 0.5
SECONDS = 30.0


@dataclass(frozen=True)
class Simulated:
    """End of a simulated canary: its outcome (None: undecided), the looks that it took, and the reason."""

    outcome: CanaryAction | None
    looks: int
    reason: str


def simulate(
    seed: int, plan: CanaryPlan, rise: Mapping[str, float], looks: int = 200, per_look: int = 2000, wave: float = 0.3
) -> Simulated:
    """Run one canary to its end. `rise`: by which the candidate's rates are above the champion's."""
    rng = np.random.default_rng(seed)
    tallies: dict[str, dict[str, Tally]] = {side: {name: Tally() for name in EXPECTED} for side in ("a", "b")}

    def look(at: float) -> CanaryLook:
        return CanaryLook(at, {"server1": dict(tallies["a"])}, {"server2": dict(tallies["b"])})

    record, weight, decision = begun("digits", "1", "2", look(0.0)), plan.weights[0], None
    for number in range(1, looks + 1):
        change = 1 + wave * np.sin(number / 7)
        candidate = per_look * weight // 100
        for name, expected in EXPECTED.items():
            for side, requests in (("a", per_look - candidate), ("b", candidate)):
                counted = int(requests * LABELLED) if name == "quality" else requests
                rate = expected * change + (rise.get(name, 0.0) if side == "b" else 0.0)
                bad = int(rng.binomial(counted, min(1.0, rate)))
                tallies[side][name] += Tally(bad, counted)
        decision, record = decided(plan, record, look(number * SECONDS))
        weight = decision.weight
        if record.outcome is not None:
            return Simulated(record.outcome, number, record.reason)
    return Simulated(None, looks, decision.reason if decision is not None else "")
