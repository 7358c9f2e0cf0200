"""Launch rate: the instances that EC2 launches now, by the resource token bucket of RunInstances of each region.

EC2 takes one token for each instance of a call and refuses a call for more tokens than the bucket has (EC2 Developer Guide,
"Request throttling for the Amazon EC2 API", Resource rate limiting). The tokens are estimated from the attempts in the
journal; a wrong estimate is a throttled call, which is repeated.

A gang of at most one bucket waits until it can start as a whole: nothing is paid meanwhile. A larger one first launches
what the full bucket cannot hold, and the last bucket at once: the other order would pay for a bucket of idle instances.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import floor, inf

from landbridge.burst.model import Attempt, BurstPolicy, Offering
from landbridge.burst.reconcile.changes import MAX_SECONDS_BETWEEN_PASSES
from landbridge.burst.reconcile.observed import REBUILT_GANG, Observed


@dataclass(slots=True)
class LaunchRate:
    """Tokens of each region at the time of a pass; the launches that it decides take theirs."""

    policy: BurstPolicy
    tokens: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, observed: Observed, attempts: Iterable[Attempt]) -> "LaunchRate":
        policy = observed.policy
        launches: dict[str, list[tuple[float, int]]] = {}
        for attempt in attempts:
            offering = observed.offerings.get(attempt.offering)
            region = (offering.region if offering else "") or policy.region
            launches.setdefault(region, []).append(_launch_of(attempt))
        return cls(policy, {name: _tokens(counts, policy, observed.now) for name, counts in launches.items()})

    def region(self, offering: Offering) -> str:
        return offering.region or self.policy.region

    def available(self, offering: Offering) -> float:
        """Return the tokens of the offering's region."""
        return self.tokens.get(self.region(offering), float(self.policy.launch_bucket))

    def take(self, offering: Offering, count: int) -> None:
        self.tokens[self.region(offering)] = self.available(offering) - count

    def seconds(self, offering: Offering, count: int) -> float:
        """Return the time until the last of `count` instances can be launched."""
        return max(0.0, count - self.available(offering)) / self.policy.launch_per_second

    def of_gang(self, offering: Offering, count: int) -> int:
        """Return how many of the `count` missing nodes of a gang are launched now."""
        available, bucket = self.available(offering), self.policy.launch_bucket
        if count <= available:
            return count
        # Tokens that a pass leaves below this level refill before the next pass.
        level = max(0.0, bucket - self.policy.launch_per_second * MAX_SECONDS_BETWEEN_PASSES)
        if count <= bucket or available < max(1.0, level):
            return 0
        return max(1, floor(available - level))

    def of_batch(self, offering: Offering, count: int) -> int:
        """Return how many of `count` independent nodes are launched now."""
        return min(count, max(0, floor(self.available(offering))))

    def most(self, seconds: float) -> int:
        """Return the largest number of instances that a full bucket launches in `seconds`."""
        return floor(self.policy.launch_bucket + self.policy.launch_per_second * max(0.0, seconds))

    def refusal(self, offering: Offering, count: int, seconds: float, whole: float) -> str:
        """Return the reason why `count` instances cannot be launched in the remaining `seconds`; `whole`: the time that
        a start has from its beginning."""
        limits = f"{self.policy.launch_bucket:,} instances of a region at once and {self.policy.launch_per_second:g} more a second"
        if count > self.most(whole):
            return (
                f"AWS launches {limits}, and the nodes of a job have to be launched in {whole:.0f} s: request at most "
                f"{self.most(whole)} nodes, a longer resume_timeout of the pool, or a higher limit of AWS (burst.launch_bucket)"
            )
        wait = self.seconds(offering, count)
        return f"AWS launches {limits}; other launches have used them, and {count} nodes would wait {wait:.0f} of {seconds:.0f} s"


def _launch_of(attempt: Attempt) -> tuple[float, int]:
    """Return when the attempt took its tokens, and how many; all of its nodes while its result is unknown."""
    is_rebuilt = attempt.gang == REBUILT_GANG
    at = attempt.created_at if attempt.ended is None or is_rebuilt else attempt.ended
    return at, len(attempt.instances) if attempt.code else len(attempt.nodes)


def _tokens(launches: Iterable[tuple[float, int]], policy: BurstPolicy, now: float) -> float:
    tokens, last = float(policy.launch_bucket), -inf
    for at, count in (*sorted(launches), (now, 0)):
        refilled = tokens + policy.launch_per_second * max(0.0, at - last)
        tokens, last = max(0.0, min(policy.launch_bucket, refilled) - count), at
    return tokens
