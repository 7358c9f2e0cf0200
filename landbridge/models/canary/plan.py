"""Plan of a canary: guards, rates of false decisions, schedule of weights, and limits of time."""

from dataclasses import dataclass

from landbridge.models.canary.guards import Guard
from landbridge.models.canary.shadow import ShadowPlan


@dataclass(frozen=True, slots=True)
class CanaryPlan:
    """Plan of a canary.

    `false_rollbacks`: largest probability that a candidate without harm is rolled back by its guards. `false_promotions`: largest
    probability that a candidate whose rise in a required guard is at least the effect is promoted. `weights`: the candidate's percent
    of the traffic by step; after the last one it is promoted. A step ends after `requests` of the candidate and `step_seconds`.
    With `shadow` the first step has the weight 0: it ends when copies of the champion's requests have shown what that plan needs.
    """

    guards: tuple[Guard, ...]
    weights: tuple[int, ...] = (1, 10, 50)
    false_rollbacks: float = 0.01
    false_promotions: float = 0.05
    requests: int = 100
    step_seconds: float = 60.0
    limit_seconds: float = 86_400.0
    extensions: int = 1
    down_seconds: float = 10.0
    shadow: ShadowPlan | None = None

    def __post_init__(self) -> None:
        names = [guard.name for guard in self.guards]
        if not names or len(set(names)) != len(names):
            raise ValueError("a canary needs guards with different names")
        if (
            list(self.weights) != sorted(set(self.weights))
            or not self.weights
            or not 0 < self.weights[0] <= self.weights[-1] < 100
        ):
            raise ValueError("weights must increase from step to step, between 1 and 99 percent")
        if not 0 < self.false_rollbacks < 1 or not 0 < self.false_promotions < 1:
            raise ValueError("rates of false decisions must be between 0 and 1")
