"""Journal state after an action's outcome."""

import hashlib
from dataclasses import replace

from landbridge.burst.model import (
    Action,
    ActionOutcome,
    Attempt,
    Backoff,
    BurstPolicy,
    CircuitBreaker,
    CommentJobs,
    InsufficientCapacity,
    KeepNodes,
    Launch,
    Offering,
    Promote,
    ReadStatuses,
    RecordTopology,
    Renew,
    SetAddresses,
    State,
    Terminate,
)
from landbridge.burst.model.errors import ErrorKind, classify, is_end_code
from landbridge.burst.reconcile.clock_skew import BACKOFF_SECONDS, JITTER_SHARE
from landbridge.burst.reconcile.instances.instance_status import record_statuses
from landbridge.burst.reconcile.instances.keeps import record_keeps
from landbridge.burst.reconcile.instances.refused_terminations import record_termination
from landbridge.burst.reconcile.instances.registration import BOOT_CODE
from landbridge.burst.reconcile.launching.throttles import throttle, without_throttle

#: Code for a response with fewer instances than requested and without an error.
FEWER_INSTANCES_CODE = "InsufficientInstanceCapacity"
#: Code of a job whose promotion job_submit.lua refuses: its workload class does not run in AWS.
CLASS_CODE = "CLASS"
#: Words of scontrol's error for a change that job_submit.lua refuses (ESLURM_ACCESS_DENIED in slurm_errno.c), and the
#: prefix of the script's own message.
_REFUSED_CHANGE = ("Access/permission denied", "landbridge:")


def apply_outcome(state: State, action: Action, outcome: ActionOutcome, policy: BurstPolicy, now: float) -> State:
    """Return the journal state after `action` with `outcome`. The next pass decides again about a failed action."""
    if isinstance(action, Launch):
        return _launch(state, action, outcome, policy, now)
    if isinstance(action, Terminate):
        return record_termination(state, action, outcome, now)
    if isinstance(action, SetAddresses) and not outcome.code:
        return replace(state, node_addresses={**state.node_addresses, **action.addresses})
    if isinstance(action, CommentJobs):
        reported = {job: replace(state.backoffs[job], reported=True) for job in outcome.jobs if job in state.backoffs}
        return replace(state, backoffs={**state.backoffs, **reported}) if reported else state
    if isinstance(action, RecordTopology):
        return replace(state, topology_read={**state.topology_read, **outcome.instances})
    if isinstance(action, KeepNodes):
        return record_keeps(state, action, outcome)
    if isinstance(action, ReadStatuses):
        return record_statuses(state, action, outcome, policy, now)
    if isinstance(action, Renew):
        return _renewed(state, action, outcome)
    if isinstance(action, Promote) and any(words in outcome.message for words in _REFUSED_CHANGE):
        return _with_refused_promotion(state, action, outcome, now)
    return state


def _with_refused_promotion(state: State, action: Promote, outcome: ActionOutcome, now: float) -> State:
    """Back off from a job whose promotion Slurm refuses.

    The back-off counts as reported: the comment would also set the job's StartTime, and it may start on-prem at any
    time.
    """
    before = state.backoffs.get(action.job)
    tries = before.tries if before is not None else 0
    until = now + min(BACKOFF_SECONDS[1], BACKOFF_SECONDS[0] * 2 ** min(tries, 10))
    backoff = Backoff(until, tries + 1, CLASS_CODE, outcome.message, reported=True)
    return replace(state, backoffs={**state.backoffs, action.job: backoff})


def _renewed(state: State, action: Renew, outcome: ActionOutcome) -> State:
    """End the holds at the leases that the renewal has extended: none after a refusal. After a call without an answer the
    request stays held.

    A call is repeated after a time-out, and the repetition may be refused: then EC2 shows the longer lease to the next
    pass.
    """
    if outcome.code and classify(outcome.code) is ErrorKind.NETWORK:
        return state
    holds = dict(state.holds)
    for instance in action.instances:
        hold = holds.get(instance)
        if hold is not None and hold.requested_until is not None:
            until = hold.until if outcome.code else action.until
            holds[instance] = replace(hold, until=until, requested_until=None)
    return replace(state, holds=holds)


def _launch(state: State, action: Launch, outcome: ActionOutcome, policy: BurstPolicy, now: float) -> State:
    kind = classify(outcome.code) if outcome.code else None
    if kind is not None and kind.is_transient:
        state = throttle(state, action, kind, policy, now)
    attempts, holds = dict(state.attempts), dict(state.holds)
    is_complete = all(node in outcome.instances for attempt in action.attempts for node in attempt.nodes)
    launched = {**outcome.instances, **outcome.terminated}
    terminated_at = {**state.terminated_at, **dict.fromkeys(outcome.terminated.values(), now)}
    for launched_attempt in action.attempts:
        attempt = attempts.get(launched_attempt.token, launched_attempt)
        instances = {node: launched[node] for node in attempt.nodes if node in launched}
        ended = _ended(attempt, instances, outcome.code, kind, is_complete, now)
        attempts[launched_attempt.token] = ended
        if ended.ended is not None and (hold := holds.pop(ended.token, None)) is not None:
            # An instance of a failed gang costs money until it is terminated.
            hold = replace(hold, nodes=1, instance_type=action.offering.instance_type)
            ended_hold = replace(hold, until=now)
            holds |= {id_: ended_hold if id_ in terminated_at else hold for id_ in ended.instances.values()}
    state = replace(state, attempts=attempts, holds=holds, terminated_at=terminated_at)
    if is_complete:
        return _succeeded(without_throttle(state, action, policy), action)
    if kind in (ErrorKind.CAPACITY, ErrorKind.QUOTA) or (kind is None and not is_complete):
        return _record_insufficient_capacity(state, action, outcome, policy, now)
    if kind is ErrorKind.CONFIGURATION:
        return _record_configuration_error(state, action, outcome, policy, now)
    return state


