"""Journal state after an action's outcome."""

import hashlib
from dataclasses import replace

from landbridge.burst.model import (
    Action,
    ActionOutcome,
    Attempt,
    BurstPolicy,
    CircuitBreaker,
    CommentJob,
    InsufficientCapacity,
    Launch,
    Renew,
    SetAddresses,
    State,
    Terminate,
)
from landbridge.burst.model.errors import ErrorKind, classify
from landbridge.burst.reconcile.clock_skew import JITTER_SHARE, THROTTLE_SECONDS
from landbridge.burst.reconcile.observed import TOKEN_REUSED
from landbridge.burst.reconcile.registration import BOOT_CODE

#: fewer instances than asked for, and EC2 did not say why
FEWER_INSTANCES_CODE = "InsufficientInstanceCapacity"


def apply_outcome(state: State, action: Action, outcome: ActionOutcome, policy: BurstPolicy, now: float) -> State:
    """The journal after `action` has ended with `outcome`. What has failed is decided anew by the next pass."""
    if isinstance(action, Launch):
        return _launch(state, action, outcome, policy, now)
    if isinstance(action, Terminate) and not outcome.code:
        requested = dict.fromkeys(action.instances, now)
        return replace(state, terminated_at={**state.terminated_at, **requested})
    if isinstance(action, SetAddresses) and not outcome.code:
        return replace(state, node_addresses={**state.node_addresses, **action.addresses})
    if isinstance(action, CommentJob) and not outcome.code and action.job in state.backoffs:
        reported = replace(state.backoffs[action.job], reported=True)
        return replace(state, backoffs={**state.backoffs, action.job: reported})
    if isinstance(action, Renew):
        return state  # EC2 shows what the lease is; what is held for it is held either way
    return state


def _launch(state: State, action: Launch, outcome: ActionOutcome, policy: BurstPolicy, now: float) -> State:
    kind = classify(outcome.code) if outcome.code else None
    if kind in (ErrorKind.THROTTLE, ErrorKind.NETWORK):
        state = replace(state, throttled_until=_later(state, now))
    attempts, holds = dict(state.attempts), dict(state.holds)
    complete = all(node in outcome.instances for attempt in action.attempts for node in attempt.nodes)
    for launched_attempt in action.attempts:
        attempt = attempts.get(launched_attempt.token, launched_attempt)
        got = {node: outcome.instances[node] for node in attempt.nodes if node in outcome.instances}
        ended = _ended(attempt, got, outcome.code, kind, complete, now)
        attempts[launched_attempt.token] = ended
        if ended.ended is not None and launched_attempt.token in holds:
            # An instance that outlived the failure of its gang still costs until it is ended.
            share = len(ended.instances) / max(1, len(attempt.nodes))
            if share:
                holds[launched_attempt.token] = replace(holds[launched_attempt.token], usd=attempt.hold_usd * share)
            else:
                del holds[launched_attempt.token]
    state = replace(state, attempts=attempts, holds=holds)
    if complete:
        return _succeeded(state, action)
    if kind in (ErrorKind.CAPACITY, ErrorKind.QUOTA) or (kind is None and not complete):
        return _drought(state, action, outcome, policy, now)
    if kind is ErrorKind.CONFIGURATION and outcome.code != TOKEN_REUSED:
        return _trip(state, action, outcome, policy, now)
    return state


def _ended(
    attempt: Attempt, got: dict[str, str], code: str, kind: ErrorKind | None, complete: bool, now: float
) -> Attempt:
    """Return the attempt with its result; unchanged where the result is unknown."""
    if complete or (got and not attempt.all_or_nothing):
        short = len(got) < len(attempt.nodes)
        return replace(attempt, ended=now, code=(code or FEWER_INSTANCES_CODE) if short else "", instances=got)
    if kind in (ErrorKind.THROTTLE, ErrorKind.NETWORK):
        return attempt
    return replace(attempt, ended=now, code=code or FEWER_INSTANCES_CODE, instances=got)


def _succeeded(state: State, action: Launch) -> State:
    """Clear the offering's and the pool's failures and the jobs' backoffs; registration of its machines is still open."""
    return replace(
        state,
        insufficient_capacity={
            key: value for key, value in state.insufficient_capacity.items() if key != action.offering.key
        },
        breakers={
            pool: value for pool, value in state.breakers.items() if pool != action.gang.pool or value.code == BOOT_CODE
        },
        backoffs={
            # Kept, as their instances may yet fail to boot; but there is nothing to tell any more.
            job: replace(value, reported=True) if job in action.gang.jobs else value
            for job, value in state.backoffs.items()
        },
        throttled_until=0.0,
    )


def _drought(state: State, action: Launch, outcome: ActionOutcome, policy: BurstPolicy, now: float) -> State:
    before = state.insufficient_capacity.get(action.offering.key)
    tries = before.tries + 1 if before else 1
    first, longest = policy.insufficient_capacity_seconds
    seconds = min(longest, first * 2 ** min(tries - 1, 20)) * jitter(f"{action.offering.key}/{tries}")
    fewest = _refused(action, outcome)
    if before is not None and now < before.until:
        fewest = min(fewest, before.nodes)
    shortage = InsufficientCapacity(now + seconds, tries, outcome.code or FEWER_INSTANCES_CODE, fewest)
    return replace(state, insufficient_capacity={**state.insufficient_capacity, action.offering.key: shortage})


def _refused(action: Launch, outcome: ActionOutcome) -> int:
    """For how many nodes in one call the offering had no room; of a batch it would have given one."""
    if not action.gang.all_or_nothing:
        return 1
    refused = [len(attempt.nodes) for attempt in action.attempts if not set(attempt.nodes) <= outcome.instances.keys()]
    return min(refused, default=1)


def jitter(key: str) -> float:
    """A factor that is the same for the same key, and spreads different ones."""
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") / 0xFFFFFFFF
    return 1 - JITTER_SHARE + 2 * JITTER_SHARE * number


def _trip(state: State, action: Launch, outcome: ActionOutcome, policy: BurstPolicy, now: float) -> State:
    before = state.breakers.get(action.gang.pool)
    breaker = CircuitBreaker(
        code=outcome.code,
        message=outcome.message,
        since=before.since if before else now,
        count=before.count + 1 if before else 1,
        until=now + policy.breaker_seconds,
    )
    return replace(state, breakers={**state.breakers, action.gang.pool: breaker})


def _later(state: State, now: float) -> float:
    """Return when the next launch may be tried; each call has had its own repetitions already."""
    return max(state.throttled_until, now + THROTTLE_SECONDS)
