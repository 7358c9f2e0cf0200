"""Charges of running instances: the jobs on a node pay for it, whichever account launched it.

Jobs that share a node pay by their GPUs on it, or by their CPUs if none of them has a GPU; a job without a GPU pays beside
others as one with one GPU: it takes CPUs and memory. Slurm shows the sum over a job's nodes, which counts as even. Time without a job, and the rest of a lease after its jobs, is the launching
account's. A job whose account's hard cap refuses its share is requeued (`BUDGET`): the node is healthy, and stays for the
other jobs and the account that launched it. No job ends for the cap of another account.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from landbridge.burst.model import BudgetHold, BurstPolicy, Claim, CloudInstance, SlurmJob
from landbridge.burst.reconcile.budget import committed, spend
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.observed import Observed

#: Smaller differences are errors of floating-point sums.
SMALLEST_USD = 1e-6


@dataclass(frozen=True, slots=True)
class Refusal:
    """Refusal of a charge by a hard cap that holds for the account."""

    account: str
    text: str


def job_end(job: SlurmJob, policy: BurstPolicy) -> float | None:
    """Return until when the job may need its nodes; None without a time limit or before its start."""
    if job.started is None or job.minutes is None:
        return None
    return job.started + (job.minutes + policy.grace_minutes) * 60


def charge(observed: Observed, changes: Changes, instance: CloudInstance, jobs: Sequence[SlurmJob]) -> dict[int, str]:
    """Charge the instance to the jobs on its node from their start on, and without a job to the launching account.

    Return the jobs for which the hard cap of their account does not pay (any more), with the cap's text; 0: the node has
    no job, and its launching account cannot pay. The accounts that have paid so far pay until the next pass.
    """
    hold = changes.holds.get(instance.id)
    if hold is None or (not jobs and instance.node in observed.held):
        return {}  # a launch whose result is not known, or a job that is leaving the node
    claims = tuple(
        Claim(job.id, job.account, job_end(job, observed.policy), weight)
        for job, weight in _weights(sorted(jobs, key=lambda job: job.id))
    )
    account, since = instance.account, _time_of_change(hold, jobs, observed)
    refused: dict[str, str] = {}
    while (claims, account) != (hold.claims, hold.account):
        changed = replace(hold, since=since, claims=claims, account=account)
        refusal = _transfer(changes, instance.id, hold, changed, observed.now)
        if refusal is None:
            break
        if refusal.account in {claim.account for claim in claims}:
            known = () if refusal.account in refused else hold.claims
            present = {job.id for job in jobs}
            earlier = (claim for claim in known if claim.account == refusal.account and claim.job in present)
            others = (claim for claim in claims if claim.account != refusal.account)
            claims = tuple(sorted((*others, *earlier), key=lambda claim: claim.job))
            refused[refusal.account] = refusal.text
        elif jobs and account == instance.account:
            account = _last_payer(hold)  # the rest of the lease stays where it is
        elif jobs:
            break
        else:
            return {0: refusal.text}
        if not claims:
            break
    paid = {claim.job for claim in claims if claim.end is None or claim.end > observed.now}
    return {job.id: refused[job.account] for job in jobs if job.account in refused and job.id not in paid}


def _weights(jobs: Sequence[SlurmJob]) -> Iterator[tuple[SlurmJob, float]]:
    """Yield the jobs of a node with their GPUs on it, or their CPUs if none has a GPU; at least 1, also if not known."""
    has_gpus = any(job.gpus for job in jobs)
    for job in jobs:
        yield job, max(1.0, (job.gpus if has_gpus else job.cpus) / max(1, len(job.nodes)))


def end_boot(changes: Changes, instance: CloudInstance) -> None:
    """Record the end of an instance's boot: the first pass that sees its node registered."""
    hold = changes.holds.get(instance.id)
    if hold is not None and hold.registered is None and not changes.observed.is_powering_up(instance.node):
        changes.holds[instance.id] = replace(hold, registered=changes.observed.now)


