"""Registration: launches of which a node does not register with slurmctld, and the circuit breaker that they open.

Each such instance costs money until ResumeTimeout, and Slurm tries its job again at once. So the job gets a comment and
a backoff that increases with each failure. After a few such launches in a row the pool's breaker opens, as it does for
parameters that EC2 refuses: an operator has to check the image, the user data or the link. When a node of a later
launch registers, the failures are deleted. A node that its health checks drain within ResumeTimeout of its launch counts
as a failure, not as registered: otherwise expectations that no instance fulfils would launch one after the other. When the breaker's time has expired, one start is launched as a probe and
the others wait for its end.
"""

from collections.abc import Iterator
from dataclasses import replace

from landbridge.burst.model import Attempt, CircuitBreaker, RegistrationFailure, SlurmNode
from landbridge.burst.reconcile.changes import REQUEUE_SECONDS, Changes
from landbridge.burst.reconcile.node_states import OUR_REASON, is_down, is_unhealthy, is_up
from landbridge.burst.reconcile.observed import REBUILT_GANG, Observed

#: Code of a breaker that registration failures have opened.
BOOT_CODE = "BOOT"
#: Prefixes of the reason that slurmctld sets on a node that did not register in time.
SLURMCTLD_REASONS = ("resumetimeout", "resume timeout")
#: Prefixes of the reason that a node sets on itself before slurmd, and what has failed (roles node_verify, node_actions).
REFUSED_REASONS = {
    "landbridge: image:": "its check before slurmd failed",
    "landbridge: action:": "a script of its pool failed before slurmd",
}
#: Launches in a row with a node that did not register, until the breaker opens.
FAILURES_TO_OPEN_BREAKER = 3


def update_boot_breakers(observed: Observed, changes: Changes) -> None:
    """Record registration failures, and open or close the breakers of their pools."""
    failed: dict[str, list[tuple[Attempt, SlurmNode]]] = {}
    last_success: dict[str, float] = {}
    for attempt in observed.state.attempts.values():
        pool = attempt.pool
        if attempt.gang == REBUILT_GANG or pool not in observed.policy.pools:
            continue
        for node in _nodes(observed, attempt):
            if is_down(node) and node.reason.lower().startswith((*SLURMCTLD_REASONS, *REFUSED_REASONS)):
                failed.setdefault(pool, []).append((attempt, node))
            elif is_unhealthy(node):
                if observed.now - attempt.created_at <= observed.policy.pools[pool].resume_timeout:
                    failed.setdefault(pool, []).append((attempt, node))
            elif is_up(node):
                last_success[pool] = max(attempt.created_at, last_success.get(pool, attempt.created_at))
    for pool in observed.policy.pools:
        _update_pool(observed, changes, pool, failed.get(pool, []), last_success.get(pool))


def is_probe_running(observed: Observed, breaker: CircuitBreaker, pool: str) -> bool:
    """Return whether a start that the open breaker permitted as a probe has not ended yet."""
    return breaker.code == BOOT_CODE and any(
        attempt.pool == pool
        and attempt.created_at >= breaker.until
        and any(observed.is_powering_up(node) for node in attempt.instances)
        for attempt in observed.state.attempts.values()
    )


def _nodes(observed: Observed, attempt: Attempt) -> Iterator[SlurmNode]:
    """Yield the nodes that have an instance of the attempt, or had one a short time ago.

    An instance that its node has powered off is not in the attempt any more: the node's reason is the trace of it.
    """
    for name, instance_id in attempt.instances.items():
        node = observed.slurm.nodes.get(name)
        if node is not None and all(instance.id == instance_id for instance in observed.living.get(name, ())):
            yield node
    for name in attempt.nodes:
        node = observed.slurm.nodes.get(name)
        if name in attempt.instances or node is None or not _has_refused(node) or observed.has(name):
            continue
        attempts = (other for other in observed.state.attempts.values() if name in other.nodes)
        if max(attempts, key=lambda other: other.created_at) is attempt:
            yield node


