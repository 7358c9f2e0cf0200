"""Until when instances may live without anybody asking again: written at launch, renewed while Slurm keeps the node."""

from collections.abc import Sequence

from landbridge.burst.model import Gang, Instance, Job, Node, Policy, Pool
from landbridge.burst.model.timestamps import minute_up
from landbridge.burst.reconcile.changes import Draft
from landbridge.burst.reconcile.node_states import asked_to_leave, is_up, rising, silent
from landbridge.burst.reconcile.observed import Survey

SET_BACK = 3600.0  # seconds that a clock may have been set back by since a job was started
ENOUGH = 0.5  # of a lease without a fixed end: renewed when less than this is left


def at_launch(policy: Policy, pool: Pool, minutes: int | None, now: float) -> float:
    """The first lease: boot, the job's limit and the grace; without a limit, a lease's length."""
    length = policy.lease_minutes if minutes is None else minutes + policy.grace_minutes
    return minute_up(now + pool.boot_seconds + length * 60)


def of_gang(gang: Gang, policy: Policy, pool: Pool, now: float) -> float:
    """The first lease of a gang's instances: from its job's start, so that whoever asks again makes the very same call.

    A journal may be lost in between, and a clock be set back by up to an hour. A start that is long past, or further ahead than
    that, says nothing about what is launched now.
    """
    started = gang.started
    fresh = started is not None and -SET_BACK <= now - started < pool.boot_seconds
    return at_launch(policy, pool, gang.minutes, started if fresh and started is not None else now)


def wanted(node: Node, jobs: Sequence[Job], policy: Policy, now: float) -> tuple[float | None, bool]:
    """Until when the node's instance has to live, and whether that moves with time. None: nobody asks for it."""
    fixed = [
        job.started + (job.minutes + policy.grace_minutes) * 60
        for job in jobs
        if job.started is not None and job.minutes is not None
    ]
    moving = len(fixed) < len(jobs) or not jobs
    if moving and not (silent(node) and is_up(node)) and (jobs or not asked_to_leave(node)):
        return max([now + policy.lease_minutes * 60, *fixed]), True
    return (max(fixed), False) if fixed else (None, False)


def renew(found: Survey, draft: Draft) -> None:
    """Move the leases that are too short for what Slurm does with the nodes, as far as budgets let them."""
    for name, instances in found.living.items():
        node = found.slurm.nodes.get(name)
        if node is None or name in draft.downed or not (is_up(node) or rising(node)):
            continue
        jobs = found.jobs.get(name, ())
        until, moving = wanted(node, jobs, found.policy, found.now)
        for instance in instances:
            if instance.id not in draft.ended:
                _one(found, draft, instance, jobs, until, moving)


def _one(
    found: Survey, draft: Draft, instance: Instance, jobs: Sequence[Job], until: float | None, moving: bool
) -> None:
    lease = instance.lease or 0.0
    if until is None or until <= found.now:
        _expire(found, draft, instance, lease, "its lease is over, and no job is known that would renew it", "ORPHANED")
        return
    slack = ENOUGH * found.policy.lease_minutes * 60 if moving else 0.0
    if lease >= until - slack:
        draft.due(lease - slack if moving else None)
        return
    target = minute_up(until)
    refusal = draft.extend(instance, target)
    if refusal is None:
        draft.renew(instance.id, target)
        return
    # It may end before its limit does: it has what is paid for already.
    _expire(found, draft, instance, lease, refusal, "BUDGET")


def _expire(found: Survey, draft: Draft, instance: Instance, lease: float, text: str, code: str) -> None:
    jobs = found.jobs.get(instance.node, ())
    if code == "ORPHANED" and jobs:
        return  # it runs over its limit, or a clock is wrong: who enforces leases ends it, independently
    if lease <= found.now - (found.policy.orphan_seconds if code == "ORPHANED" else 0.0):
        draft.down([instance.node], code, text, jobs)
    else:
        draft.due(lease)
