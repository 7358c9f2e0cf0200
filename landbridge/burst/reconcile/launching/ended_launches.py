"""Launches that EC2 has accepted, and whose instances it ended before their nodes registered.

RunInstances returns ids, and seconds later an instance is terminated: only its StateReason says why, such as the quota of
volumes, a KMS key without a grant, or capacity. Capacity and quota: the offering is not tried for a time, as after a
refused call, and the next pass takes another one. Other reasons: the offering comes after the others for a time, and
the launch counts as one whose node did not register: three of them in a row open the pool's breaker (`registration`),
with EC2's reason.
Source: EC2 User Guide, 'Troubleshoot Amazon EC2 instance launch issues' (2026-11-29).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from landbridge.burst.model import (
    Attempt,
    BurstPolicy,
    Ec2View,
    InstanceEnd,
    RegistrationFailure,
    SlurmView,
    State,
)
from landbridge.burst.model.errors import ErrorKind, classify, is_requested_end
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.instances.registration import FAILURES_TO_OPEN_BREAKER, open_boot_breaker
from landbridge.burst.reconcile.node_states import is_up
from landbridge.burst.reconcile.observed import Observed
from landbridge.burst.reconcile.outcome_state import with_insufficient_capacity

#: Kinds of ends for which another offering may have what this one lacks.
SHORTAGES = (ErrorKind.CAPACITY, ErrorKind.QUOTA)


@dataclass(frozen=True, slots=True)
class EndedLaunch:
    """Instance that EC2 ended before its node registered."""

    attempt: Attempt
    node: str
    instance: str
    end: InstanceEnd

    @property
    def has_failed(self) -> bool:
        """Return whether EC2 gave a reason for which a launch fails: nobody asked for the end."""
        return bool(self.end.code) and not is_requested_end(self.end.code)


def is_shortage(reason: str) -> bool:
    """Return whether an instance ended for lack of capacity or a quota: another offering may have it. `reason`: its code,
    perhaps with the message."""
    return classify(reason.partition(":")[0]) in SHORTAGES


def expected_instances(state: State) -> frozenset[str]:
    """Return the ids of launched instances that the controller has not terminated."""
    return frozenset(key for key in state.holds if key not in state.attempts and key not in state.terminated_at)


def ended_launches(slurm: SlurmView, ec2: Ec2View | None, state: State) -> tuple[EndedLaunch, ...]:
    """Return the launched instances that EC2 has ended since the last pass, and whose nodes have not registered."""

    def without_node() -> Iterator[EndedLaunch]:
        for attempt in state.attempts.values():
            for node, instance in attempt.instances.items():
                slurm_node, hold = slurm.nodes.get(node), state.holds.get(instance)
                is_booting = hold is not None and hold.registered is None
                if instance in ended and is_booting and not (slurm_node is not None and is_up(slurm_node)):
                    yield EndedLaunch(attempt, node, instance, ended[instance])

    ended = ec2.ended if ec2 is not None else {}
    return tuple(without_node()) if ended else ()


def record_ends(state: State, launches: tuple[EndedLaunch, ...], policy: BurstPolicy, now: float) -> State:
    """Return the state with the reasons, the offerings that are not tried for a time, and the failures to register."""
    attempts, failures = dict(state.attempts), dict(state.registration_failures)
    for launch in launches:
        token = launch.attempt.token
        if launch.end.code:
            attempts[token] = replace(attempts[token], ends={**attempts[token].ends, launch.node: launch.end.text})
        if launch.has_failed:
            state = _not_tried_for_a_time(state, launch, policy, now)
            if not is_shortage(launch.end.code):
                failures[token] = RegistrationFailure(launch.attempt.pool, launch.attempt.created_at)
    return replace(state, attempts=attempts, registration_failures=failures)


def _not_tried_for_a_time(state: State, launch: EndedLaunch, policy: BurstPolicy, now: float) -> State:
    """Return the state in which the offering waits; the ends of one launch, or of launches at the same time, are one
    failure.

    It waits for ResumeTimeout at least: one start tries each offering once, and the job's next start begins with another.
    """
    attempt, end = launch.attempt, launch.end
    nodes = len(attempt.nodes) if attempt.all_or_nothing else 1
    before = state.insufficient_capacity.get(attempt.offering)
    if not attempt.offering or (before is not None and now < before.until and before.nodes <= nodes):
        return state
    pool = policy.pools.get(attempt.pool)
    shortest = pool.resume_timeout if pool is not None else 0.0
    return with_insufficient_capacity(state, attempt.offering, end.code, nodes, policy, now, end.message, shortest)


def report_ends(observed: Observed, changes: Changes, launches: tuple[EndedLaunch, ...]) -> None:
    """Record the ends as decisions, and open the breaker of a pool whose last launches all failed so."""
    for launch in launches:
        attempt, end = launch.attempt, launch.end
        text = f"EC2 ended the instance: {end.message}" if end.message else "EC2 ended the instance"
        changes.record("ended", end.code, text, [launch.node], attempt.jobs, attempt.pool, instances=[launch.instance])
    for pool in dict.fromkeys(launch.attempt.pool for launch in launches):
        counted = [token for token, failure in changes.registration_failures.items() if failure.pool == pool]
        causes = [launch for launch in launches if launch.attempt.token in counted]
        if causes and len(counted) >= FAILURES_TO_OPEN_BREAKER:
            cause = causes[-1]
            text = (
                f"nodes of the last {FAILURES_TO_OPEN_BREAKER} launches did not register: EC2 ended their instances, such"
                f" as that of {cause.node}: {cause.end.text}"
            )
            open_boot_breaker(observed, changes, pool, text, [cause.node])
