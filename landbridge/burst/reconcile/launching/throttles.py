"""Throttled launches: until when calls of a pool wait in the region that throttles them.

EC2 throttles for each account, region and action (EC2 Developer Guide, "Request throttling for the Amazon EC2 API"). Only the
pool whose call was throttled waits, because a call for fewer instances may be accepted. A region that does not answer, or
that refuses the credentials, concerns every pool: its key has no pool.
"""

from dataclasses import replace

from landbridge.burst.model import BurstPolicy, Launch, Offering, State
from landbridge.burst.model.errors import ErrorKind
from landbridge.burst.reconcile.clock_skew import THROTTLE_SECONDS


def _key(offering: Offering, pool: str, policy: BurstPolicy) -> str:
    return f"{offering.region or policy.region}/{pool}"


def throttle(state: State, launch: Launch, kind: ErrorKind, policy: BurstPolicy, now: float) -> State:
    """Return the state in which launches like this one wait, after the retries of its call."""
    key = _key(launch.offering, launch.gang.pool if kind is ErrorKind.THROTTLE else "", policy)
    until = max(state.throttled_until.get(key, 0.0), now + THROTTLE_SECONDS)
    return replace(state, throttled_until={**state.throttled_until, key: until})


def without_throttle(state: State, launch: Launch, policy: BurstPolicy) -> State:
    """Return the state after a launch succeeded: its pool does not wait in its region any more."""
    ended = {_key(launch.offering, pool, policy) for pool in (launch.gang.pool, "")}
    return replace(
        state, throttled_until={key: until for key, until in state.throttled_until.items() if key not in ended}
    )


def throttled_until(state: State, offering: Offering, pool: str, policy: BurstPolicy) -> float:
    """Return until when launches of the pool wait at an offering; a past time if they do not."""
    return max(state.throttled_until.get(_key(offering, name, policy), 0.0) for name in (pool, ""))


def is_throttled(state: State, pool: str, now: float) -> bool:
    """Return whether launches of the pool wait in any region."""
    return any(now < until and key.rpartition("/")[2] in (pool, "") for key, until in state.throttled_until.items())
