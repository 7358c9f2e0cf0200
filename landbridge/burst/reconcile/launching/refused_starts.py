"""Reasons to give a start up before an offering is chosen for it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from landbridge.burst.model import Attempt, CircuitBreaker, Gang, ObservationKind
from landbridge.burst.reconcile import residency
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.gangs import GangStart
from landbridge.burst.reconcile.instances import registration
from landbridge.burst.reconcile.launching.ended_launches import is_shortage
from landbridge.burst.reconcile.launching.throttles import is_throttled
from landbridge.burst.reconcile.observed import Observed

#: A gang that is not launched after this share of ResumeTimeout is given up, so that Slurm tries it again from the
#: start.
RESUME_TIMEOUT_SHARE = 0.5
#: Number of instances of a booting node that may vanish for the same jobs; after one more, the node is set down.
MAX_VANISHED_INSTANCES = 2


@dataclass(frozen=True, slots=True)
class RefusedStarts:
    """Reasons against the starts of one pass; each is a code and a text. `by_gang`: attempts by gang."""

    observed: Observed
    changes: Changes
    by_gang: Mapping[str, Sequence[Attempt]]

    def reason(self, start: GangStart) -> tuple[str, str] | None:
        """Return the reason against the whole start; None if it may be launched."""
        return self._refusal(start) or self._vanished(start)

    def _refusal(self, start: GangStart) -> tuple[str, str] | None:
        for job in start.jobs:
            if (reason := residency.reject_job_if_restricted(self.observed.policy, job)) is not None:
                return "RESIDENCY", reason
        for job in start.jobs:
            backoff = self.changes.backoffs.get(job.id)
            if backoff is not None and backoff.code == "GONE" and self.observed.now < backoff.until:
                return backoff.code, backoff.text
        pools = dict.fromkeys(self.observed.pools[node].name for node in start.nodes)
        for pool in pools:
            if pool in self.changes.state.drained:
                return "DRAINED", f"pool {pool} is drained: {self.changes.state.drained[pool]}"
        for pool in pools:
            breaker = self.changes.state.breakers.get(pool)
            if breaker is not None and (
                self.observed.now < breaker.until or self._has_other_probe(start, pool, breaker)
            ):
                is_own_failure = any(
                    attempt.code == breaker.code for gang in start.gangs for attempt in self._attempts_of(gang)
                )
                words = f"{breaker.code}: {breaker.message}" if breaker.message else breaker.code
                return (
                    ("CONFIG", words) if is_own_failure else ("BREAKER", f"pool {pool} is out of order since {words}")
                )
        return None

    def _has_other_probe(self, start: GangStart, pool: str, breaker: CircuitBreaker) -> bool:
        """Return whether another start probes whether instances of the pool register again."""
        attempts = (
            [attempt for gang in start.gangs for attempt in self._attempts_of(gang)] if start.all_or_nothing else []
        )
        return registration.is_probe_running(self.observed, breaker, pool) and all(
            attempt.created_at < breaker.until for attempt in attempts
        )

    def _attempts_of(self, gang: Gang) -> Sequence[Attempt]:
        return self.by_gang.get(gang.key, ())

    def _vanished(self, start: GangStart) -> tuple[str, str] | None:
        """Return code and text if an instance of the start ended before its node registered, else None."""
        may_launch_again = self._may_launch_again(start)
        for gang in start.gangs:
            missing = set(gang.nodes)
            completed = [attempt for attempt in self._attempts_of(gang) if attempt.ended is not None]

            def lost_nodes(attempt: Attempt, missing: set[str] = missing) -> list[str]:
                nodes = [node for node in attempt.nodes if node in missing]
                return [node for node in nodes if not (may_launch_again and is_shortage(attempt.ends.get(node, "")))]

            if gang.all_or_nothing:
                lost = sorted({node for attempt in completed if not attempt.code for node in lost_nodes(attempt)})
            else:
                launched = [attempt for attempt in completed if not attempt.code or attempt.instances]
                of_jobs = [attempt for attempt in launched if set(attempt.jobs) & set(gang.jobs) or not gang.jobs]
                recent = [
                    attempt
                    for attempt in of_jobs
                    if self.observed.now - attempt.created_at < self.observed.policy.pools[attempt.pool].resume_timeout
                ]
                times = Counter(node for attempt in recent for node in lost_nodes(attempt))
                lost = sorted(node for node, count in times.items() if count > MAX_VANISHED_INSTANCES)
            if lost:
                end = next((attempt.ends[lost[0]] for attempt in reversed(completed) if lost[0] in attempt.ends), "")
                text = f"the instance of {lost[0]} ended before the node was up"
                return "GONE", f"{text}: {end}" if end else text
        return None

    def _may_launch_again(self, start: GangStart) -> bool:
        """Return whether nodes whose instances EC2 ended for lack of capacity are launched at another offering at once: not
        beside other nodes of their job, and not so late that Slurm gives them up."""
        if start.all_or_nothing and any(self.observed.has(node) for node in start.nodes):
            return False
        bound = RESUME_TIMEOUT_SHARE * min(self.observed.pools[node].resume_timeout for node in start.nodes)
        return all(job.started is None or self.observed.now - job.started <= bound for job in start.jobs)

    def late_nodes(self, start: GangStart) -> list[str]:
        """Return nodes whose launch was impossible or unanswered for too long."""
        return [
            node
            for node in start.nodes
            if not self.observed.has(node)
            and (self._is_blocked(node) or self._unanswered(node))
            and self._waited_too_long(node)
        ]

    def _is_blocked(self, node: str) -> bool:
        pool = self.observed.pools[node].name
        return self.observed.ec2 is None or is_throttled(self.changes.state, pool, self.observed.now)

    def _unanswered(self, node: str) -> bool:
        """Return whether a call for the node has had no result for longer than `settle_seconds`."""
        attempt = self.observed.open.get(node)
        return attempt is not None and self.observed.now - attempt.created_at > self.observed.policy.settle_seconds

    def _waited_too_long(self, node: str) -> bool:
        bound = RESUME_TIMEOUT_SHARE * self.observed.pools[node].resume_timeout
        starts = [job.started for job in self.observed.jobs.get(node, ()) if job.started is not None]
        waited = self.changes.seconds_seen(ObservationKind.NODE_WAITS_FOR_AWS, node, bound)
        return max([waited, *(self.observed.now - start for start in starts)]) > bound
