"""A journal written by a clock that was ahead: nothing in it may lie further in the future than it could have been put."""

from dataclasses import replace

from landbridge.burst.model import BurstPolicy, State

CLOCK_SKEW_SECONDS = 5.0  # seconds that two clocks may differ without meaning anything
BACKOFF_SECONDS = (60.0, 1800.0)
THROTTLE_SECONDS = 5.0
JITTER_SHARE = 0.2


def limit_to_now(state: State, policy: BurstPolicy, now: float) -> State:
    """`state` with what lies in the future brought back, so that nobody waits for a moment that never comes."""
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
        suspects={key: min(at, now) for key, at in state.suspects.items()},
        throttled_until=min(state.throttled_until, now + THROTTLE_SECONDS),
    )
