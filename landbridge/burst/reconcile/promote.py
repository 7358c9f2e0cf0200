"""Promotion: jobs that would wait too long on-prem may also use cloud partitions, if their data class and budget permit
it."""

from landbridge.burst.model import BurstPolicy, PoolPolicy, Promote, PromotionPolicy, SlurmJob
from landbridge.burst.reconcile import residency
from landbridge.burst.reconcile.budget import hold_usd
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.instances.leases import lease_at_launch
from landbridge.burst.reconcile.observed import Observed


def promote(observed: Observed, changes: Changes) -> None:
    """Promote waiting jobs, the longest waiting first, as far as the budgets permit."""
    if not observed.policy.promotions:
        return
    ledger = changes.ledger.copy()
    pending = [job for job in observed.slurm.jobs.values() if job.state == "PENDING"]
    for job in sorted(pending, key=lambda job: (job.eligible or 0.0, job.id)):
        promotion = next((rule for rule in observed.policy.promotions if rule.partition == job.partition), None)
        if promotion is None or residency.reject_job_if_restricted(observed.policy, job) is not None:
            continue
        # Data are copied before a node is launched; the copy is requested beside the pass (landbridge/burst/staging).
        if observed.slurm.seconds_to_aws is None or observed.slurm.seconds_to_aws.get(job.id, 0.0) != 0.0:
            continue
        backoff = changes.backoffs.get(job.id)
        if backoff is not None and observed.now < backoff.until:
            continue
        wait = reason_to_promote(job, promotion, observed.now)
        if wait is None:
            changes.schedule_pass(promotion.wait_seconds + job.eligible if job.eligible is not None else None)
            continue
        best = _cheapest(observed, changes, promotion, job)
        if best is None:
            continue
        pool, usd = best
        if usd is None and ledger.capped(job.account, pool.name) and not observed.policy.unpriced:
            continue
        if ledger.refusal(job.account, pool.name, usd or 0.0) is None:
            ledger.add(job.account, pool.name, usd or 0.0)
            changes.promotes.append(Promote(job.id, promotion.partitions))
            changes.record("promote", text=wait, jobs=[job.id], pool=pool.name, usd=usd)


def reason_to_promote(job: SlurmJob, promotion: PromotionPolicy, now: float) -> str | None:
    """Return the reason why the job's wait on-prem is too long; None if it is not, by Slurm's data. It does not wait for
    nodes before it is eligible: after its dependencies, holds and begin time."""
    if job.eligible is None:
        return None
    if job.expected_start is not None and job.expected_start > now:
        ahead = job.expected_start - max(now, job.eligible)
        if ahead > promotion.wait_seconds:
            return f"expected to start in {ahead:.0f} s"
        return None
    if now - job.eligible > promotion.wait_seconds:
        return f"has waited {now - job.eligible:.0f} s"
    return None


def _cheapest(
    observed: Observed, changes: Changes, promotion: PromotionPolicy, job: SlurmJob
) -> tuple[PoolPolicy, float | None] | None:
    """Return the pool of the partitions that can serve the job at the lowest cost, and the cost (None: unknown)."""
    pools_of_partitions = [
        observed.policy.pools[name] for name in promotion.partitions if name in observed.policy.pools
    ]
    suitable = [
        pool
        for pool in pools_of_partitions or observed.policy.pools.values()
        if pool.max_nodes >= job.wanted_nodes and pool.name not in changes.state.drained
    ]
    suitable = [pool for pool in suitable if _is_breaker_closed(pool, changes, observed.now)]
    priced = [(pool, worst_case_usd(pool, job, observed.policy, observed.now)) for pool in suitable]
    return min(priced, key=lambda pair: (pair[1] is None, pair[1] or 0.0, pair[0].name), default=None)


def _is_breaker_closed(pool: PoolPolicy, changes: Changes, now: float) -> bool:
    breaker = changes.state.breakers.get(pool.name)
    return breaker is None or breaker.until <= now


def worst_case_usd(pool: PoolPolicy, job: SlurmJob, policy: BurstPolicy, now: float) -> float | None:
    """Return the maximum cost of the job in USD at the cheapest offering of the pool; None if no price is known."""
    prices = [offering.usd_hour for offering in pool.offerings if offering.usd_hour is not None]
    if not prices:
        return None
    lease = lease_at_launch(policy, pool, job.minutes, now)
    return hold_usd(max(1, job.wanted_nodes), min(prices), now, lease)
