"""Jobs that would wait too long at home may also use the partitions with cloud nodes: those whose data and budget allow it."""

from landbridge.burst.model import Job, Policy, Pool, Promote, Promotion
from landbridge.burst.reconcile import residency
from landbridge.burst.reconcile.budget import hold_usd
from landbridge.burst.reconcile.changes import Draft
from landbridge.burst.reconcile.leases import at_launch
from landbridge.burst.reconcile.observed import Survey


def promote(found: Survey, draft: Draft) -> None:
    """Let waiting jobs in, the longest waiting first, as far as money goes."""
    if not found.policy.promotions:
        return
    ledger = draft.ledger.copy()
    pending = [job for job in found.slurm.jobs.values() if job.state == "PENDING"]
    for job in sorted(pending, key=lambda job: (job.submitted or 0.0, job.id)):
        promotion = next((one for one in found.policy.promotions if one.partition == job.partition), None)
        if promotion is None or residency.refused(found.policy, job) is not None:
            continue
        backoff = draft.backoffs.get(job.id)
        if backoff is not None and found.now < backoff.until:
            continue
        wait = waits(job, promotion, found.now)
        if wait is None:
            draft.due(promotion.wait_seconds + job.submitted if job.submitted is not None else None)
            continue
        best = _cheapest(found, draft, promotion, job)
        if best is None:
            continue
        pool, usd = best
        if usd is None and ledger.capped(job.account, pool.name) and not found.policy.unpriced:
            continue
        if ledger.refusal(job.account, pool.name, usd or 0.0) is None:
            ledger.add(job.account, pool.name, usd or 0.0)
            draft.promotes.append(Promote(job.id, promotion.partitions))
            draft.record("promote", text=wait, jobs=[job.id], pool=pool.name, usd=usd)


def waits(job: Job, promotion: Promotion, now: float) -> str | None:
    """Why the job's wait at home is too long; None: it is not, as far as anybody knows."""
    if job.expected_start is not None and job.expected_start > now:
        ahead = job.expected_start - now
        if ahead > promotion.wait_seconds:
            return f"expected to start in {ahead:.0f} s"
        return None
    if job.submitted is not None and now - job.submitted > promotion.wait_seconds:
        return f"has waited {now - job.submitted:.0f} s"
    return None


def _cheapest(found: Survey, draft: Draft, promotion: Promotion, job: Job) -> tuple[Pool, float | None] | None:
    """The pool of the partitions that can serve the job at the least cost, and that cost (None: not known)."""
    named = [found.policy.pools[name] for name in promotion.partitions if name in found.policy.pools]
    able = [
        pool
        for pool in named or found.policy.pools.values()
        if pool.max_nodes >= job.wanted_nodes and pool.name not in draft.state.drained
    ]
    able = [pool for pool in able if _works(pool, draft, found.now)]
    priced = [(pool, worst(pool, job, found.policy, found.now)) for pool in able]
    return min(priced, key=lambda pair: (pair[1] is None, pair[1] or 0.0, pair[0].name), default=None)


def _works(pool: Pool, draft: Draft, now: float) -> bool:
    breaker = draft.state.breakers.get(pool.name)
    return breaker is None or breaker.until <= now


def worst(pool: Pool, job: Job, policy: Policy, now: float) -> float | None:
    """The most that the job can cost at the cheapest of the pool's places."""
    prices = [place.usd_hour for place in pool.places if place.usd_hour is not None]
    if not prices:
        return None
    lease = at_launch(policy, pool, job.minutes, now)
    return hold_usd(max(1, job.wanted_nodes), min(prices), now, lease)
