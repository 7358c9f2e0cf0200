"""Launch calls with an unknown result: the same call is made again, until its result is known or it is forgotten."""

from dataclasses import dataclass, field, replace

from landbridge.burst.model import Attempt, Gang, Launch, Offering
from landbridge.burst.reconcile.attempts import is_forgettable
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.gangs import batch_gang
from landbridge.burst.reconcile.launching.launch_attempts import tags_of
from landbridge.burst.reconcile.launching.throttles import throttled_until
from landbridge.burst.reconcile.observed import FORGOTTEN, Observed
from landbridge.timestamps import iso


@dataclass(frozen=True, slots=True)
class RepeatedCalls:
    """Calls that one pass repeats. `tokens_sent`: tokens of all calls of this pass, and of those that wait."""

    observed: Observed
    changes: Changes
    tokens_sent: set[str] = field(default_factory=set)

    def waits(self, offering: Offering, pool: str) -> bool:
        """Return whether launches of the pool at the offering wait, because EC2 has throttled one or did not answer."""
        until = throttled_until(self.changes.state, offering, pool, self.observed.policy)
        self.changes.schedule_pass(until)
        return self.observed.now < until

    def repeat(self, gang: Gang, open_attempts: list[Attempt]) -> None:
        """Repeat the same calls if the gang is unchanged; they return the instances that they have launched."""
        offering = self.observed.offerings.get(open_attempts[0].offering)
        self.tokens_sent.update(attempt.token for attempt in open_attempts)
        is_closed = (
            offering is not None and offering.opens is not None and self.observed.now < offering.opens
        )  # a clock was ahead
        if (
            offering is None
            or is_closed
            or not all(self.observed.is_powering_up(node) for attempt in open_attempts for node in attempt.nodes)
        ):
            self.tokens_sent.difference_update(attempt.token for attempt in open_attempts)
            return
        if self.waits(offering, gang.pool):
            return
        same = [attempt for attempt in open_attempts if attempt.offering == open_attempts[0].offering]
        nodes = tuple(node for attempt in same for node in attempt.nodes)
        self.changes.launches.append(
            Launch(
                replace(gang, nodes=nodes), offering, tuple(same), tags_of(same[0], self.observed.policy), repeated=True
            )
        )
        self.changes.record("repeat", text=offering.key, nodes=nodes, jobs=gang.jobs, pool=gang.pool)

    def repeat_batches(self) -> None:
        """Repeat calls of batches with an unknown result if all their nodes still power up."""
        if self.observed.ec2 is None:
            return
        for attempt in list(self.changes.attempts.values()):
            if attempt.ended is not None or attempt.all_or_nothing or attempt.token in self.tokens_sent:
                continue
            nodes = attempt.nodes
            if all(self.observed.is_powering_up(node) for node in nodes) and self.changes.downed.isdisjoint(nodes):
                gang = batch_gang(attempt.gang, attempt.pool, attempt.account, nodes, ())
                self.repeat(replace(gang, jobs=attempt.jobs), [attempt])

    def forget(self) -> None:
        """End the attempts whose calls are not repeated any more."""
        if self.observed.ec2 is None:
            return
        for token, attempt in list(self.changes.attempts.items()):
            if attempt.ended is not None or token in self.tokens_sent:
                continue
            if is_forgettable(attempt, self.observed):
                self.changes.attempts[token] = replace(attempt, ended=self.observed.now, code=FORGOTTEN)
                self.changes.record(
                    "forget", FORGOTTEN, iso(attempt.created_at), attempt.nodes, attempt.jobs, attempt.pool
                )
            else:
                self.changes.schedule_pass(attempt.created_at + self.observed.policy.settle_seconds + 1)
