"""Correction of journal timestamps that were written with a fast clock: none stays later than is possible."""

from dataclasses import replace

from landbridge.burst.model import MAX_KEEP_SECONDS, BurstPolicy, State, StatusRead
from landbridge.burst.model.errors import facts

CLOCK_SKEW_SECONDS = 5.0  # tolerated difference of two clocks
BACKOFF_SECONDS = (60.0, 1800.0)
THROTTLE_SECONDS = 5.0
JITTER_SHARE = 0.2
#: Seconds between two reads of the instances' statuses: EC2 makes its status checks every minute.
STATUS_INTERVAL_SECONDS = float(facts()["status_checks"]["interval_seconds"])
#: Seconds until the termination of an instance is requested again that EC2 has refused to terminate.
TERMINATION_RETRY_SECONDS = 600.0


def limit_to_now(state: State, policy: BurstPolicy, now: float) -> State:
    """Return `state` with each timestamp limited to the latest possible one, so that no wait is too long."""
    latest = now + CLOCK_SKEW_SECONDS
    longest_refusal = max(
        policy.insufficient_capacity_seconds[1] * (1 + JITTER_SHARE),
        policy.breaker_seconds,
        *(pool.resume_timeout for pool in policy.pools.values()),
    )
    return replace(
        state,
        # Orders are hints: a future one would make every instance launched before it look old, so it is dropped.
        orders=tuple(order for order in state.orders if order.at <= latest),
        attempts={
            token: replace(
                attempt,
                created_at=min(attempt.created_at, now) if attempt.created_at > latest else attempt.created_at,
                ended=now if attempt.ended is not None and attempt.ended > latest else attempt.ended,
            )
            if max(attempt.created_at, attempt.ended or 0.0) > latest
            else attempt
            for token, attempt in state.attempts.items()
        },
        insufficient_capacity={
            key: replace(shortage, until=min(shortage.until, now + longest_refusal))
            for key, shortage in state.insufficient_capacity.items()
        },
        breakers={
            pool: replace(
                breaker,
                until=min(breaker.until, now + policy.breaker_seconds),
                since=min(breaker.since, now),
            )
            for pool, breaker in state.breakers.items()
        },
        holds={
            key: replace(
                hold,
                since=now if hold.since > latest else hold.since,
                registered=now if hold.registered is not None and hold.registered > latest else hold.registered,
            )
            if max(hold.since, hold.registered or 0.0) > latest
            else hold
            for key, hold in state.holds.items()
        },
        backoffs={
            job: replace(backoff, until=min(backoff.until, now + BACKOFF_SECONDS[1]))
            for job, backoff in state.backoffs.items()
        },
        terminated_at={instance: min(at, now) for instance, at in state.terminated_at.items()},
        charged_until={instance: min(at, now) for instance, at in state.charged_until.items()},
        termination_refusals={
            instance: replace(
                refusal, since=min(refusal.since, now), until=min(refusal.until, now + TERMINATION_RETRY_SECONDS)
            )
            for instance, refusal in state.termination_refusals.items()
        },
        status_reads={
            region: replace(
                read,
                until=min(read.until, now + _status_wait(read, policy)),
                read_at=None if read.read_at is None else min(read.read_at, now),
            )
            for region, read in state.status_reads.items()
        },
        keeps={
            node: replace(keep, since=min(keep.since, now), until=min(keep.until, now + MAX_KEEP_SECONDS))
            for node, keep in state.keeps.items()
        },
        first_seen={observation: min(at, now) for observation, at in state.first_seen.items()},
        min_nodes_requested_at={pool: min(at, now) for pool, at in state.min_nodes_requested_at.items()},
        registration_failures={
            token: replace(failure, launched_at=min(failure.launched_at, now))
            for token, failure in state.registration_failures.items()
        },
        last_observation_at=None if state.last_observation_at is None else min(state.last_observation_at, now),
        throttled_until={key: min(until, now + THROTTLE_SECONDS) for key, until in state.throttled_until.items()},
    )


def _status_wait(read: StatusRead, policy: BurstPolicy) -> float:
    """Return the seconds until the next read at most: only a refused one is repeated later than after the usual interval."""
    return max(STATUS_INTERVAL_SECONDS, policy.breaker_seconds if read.code else 0.0)
