"""Leases of instances: written at launch, renewed while Slurm keeps the node."""

from collections.abc import Sequence

from landbridge.burst.model import BurstPolicy, CloudInstance, Gang, PoolPolicy, SlurmJob, SlurmNode
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.node_states import is_asked_to_power_down, is_not_responding, is_powering_up, is_up
from landbridge.burst.reconcile.observed import Observed
from landbridge.timestamps import round_up_to_minute

CLOCK_SET_BACK_SECONDS = 3600.0  # seconds that a clock may have been set back by since a job was started
RENEWAL_SHARE = 0.5  # of a lease without a fixed end: renewed when less than this is left


def lease_at_launch(policy: BurstPolicy, pool: PoolPolicy, minutes: int | None, now: float) -> float:
    """The first lease: boot, the job's limit and the grace; without a limit, a lease's length."""
    length = policy.lease_minutes if minutes is None else minutes + policy.grace_minutes
    return round_up_to_minute(now + pool.boot_seconds + length * 60)


def gang_lease(gang: Gang, policy: BurstPolicy, pool: PoolPolicy, now: float) -> float:
    """Return the first lease of a gang's instances: from its job's start, so that a repeated call has the same parameters.

    A journal may be lost in between, and a clock be set back by up to an hour. A start that is long past, or further ahead than
    that, says nothing about what is launched now.
    """
    started = gang.started
    fresh = started is not None and -CLOCK_SET_BACK_SECONDS <= now - started < pool.boot_seconds
    return lease_at_launch(policy, pool, gang.minutes, started if fresh and started is not None else now)


def needed_until(
    node: SlurmNode, jobs: Sequence[SlurmJob], policy: BurstPolicy, now: float
) -> tuple[float | None, bool]:
    """Return until when Slurm needs the node's instance, and whether that moves with time. None: not needed."""
    fixed = [
        job.started + (job.minutes + policy.grace_minutes) * 60
        for job in jobs
        if job.started is not None and job.minutes is not None
    ]
    moving = len(fixed) < len(jobs) or not jobs
    if moving and not (is_not_responding(node) and is_up(node)) and (jobs or not is_asked_to_power_down(node)):
        return max([now + policy.lease_minutes * 60, *fixed]), True
    return (max(fixed), False) if fixed else (None, False)


def renew_leases(observed: Observed, changes: Changes) -> None:
    """Move the leases that are too short for what Slurm does with the nodes, as far as budgets let them."""
    for name, instances in observed.living.items():
        node = observed.slurm.nodes.get(name)
        if node is None or name in changes.downed or not (is_up(node) or is_powering_up(node)):
            continue
        jobs = observed.jobs.get(name, ())
        until, moving = needed_until(node, jobs, observed.policy, observed.now)
        for instance in instances:
            if instance.id not in changes.terminated:
                _one(observed, changes, instance, jobs, until, moving)


def _one(
    observed: Observed,
    changes: Changes,
    instance: CloudInstance,
    jobs: Sequence[SlurmJob],
    until: float | None,
    moving: bool,
) -> None:
    lease = instance.lease or 0.0
    if until is None or until <= observed.now:
        _expire(
            observed, changes, instance, lease, "its lease is over, and no job is known that would renew it", "ORPHANED"
        )
        return
    slack = RENEWAL_SHARE * observed.policy.lease_minutes * 60 if moving else 0.0
    if lease >= until - slack:
        changes.schedule_pass(lease - slack if moving else None)
        return
    target = round_up_to_minute(until)
    refusal = changes.extend(instance, target)
    if refusal is None:
        changes.renew(instance.id, target)
        return
    # It may end before its limit does: it has what is paid for already.
    _expire(observed, changes, instance, lease, refusal, "BUDGET")


def _expire(observed: Observed, changes: Changes, instance: CloudInstance, lease: float, text: str, code: str) -> None:
    jobs = observed.jobs.get(instance.node, ())
    if code == "ORPHANED" and jobs:
        return  # it runs over its limit, or a clock is wrong: who enforces leases ends it, independently
    if lease <= observed.now - (observed.policy.orphan_seconds if code == "ORPHANED" else 0.0):
        changes.down([instance.node], code, text, jobs)
    else:
        changes.schedule_pass(lease)