def _ended(
    attempt: Attempt, instances: dict[str, str], code: str, kind: ErrorKind | None, is_complete: bool, now: float
) -> Attempt:
    """Return the attempt with its result; unchanged if the result is unknown."""
    if is_complete or (instances and not attempt.all_or_nothing):
        is_partial = len(instances) < len(attempt.nodes)
        return replace(
            attempt, ended=now, code=(code or FEWER_INSTANCES_CODE) if is_partial else "", instances=instances
        )
    if kind is not None and kind.is_transient:
        return attempt
    return replace(attempt, ended=now, code=code or FEWER_INSTANCES_CODE, instances=instances)


def _succeeded(state: State, action: Launch) -> State:
    """Clear the offering's and the pool's failures and the jobs' backoffs; its instances have not registered yet.

    The record of an offering that EC2 accepted before and whose instances it ended is kept, so that the waits increase.
    """
    return replace(
        state,
        insufficient_capacity={
            key: value
            for key, value in state.insufficient_capacity.items()
            if key != action.offering.key or is_end_code(value.code)
        },
        breakers={
            pool: value for pool, value in state.breakers.items() if pool != action.gang.pool or value.code == BOOT_CODE
        },
        backoffs={
            # Kept, as the instances may still fail to boot; the jobs need no comment any more.
            job: replace(value, reported=True) if job in action.gang.jobs else value
            for job, value in state.backoffs.items()
        },
    )


def _record_insufficient_capacity(
    state: State, action: Launch, outcome: ActionOutcome, policy: BurstPolicy, now: float
) -> State:
    code, fewest = outcome.code or FEWER_INSTANCES_CODE, _refused(action, outcome)
    return with_insufficient_capacity(state, action.offering.key, code, fewest, policy, now)


def with_insufficient_capacity(
    state: State,
    offering: str,
    code: str,
    nodes: int,
    policy: BurstPolicy,
    now: float,
    message: str = "",
    shortest: float = 0.0,
) -> State:
    """Return the state in which the offering is not tried for `nodes` or more nodes, for a time of at least `shortest`
    seconds that doubles with each failure."""
    before = state.insufficient_capacity.get(offering)
    tries = before.tries + 1 if before else 1
    first, longest = policy.insufficient_capacity_seconds
    seconds = max(shortest, min(longest, first * 2 ** min(tries - 1, 20)) * jitter(f"{offering}/{tries}"))
    fewest = min(nodes, before.nodes) if before is not None and now < before.until else nodes
    shortage = InsufficientCapacity(now + seconds, tries, code, fewest, message)
    return replace(state, insufficient_capacity={**state.insufficient_capacity, offering: shortage})


def _refused(action: Launch, outcome: ActionOutcome) -> int:
    """Return the smallest number of nodes in one call that was refused; 1 for a batch, which a single instance serves."""
    if not action.gang.all_or_nothing:
        return 1
    refused = [len(attempt.nodes) for attempt in action.attempts if not set(attempt.nodes) <= outcome.instances.keys()]
    return min(refused, default=1)


def jitter(key: str) -> float:
    """Return a factor in 1 ± JITTER_SHARE that depends only on the key."""
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") / 0xFFFFFFFF
    return 1 - JITTER_SHARE + 2 * JITTER_SHARE * number


def _record_configuration_error(
    state: State, action: Launch, outcome: ActionOutcome, policy: BurstPolicy, now: float
) -> State:
    """Do not try the offering until the time of a breaker; open the pool's breaker if EC2 has refused all its offerings.

    An error can concern one market, zone or reservation only, such as a missing service-linked role for spot.
    """
    before = state.insufficient_capacity.get(action.offering.key)
    refusal = InsufficientCapacity(now + policy.breaker_seconds, before.tries + 1 if before else 1, outcome.code)
    refusals = {**state.insufficient_capacity, action.offering.key: refusal}
    state = replace(state, insufficient_capacity=refusals)
    offerings = policy.pools[action.gang.pool].offerings
    is_refused = all(
        is_misconfigured(refusals.get(offering.key), now) or _is_shut(offering, now) for offering in offerings
    )
    return _open_breaker(state, action, outcome, policy, now) if is_refused else state


def is_misconfigured(refusal: InsufficientCapacity | None, now: float) -> bool:
    """Return whether EC2 refused the offering a short time ago because of its parameters or missing permissions."""
    return refusal is not None and now < refusal.until and classify(refusal.code) is ErrorKind.CONFIGURATION


def _is_shut(offering: Offering, now: float) -> bool:
    """Return whether the offering's time window has not begun or has ended."""
    return (offering.opens is not None and now < offering.opens) or (
        offering.closes is not None and offering.closes <= now
    )


def _open_breaker(state: State, action: Launch, outcome: ActionOutcome, policy: BurstPolicy, now: float) -> State:
    before = state.breakers.get(action.gang.pool)
    breaker = CircuitBreaker(
        code=outcome.code,
        message=outcome.message,
        since=before.since if before else now,
        count=before.count + 1 if before else 1,
        until=now + policy.breaker_seconds,
    )
    return replace(state, breakers={**state.breakers, action.gang.pool: breaker})