def paying_jobs(changes: Changes, instance: CloudInstance, jobs: Sequence[SlurmJob]) -> list[SlurmJob]:
    """Return the jobs that pay for the instance; all of them if its launch is not known."""
    hold = changes.holds.get(instance.id)
    return [job for job in jobs if hold is None or job.id in {claim.job for claim in hold.claims}]


def extend(changes: Changes, instance: CloudInstance, until: float) -> Refusal | None:
    """Hold the cost of an instance until its lease is renewed to `until`; return a refusal by a hard cap."""
    hold = changes.holds.get(instance.id)
    if hold is None:
        return None
    now = changes.observed.now
    longer = replace(hold, until=hold.end, requested_until=until)
    before, after = committed(hold, now), committed(longer, now)
    added: dict[str, float] = {}
    for account in sorted(after):
        usd = after[account] - before.get(account, 0.0)
        text = changes.ledger.refusal(account, hold.pool, usd) if usd > SMALLEST_USD else None
        if text is not None:
            _add(changes, hold.pool, {name: -part for name, part in added.items()})
            return Refusal(account, text)
        _add(changes, hold.pool, {account: usd})
        added[account] = usd
    changes.holds[instance.id] = longer
    return None


def charge_rest_to_jobs(changes: Changes, instance: CloudInstance) -> bool:
    """Charge the rest of the lease after the jobs to the job that ends last; return whether its account may pay that.

    A lease ends with a whole minute, so it is longer than its jobs: none of them ends because the launching account may
    not pay the rest.
    """
    hold = changes.holds[instance.id]
    changed = replace(hold, since=max(hold.since, changes.observed.now), account=_last_payer(hold))
    return (
        changed.account != hold.account and _transfer(changes, instance.id, hold, changed, changes.observed.now) is None
    )


def limit_claims(changes: Changes, instance: CloudInstance, account: str) -> None:
    """End the claims of an account with the present lease: a longer one is for the other jobs on the node."""
    hold = changes.holds[instance.id]
    claims = tuple(
        claim._replace(end=hold.end if claim.end is None else min(claim.end, hold.end))
        if claim.account == account
        else claim
        for claim in hold.claims
    )
    changes.holds[instance.id] = replace(hold, claims=claims)


def _time_of_change(hold: BudgetHold, jobs: Sequence[SlurmJob], observed: Observed) -> float:
    """Return since when the jobs differ: since the start of a new one, else since now. A start before a clock was set
    forward has the earlier time."""
    now, clock = observed.now, observed.state.clock
    jump = max(0.0, clock.jump) if clock is not None else 0.0
    known = {claim.job for claim in hold.claims}
    starts = [job.started + jump for job in jobs if job.id not in known and job.started is not None]
    return max(hold.since, min([now, *starts])) if hold.since < now else hold.since


def _transfer(changes: Changes, key: str, hold: BudgetHold, changed: BudgetHold, now: float) -> Refusal | None:
    """Replace a hold by one that charges other accounts; return a refusal by the hard cap of one that gets more."""
    before, after = committed(hold, now), committed(changed, now)
    for account, usd in hold.charges(hold.since, changed.since).items():
        after[account] = after.get(account, 0.0) + usd
    more = {account: after.get(account, 0.0) - before.get(account, 0.0) for account in (*before, *after)}
    for account, usd in sorted(more.items()):
        text = changes.ledger.account_refusal(account, usd) if usd > SMALLEST_USD else None
        if text is not None:
            return Refusal(account, text)
    _add(changes, hold.pool, more)
    changes.charges += spend(changes.spent, hold, changed.since)
    changes.holds[key] = changed
    return None


def _add(changes: Changes, pool: str, usd_by_account: dict[str, float]) -> None:
    for account, usd in usd_by_account.items():
        changes.ledger.add(account, pool, usd)


def _last_payer(hold: BudgetHold) -> str:
    """Return the account of the claim that ends last."""
    ends = [(claim.end is None, claim.end or 0.0, claim.account) for claim in hold.claims]
    return max(ends)[2] if ends else hold.account