def _update_pool(
    observed: Observed,
    changes: Changes,
    pool: str,
    failed: list[tuple[Attempt, SlurmNode]],
    last_success: float | None,
) -> None:
    failures = {
        token: failure for token, failure in observed.state.registration_failures.items() if failure.pool == pool
    }
    new_failures = {attempt.token: attempt for attempt, _ in failed if attempt.token not in failures}
    for attempt, node in failed:
        if attempt.token in new_failures:
            _back_off_jobs(observed, changes, attempt, node)
    failures |= {token: RegistrationFailure(pool, attempt.created_at) for token, attempt in new_failures.items()}
    since_success = sorted(
        (failure.launched_at, token)
        for token, failure in failures.items()
        if last_success is None or failure.launched_at > last_success
    )
    latest = [token for _, token in since_success[-FAILURES_TO_OPEN_BREAKER:]]
    changes.registration_failures.update({token: failures[token] for token in latest})
    breaker = changes.state.breakers.get(pool)
    if len(latest) >= FAILURES_TO_OPEN_BREAKER and any(token in new_failures for token in latest):
        nodes = sorted({node for attempt, _ in failed for node in attempt.nodes})
        text = (
            f"nodes of the last {FAILURES_TO_OPEN_BREAKER} launches did not register with slurmctld in time, such as"
            f" {nodes[0]}: check its console output"
        )
        refused = next((node for _, node in failed if _has_own_reason(node)), None)
        if refused is not None:
            text = (
                f"nodes of the last {FAILURES_TO_OPEN_BREAKER} launches did not join, such as {refused.name}:"
                f" {_reason(refused)}"
            )
        open_boot_breaker(observed, changes, pool, text, nodes)
    elif breaker is not None and breaker.code == BOOT_CODE and not latest:
        _set_breaker(changes, pool, None)


def open_boot_breaker(observed: Observed, changes: Changes, pool: str, text: str, nodes: list[str]) -> None:
    """Open a pool's breaker for launches whose nodes did not register; one that is open stays open for longer."""
    breaker = changes.state.breakers.get(pool)
    previous = breaker if breaker is not None and breaker.code == BOOT_CODE else None
    open_breaker = CircuitBreaker(
        code=BOOT_CODE,
        message=text,
        since=previous.since if previous else observed.now,
        count=previous.count + 1 if previous else 1,
        until=observed.now + observed.policy.breaker_seconds,
    )
    _set_breaker(changes, pool, open_breaker)
    changes.record("breaker", BOOT_CODE, text, nodes, pool=pool)


def _has_refused(node: SlurmNode) -> bool:
    return node.reason.lower().startswith(tuple(REFUSED_REASONS))


def _has_own_reason(node: SlurmNode) -> bool:
    """Return whether a check on the node has set its reason."""
    return _has_refused(node) or is_unhealthy(node)


def _reason(node: SlurmNode) -> str:
    """Return the text of a failed registration, for a job's comment and a breaker."""
    for prefix, failure in REFUSED_REASONS.items():
        if node.reason.lower().startswith(prefix):
            return f"{failure}: {node.reason[len(prefix) :].strip()}"
    if is_unhealthy(node):
        return f"its health checks drained it: {node.reason.removeprefix(OUR_REASON).strip()}"
    return "did not register with slurmctld in time"


def _back_off_jobs(observed: Observed, changes: Changes, attempt: Attempt, node: SlurmNode) -> None:
    """Back off the jobs for which the node was launched: all jobs of a gang; for a batch, the node's own job."""
    node_job = observed.resumed_for.get(node.name)
    for job in attempt.jobs:
        if attempt.all_or_nothing or job == node_job:
            changes.back_off(job, BOOT_CODE, f"node {node.name}{':' if _has_own_reason(node) else ''} {_reason(node)}")
    changes.schedule_pass(observed.now + REQUEUE_SECONDS)


def _set_breaker(changes: Changes, pool: str, breaker: CircuitBreaker | None) -> None:
    breakers = {name: other for name, other in changes.state.breakers.items() if name != pool}
    if breaker is not None:
        breakers[pool] = breaker
    changes.state = replace(changes.state, breakers=breakers)
