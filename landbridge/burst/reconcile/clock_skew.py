"""A journal written by a clock that was ahead: nothing in it may lie further in the future than it could have been put."""

from dataclasses import replace

from landbridge.burst.model import Policy, State

SKEW = 5.0  # seconds that two clocks may differ without meaning anything
BACKOFF = (60.0, 1800.0)
THROTTLE = 5.0
JITTER = 0.2


def sane(state: State, policy: Policy, now: float) -> State:
    """`state` with what lies in the future brought back, so that nobody waits for a moment that never comes."""
    latest = now + SKEW
    return replace(
        state,
        # Orders are hints; one from the future would speak against every instance launched until then.
        orders=tuple(order for order in state.orders if order.at <= latest),
        attempts={
            token: replace(
                attempt,
                made=min(attempt.made, now) if attempt.made > latest else attempt.made,
                ended=now if attempt.ended is not None and attempt.ended > latest else attempt.ended,
            )
            if max(attempt.made, attempt.ended or 0.0) > latest
            else attempt
            for token, attempt in state.attempts.items()
        },
        droughts={
            key: replace(drought, until=min(drought.until, now + policy.drought_seconds[1] * (1 + JITTER)))
            for key, drought in state.droughts.items()
        },
        breakers={
            pool: replace(b, until=min(b.until, now + policy.breaker_seconds), since=min(b.since, now))
            for pool, b in state.breakers.items()
        },
        holds={token: replace(hold, made=now) if hold.made > latest else hold for token, hold in state.holds.items()},
        backoffs={
            job: replace(backoff, until=min(backoff.until, now + BACKOFF[1])) for job, backoff in state.backoffs.items()
        },
        suspects={key: min(at, now) for key, at in state.suspects.items()},
        throttled_until=min(state.throttled_until, now + THROTTLE),
    )
