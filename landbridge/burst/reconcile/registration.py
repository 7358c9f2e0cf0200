"""Registration: launches of which a node does not register with slurmctld, and the circuit breaker that they open.

Each such instance costs until ResumeTimeout, and Slurm tries its job again at once. So the job is told and backed off,
longer after each failure. After a few such launches in a row the pool's breaker opens, as it does for parameters that EC2
refuses: an operator has to check the image, the user data or the link. When a node of a later launch registers, the
failures are forgotten. When the breaker's time is over, one start is let through as a probe and the others wait for its end.
"""

from collections.abc import Iterator
from dataclasses import replace

from landbridge.burst.model import Attempt, CircuitBreaker, RegistrationFailure, SlurmNode
from landbridge.burst.reconcile.changes import REQUEUE_SECONDS, Changes
from landbridge.burst.reconcile.node_states import is_down, is_up
from landbridge.burst.reconcile.observed import REBUILT_GANG, Observed

#: Code of a breaker that registration failures have opened.
BOOT_CODE = "BOOT"
#: Beginnings of the reason that slurmctld gives a node that did not register in time.
SLURMCTLD_REASONS = ("resumetimeout", "resume timeout")
#: Launches in a row with a node that did not register, until the breaker opens.
FAILURES_TO_OPEN_BREAKER = 3


def update_boot_breakers(observed: Observed, changes: Changes) -> None:
    """Record registration failures, and open or close the breakers of their pools."""
    failed: dict[str, list[tuple[Attempt, str]]] = {}
    last_success: dict[str, float] = {}
    for attempt in observed.state.attempts.values():
        pool = attempt.pool
        if attempt.gang == REBUILT_GANG or pool not in observed.policy.pools:
            continue
        for node in _nodes(observed, attempt):
            if is_down(node) and node.reason.lower().startswith(SLURMCTLD_REASONS):
                failed.setdefault(pool, []).append((attempt, node.name))
            elif is_up(node):
                last_success[pool] = max(attempt.created_at, last_success.get(pool, attempt.created_at))
    for pool in observed.policy.pools:
        _update_pool(observed, changes, pool, failed.get(pool, []), last_success.get(pool))


def is_probe_running(observed: Observed, breaker: CircuitBreaker, pool: str) -> bool:
    """Return whether a start that the open breaker let through has not ended yet."""
    return breaker.code == BOOT_CODE and any(
        attempt.pool == pool
        and attempt.created_at >= breaker.until
        and any(observed.is_powering_up(node) for node in attempt.instances)
        for attempt in observed.state.attempts.values()
    )


def _nodes(observed: Observed, attempt: Attempt) -> Iterator[SlurmNode]:
    """Yield the nodes that have, or just had, an instance of the attempt."""
    for name, instance_id in attempt.instances.items():
        node = observed.slurm.nodes.get(name)
        if node is not None and all(instance.id == instance_id for instance in observed.living.get(name, ())):
            yield node


def _update_pool(
    observed: Observed,
    changes: Changes,
    pool: str,
    failed: list[tuple[Attempt, str]],
    last_success: float | None,
) -> None:
    failures = {
        token: failure for token, failure in observed.state.registration_failures.items() if failure.pool == pool
    }
    new = {attempt.token: attempt for attempt, _ in failed if attempt.token not in failures}
    for attempt, node in failed:
        if attempt.token in new:
            _back_off_jobs(observed, changes, attempt, node)
    failures |= {token: RegistrationFailure(pool, attempt.created_at) for token, attempt in new.items()}
    since_success = sorted(
        (failure.launched_at, token)
        for token, failure in failures.items()
        if last_success is None or failure.launched_at > last_success
    )
    latest = [token for _, token in since_success[-FAILURES_TO_OPEN_BREAKER:]]
    changes.registration_failures.update({token: failures[token] for token in latest})
    breaker = changes.state.breakers.get(pool)
    if len(latest) >= FAILURES_TO_OPEN_BREAKER and any(token in new for token in latest):
        nodes = sorted({node for attempt, _ in failed for node in attempt.nodes})
        text = (
            f"nodes of the last {FAILURES_TO_OPEN_BREAKER} launches did not register with slurmctld in time, such as"
            f" {nodes[0]}: check its console output"
        )
        before = breaker if breaker is not None and breaker.code == BOOT_CODE else None
        opened = CircuitBreaker(
            code=BOOT_CODE,
            message=text,
            since=before.since if before else observed.now,
            count=before.count + 1 if before else 1,
            until=observed.now + observed.policy.breaker_seconds,
        )
        _set_breaker(changes, pool, opened)
        changes.record("breaker", BOOT_CODE, text, nodes, pool=pool)
    elif breaker is not None and breaker.code == BOOT_CODE and not latest:
        _set_breaker(changes, pool, None)


def _back_off_jobs(observed: Observed, changes: Changes, attempt: Attempt, node: str) -> None:
    """Back off the jobs that the node was started for: all of a gang, of a batch the node's own."""
    node_job = observed.resumed_for.get(node)
    for job in attempt.jobs:
        if attempt.all_or_nothing or job == node_job:
            changes.back_off(job, BOOT_CODE, f"node {node} did not register with slurmctld in time")
    changes.schedule_pass(observed.now + REQUEUE_SECONDS)


def _set_breaker(changes: Changes, pool: str, breaker: CircuitBreaker | None) -> None:
    breakers = {name: other for name, other in changes.state.breakers.items() if name != pool}
    if breaker is not None:
        breakers[pool] = breaker
    changes.state = replace(changes.state, breakers=breakers)
