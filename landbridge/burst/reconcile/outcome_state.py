"""What the end of an action means for the journal."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from landbridge.burst.model import (
    Action,
    Attempt,
    Breaker,
    Drought,
    Launch,
    Outcome,
    Policy,
    Renew,
    SetAddresses,
    State,
    Tell,
    Terminate,
)
from landbridge.burst.model.errors import Kind, classify
from landbridge.burst.reconcile.clock_skew import JITTER, THROTTLE
from landbridge.burst.reconcile.observed import USED
from landbridge.burst.reconcile.registration import BOOT

#: fewer instances than asked for, and EC2 did not say why
FEWER = "InsufficientInstanceCapacity"


def absorb(state: State, action: Action, outcome: Outcome, policy: Policy, now: float) -> State:
    """The journal after `action` has ended with `outcome`. What has failed is decided anew by the next pass."""
    if isinstance(action, Launch):
        return _launch(state, action, outcome, policy, now)
    if isinstance(action, Terminate) and not outcome.code:
        return _noted(state, (f"ended:{instance}" for instance in action.instances), now)
    if isinstance(action, SetAddresses) and not outcome.code:
        return _noted(state, (f"address:{node}={ip}" for node, ip in action.addresses.items()), now)
    if isinstance(action, Tell) and not outcome.code and action.job in state.backoffs:
        told = replace(state.backoffs[action.job], told=True)
        return replace(state, backoffs={**state.backoffs, action.job: told})
    if isinstance(action, Renew):
        return state  # EC2 shows what the lease is; what is held for it is held either way
    return state


def _noted(state: State, keys: Iterable[str], now: float) -> State:
    return replace(state, suspects={**state.suspects, **dict.fromkeys(keys, now)})


def _launch(state: State, action: Launch, outcome: Outcome, policy: Policy, now: float) -> State:
    kind = classify(outcome.code) if outcome.code else None
    if kind in (Kind.THROTTLE, Kind.NETWORK):
        state = replace(state, throttled_until=_later(state, now))
    attempts, holds = dict(state.attempts), dict(state.holds)
    complete = all(node in outcome.instances for attempt in action.attempts for node in attempt.nodes)
    for given in action.attempts:
        attempt = attempts.get(given.token, given)
        got = {node: outcome.instances[node] for node in attempt.nodes if node in outcome.instances}
        ended = _ended(attempt, got, outcome.code, kind, complete, now)
        attempts[given.token] = ended
        if ended.ended is not None and given.token in holds:
            # An instance that outlived the failure of its gang still costs until it is ended.
            share = len(ended.instances) / max(1, len(attempt.nodes))
            if share:
                holds[given.token] = replace(holds[given.token], usd=attempt.hold_usd * share)
            else:
                del holds[given.token]
    state = replace(state, attempts=attempts, holds=holds)
    if complete:
        return _succeeded(state, action)
    if kind in (Kind.CAPACITY, Kind.QUOTA) or (kind is None and not complete):
        return _drought(state, action, outcome, policy, now)
    if kind is Kind.CONFIGURATION and outcome.code != USED:
        return _trip(state, action, outcome, policy, now)
    return state


def _ended(attempt: Attempt, got: dict[str, str], code: str, kind: Kind | None, complete: bool, now: float) -> Attempt:
    """The attempt as it ended; unchanged where nobody knows whether it did."""
    if complete or (got and not attempt.whole):
        short = len(got) < len(attempt.nodes)
        return replace(attempt, ended=now, code=(code or FEWER) if short else "", instances=got)
    if kind in (Kind.THROTTLE, Kind.NETWORK):
        return attempt
    return replace(attempt, ended=now, code=code or FEWER, instances=got)


def _succeeded(state: State, action: Launch) -> State:
    """Whatever spoke against the place, the pool and the jobs does no longer; whether its machines join is yet to be seen."""
    return replace(
        state,
        droughts={key: value for key, value in state.droughts.items() if key != action.place.key},
        breakers={
            pool: value for pool, value in state.breakers.items() if pool != action.gang.pool or value.code == BOOT
        },
        backoffs={
            # Kept, as their instances may yet fail to boot; but there is nothing to tell any more.
            job: replace(value, told=True) if job in action.gang.jobs else value
            for job, value in state.backoffs.items()
        },
        throttled_until=0.0,
    )


def _drought(state: State, action: Launch, outcome: Outcome, policy: Policy, now: float) -> State:
    before = state.droughts.get(action.place.key)
    tries = before.tries + 1 if before else 1
    first, longest = policy.drought_seconds
    seconds = min(longest, first * 2 ** min(tries - 1, 20)) * jitter(f"{action.place.key}/{tries}")
    fewest = _refused(action, outcome)
    if before is not None and now < before.until:
        fewest = min(fewest, before.nodes)
    drought = Drought(now + seconds, tries, outcome.code or FEWER, fewest)
    return replace(state, droughts={**state.droughts, action.place.key: drought})


def _refused(action: Launch, outcome: Outcome) -> int:
    """For how many nodes in one call the place had no room; of a batch it would have given one."""
    if not action.gang.whole:
        return 1
    refused = [len(one.nodes) for one in action.attempts if not set(one.nodes) <= outcome.instances.keys()]
    return min(refused, default=1)


def jitter(key: str) -> float:
    """A factor that is the same for the same key, and spreads different ones."""
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") / 0xFFFFFFFF
    return 1 - JITTER + 2 * JITTER * number


def _trip(state: State, action: Launch, outcome: Outcome, policy: Policy, now: float) -> State:
    before = state.breakers.get(action.gang.pool)
    breaker = Breaker(
        code=outcome.code,
        message=outcome.message,
        since=before.since if before else now,
        count=before.count + 1 if before else 1,
        until=now + policy.breaker_seconds,
    )
    return replace(state, breakers={**state.breakers, action.gang.pool: breaker})


def _later(state: State, now: float) -> float:
    """When AWS may be asked to launch again; each call has had its own repetitions already."""
    return max(state.throttled_until, now + THROTTLE)
