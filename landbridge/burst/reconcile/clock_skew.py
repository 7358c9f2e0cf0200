"""Timestamps of a journal that a clock ahead of time has written: none may lie further in the future than it can."""

from dataclasses import replace

from landbridge.burst.model import BurstPolicy, State

CLOCK_SKEW_SECONDS = 5.0  # seconds that two clocks may differ without meaning anything
BACKOFF_SECONDS = (60.0, 1800.0)
THROTTLE_SECONDS = 5.0
JITTER_SHARE = 0.2


def limit_to_now(state: State, policy: BurstPolicy, now: float) -> State:
    """Return `state` with timestamps of the future moved to the latest possible one, so that no wait is too long."""
    latest = now + CLOCK_SKEW_SECONDS
    return replace(
        state,
        # Orders are hints; one from the future would speak against every instance launched until then.
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
            key: replace(
                shortage, until=min(shortage.until, now + policy.insufficient_capacity_seconds[1] * (1 + JITTER_SHARE))
            )
            for key, shortage in state.insufficient_capacity.items()
        },
        breakers={
            pool: replace(b, until=min(b.until, now + policy.breaker_seconds), since=min(b.since, now))
            for pool, b in state.breakers.items()
        },
        holds={
            token: replace(hold, created_at=now) if hold.created_at > latest else hold
            for token, hold in state.holds.items()
        },
        backoffs={
            job: replace(backoff, until=min(backoff.until, now + BACKOFF_SECONDS[1]))
            for job, backoff in state.backoffs.items()
        },
        terminated_at={instance: min(at, now) for instance, at in state.terminated_at.items()},
        first_seen={observation: min(at, now) for observation, at in state.first_seen.items()},
        min_nodes_requested_at={pool: min(at, now) for pool, at in state.min_nodes_requested_at.items()},
        registration_failures={
            token: replace(failure, launched_at=min(failure.launched_at, now))
            for token, failure in state.registration_failures.items()
        },
        last_observation_at=None if state.last_observation_at is None else min(state.last_observation_at, now),
        throttled_until=min(state.throttled_until, now + THROTTLE_SECONDS),
    )
