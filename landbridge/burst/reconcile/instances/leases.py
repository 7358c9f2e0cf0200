"""Leases of instances: written at launch, renewed while Slurm keeps the node."""

from collections.abc import Sequence

from landbridge.burst.model import BurstPolicy, CloudInstance, Gang, PoolPolicy, SlurmJob, SlurmNode
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.charging import (
    charge,
    charge_rest_to_jobs,
    end_boot,
    extend,
    job_end,
    limit_claims,
    paying_jobs,
)
from landbridge.burst.reconcile.node_states import (
    is_asked_to_power_down,
    is_not_responding,
    is_powered_down,
    is_powering_up,
    is_set_by_operator,
    is_up,
)
from landbridge.burst.reconcile.observed import Observed
from landbridge.timestamps import round_up_to_minute

CLOCK_SET_BACK_SECONDS = 3600.0  # a clock may have been set back by this time since a job was started
#: Seconds before the end of a lease at which jobs that cannot pay for a longer one leave: the next passes renew it for the
#: account that launched the node, before the reaper in AWS ends the instance.
HANDOVER_SECONDS = 60.0
RENEWAL_SHARE = 0.5  # a lease without a fixed end is renewed when less than this share of it remains


def lease_at_launch(policy: BurstPolicy, pool: PoolPolicy, minutes: int | None, now: float) -> float:
    """Return the first lease: boot time, the job's time limit and the grace time; without a limit, `lease_minutes`."""
    length = policy.lease_minutes if minutes is None else minutes + policy.grace_minutes
    return round_up_to_minute(now + pool.boot_seconds + length * 60)


def gang_lease(gang: Gang, policy: BurstPolicy, pool: PoolPolicy, now: float) -> float:
    """Return the first lease of a gang's instances: from its job's start, so that a repeated call has the same
    parameters.

    The journal may be lost between the calls, and a clock may be set back by up to an hour. A job's start outside this
    range is not related to the launch, which then starts now.
    """
    started = gang.started
    is_recent = started is not None and -CLOCK_SET_BACK_SECONDS <= now - started < pool.boot_seconds
    return lease_at_launch(policy, pool, gang.minutes, started if is_recent and started is not None else now)


def needed_until(
    node: SlurmNode, jobs: Sequence[SlurmJob], policy: BurstPolicy, now: float
) -> tuple[float | None, bool]:
    """Return until when Slurm needs the node's instance (None: not needed), and whether this time increases with `now`."""
    job_ends = [end for job in jobs if (end := job_end(job, policy)) is not None]
    is_moving = len(job_ends) < len(jobs) or not jobs
    if is_moving and not (is_not_responding(node) and is_up(node)) and (jobs or not is_asked_to_power_down(node)):
        return max([now + policy.lease_minutes * 60, *job_ends]), True
    return (max(job_ends), False) if job_ends else (None, False)


def renew_leases(observed: Observed, changes: Changes) -> None:
    """Charge running instances to the jobs on their nodes, and renew the leases that are too short for the use of the
    nodes by Slurm or an operator, as far as the budgets permit."""
    for name, instances in observed.living.items():
        node = observed.slurm.nodes.get(name)
        if node is None or name in changes.downed or not _keeps_instance(node):
            continue
        jobs = observed.jobs.get(name, ())
        for instance in instances:
            if instance.id in changes.terminated:
                continue
            unpaid = charge(observed, changes, instance, jobs)
            end_boot(changes, instance)
            if 0 in unpaid:
                changes.down([name], "BUDGET", unpaid[0])
                continue
            for job in jobs:
                if job.id in unpaid:
                    changes.requeue(job, "BUDGET", unpaid[job.id])
            payers = [job for job in paying_jobs(changes, instance, jobs) if job.id not in unpaid]
            if payers or not jobs:
                _renew_instance(observed, changes, instance, node, payers)


def _keeps_instance(node: SlurmNode) -> bool:
    """Return whether Slurm or an operator keeps the node's instance. An operator may examine a node that is down."""
    return is_up(node) or is_powering_up(node) or (is_set_by_operator(node) and not is_powered_down(node))


def _renew_instance(
    observed: Observed, changes: Changes, instance: CloudInstance, node: SlurmNode, jobs: Sequence[SlurmJob]
) -> None:
    lease, policy = instance.lease or 0.0, observed.policy
    until, is_moving = needed_until(node, jobs, policy, observed.now)
    if until is None or until <= observed.now:
        text = "its lease is over, and no job is known that would renew it"
        _expire(observed, changes, instance, lease, text, "ORPHANED")
        return
    slack = RENEWAL_SHARE * policy.lease_minutes * 60 if is_moving else 0.0
    if lease >= until - slack:
        changes.schedule_pass(lease - slack if is_moving else None)
        return
    target = round_up_to_minute(until)
    refusal = extend(changes, instance, target)
    if refusal is None:
        changes.renew(instance, target)
        return
    is_launching_account = refusal.account not in {job.account for job in jobs}
    if jobs and is_launching_account and charge_rest_to_jobs(changes, instance):
        _renew_instance(observed, changes, instance, node, jobs)
        return
    others = [job for job in jobs if job.account != refusal.account]
    if others and len(others) < len(jobs):
        limit_claims(changes, instance, refusal.account)
        _renew_instance(observed, changes, instance, node, others)
        return
    # The jobs may end before their time limit: they stay until the present lease ends.
    if not jobs:
        _expire(observed, changes, instance, lease, refusal.text, "BUDGET")
    elif lease - HANDOVER_SECONDS <= observed.now:
        for job in jobs:
            changes.requeue(job, "BUDGET", refusal.text)
    else:
        changes.schedule_pass(lease - HANDOVER_SECONDS)


def _expire(observed: Observed, changes: Changes, instance: CloudInstance, lease: float, text: str, code: str) -> None:
    jobs = observed.jobs.get(instance.node, ())
    if code == "ORPHANED" and jobs:
        return  # a job over its limit or a wrong clock: the lease guard in AWS terminates it independently
    if lease <= observed.now - (observed.policy.orphan_seconds if code == "ORPHANED" else 0.0):
        changes.down([instance.node], code, text, jobs)
    else:
        changes.schedule_pass(lease)
