"""Attempts of one launch, written to the journal before their calls. All parameters of a call come from its attempt, so
that the same call can be repeated."""

from collections.abc import Iterable, Mapping, Sequence

from landbridge.burst.model import Attempt, BurstPolicy, Gang, Offering, PoolPolicy
from landbridge.burst.model.errors import max_tag_value
from landbridge.burst.reconcile.budget import hold_usd
from landbridge.burst.reconcile.instances.leases import gang_lease
from landbridge.burst.reconcile.launching.tokens import client_token
from landbridge.burst.reconcile.residency import data_class_of
from landbridge.hostlist import compress, expand
from landbridge.tags import ACCOUNT, CLUSTER, COST_CENTER, DATA_CLASS, JOB, LEASE_EXPIRES, NAME, POOL
from landbridge.timestamps import iso


def attempts_for(
    gang: Gang,
    parts: Iterable[tuple[str, ...]],
    offering: Offering,
    pool: PoolPolicy,
    policy: BurstPolicy,
    earlier_attempts: Mapping[tuple[str, ...], int],
    now: float,
) -> tuple[Attempt, ...]:
    """Return one attempt for each part of `split`; `earlier_attempts`: their number by part, at this offering in this
    start."""
    lease = gang_lease(gang, policy, pool, now)
    # The occasion is the start of the job; for nodes without a job, the time.
    occasion = f"{'.'.join(map(str, gang.restarts))}@{gang.started or 0:.0f}" if gang.jobs else f"@{now:.3f}"
    return tuple(
        Attempt(
            token=client_token(
                policy.cluster, gang.jobs, occasion, nodes, offering.key, earlier_attempts.get(nodes, 0)
            ),
            gang=gang.key,
            pool=pool.name,
            offering=offering.key,
            nodes=nodes,
            jobs=gang.jobs,
            account=gang.account,
            all_or_nothing=gang.all_or_nothing,
            lease=lease,
            created_at=now,
            hold_usd=hold_usd(len(nodes), offering.usd_hour or 0.0, now, lease),
            usd_hour=offering.usd_hour or 0.0,
            data_class=data_class_of(policy, gang.account),
        )
        for nodes in parts
    )


def split(nodes: Iterable[str], batch_size: int) -> list[tuple[str, ...]]:
    """Return the nodes in the order of their names, in parts that fit into one call and one tag value."""
    remaining = sorted(nodes, key=_natural)
    parts: list[tuple[str, ...]] = []
    at = 0
    while at < len(remaining):
        count = _fitting(remaining[at : at + batch_size])
        # An instance finds its name at its index in the tag, so the order has to be that of the tag.
        parts.append(tuple(expand(compress(remaining[at : at + count]))))
        at += count
    return parts


def _natural(name: str) -> tuple[str, int]:
    prefix = name.rstrip("0123456789")
    return prefix, int(name[len(prefix) :] or 0)


def _fitting(nodes: list[str]) -> int:
    """Return how many of the first nodes fit into one tag value."""
    if len(compress(nodes)) <= max_tag_value():
        return len(nodes)
    low, high = 1, len(nodes) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(compress(nodes[:middle])) <= max_tag_value() else (low, middle - 1)
    return low


def tags_of(attempt: Attempt, policy: BurstPolicy) -> dict[str, str]:
    """Return the tags of every instance of a launch. The call adds landbridge:nodes and landbridge:launch."""
    tags = {
        NAME: f"{policy.cluster}-{attempt.pool}-{attempt.jobs[0] if attempt.jobs else 'warm'}"[: max_tag_value()],
        CLUSTER: policy.cluster,
        POOL: attempt.pool,
        JOB: job_list(attempt.jobs),
        LEASE_EXPIRES: iso(attempt.lease),
        DATA_CLASS: attempt.data_class,
        COST_CENTER: policy.cost_center,
        ACCOUNT: attempt.account,
    }
    return {key: value for key, value in tags.items() if value}


def job_list(jobs: Sequence[int]) -> str:
    """Return the first job ids, as many as fit into one tag value."""
    text = ""
    for job in jobs:
        longer = f"{text},{job}" if text else str(job)
        if len(longer) > max_tag_value():
            break
        text = longer
    return text
