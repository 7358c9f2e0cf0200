"""The calls of one launch, written down before they are made: everything in them comes from the attempt, so that the very
same call can be made again."""

from collections.abc import Iterable, Mapping, Sequence

from landbridge.burst.model import Attempt, BurstPolicy, Gang, Offering, PoolPolicy
from landbridge.burst.model.timestamps import iso
from landbridge.burst.reconcile.budget import hold_usd
from landbridge.burst.reconcile.leases import gang_lease
from landbridge.burst.reconcile.residency import data_class_of
from landbridge.burst.reconcile.tokens import client_token
from landbridge.hostlist import compress, expand

TAG_LENGTH = 256  # of a tag's value in EC2


def attempts_for(
    gang: Gang,
    parts: Iterable[tuple[str, ...]],
    offering: Offering,
    pool: PoolPolicy,
    policy: BurstPolicy,
    before: Mapping[tuple[str, ...], int],
    now: float,
) -> tuple[Attempt, ...]:
    """One attempt for each of the parts that `split` made; `before`: how many each had at this offering in this start."""
    lease = gang_lease(gang, policy, pool, now)
    # A start of a job is one occasion; nodes without a job have none but the moment.
    occasion = f"{'.'.join(map(str, gang.restarts))}@{gang.started or 0:.0f}" if gang.jobs else f"@{now:.3f}"
    return tuple(
        Attempt(
            token=client_token(policy.cluster, gang.jobs, occasion, nodes, offering.key, before.get(nodes, 0)),
            gang=gang.key,
            pool=pool.name,
            offering=offering.key,
            nodes=nodes,
            jobs=gang.jobs,
            account=gang.account,
            whole=gang.whole,
            lease=lease,
            created_at=now,
            hold_usd=hold_usd(len(nodes), offering.usd_hour or 0.0, now, lease),
            usd_hour=offering.usd_hour or 0.0,
            data_class=data_class_of(policy, gang.account),
        )
        for nodes in parts
    )


def split(nodes: Iterable[str], most: int) -> list[tuple[str, ...]]:
    """Nodes in the order of their names, in parts that one call launches and one tag names."""
    left = sorted(nodes, key=_natural)
    parts: list[tuple[str, ...]] = []
    at = 0
    while at < len(left):
        count = _fitting(left[at : at + most])
        # An instance finds its name at its index in the tag, so the order is the tag's.
        parts.append(tuple(expand(compress(left[at : at + count]))))
        at += count
    return parts


def _natural(name: str) -> tuple[str, int]:
    prefix = name.rstrip("0123456789")
    return prefix, int(name[len(prefix) :] or 0)


def _fitting(nodes: list[str]) -> int:
    """How many of the first nodes one tag can name."""
    if len(compress(nodes)) <= TAG_LENGTH:
        return len(nodes)
    low, high = 1, len(nodes) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(compress(nodes[:middle])) <= TAG_LENGTH else (low, middle - 1)
    return low


def tags_of(attempt: Attempt, policy: BurstPolicy) -> dict[str, str]:
    """Tags of every instance of a launch. The call adds its own: landbridge:nodes and landbridge:launch."""
    tags = {
        "Name": f"{policy.cluster}-{attempt.pool}-{attempt.jobs[0] if attempt.jobs else 'warm'}"[:TAG_LENGTH],
        "landbridge:cluster": policy.cluster,
        "landbridge:pool": attempt.pool,
        "landbridge:job": job_list(attempt.jobs),
        "landbridge:lease-expires": iso(attempt.lease),
        "landbridge:data-class": attempt.data_class,
        "landbridge:cost-center": policy.cost_center,
        "landbridge:account": attempt.account,
    }
    return {key: value for key, value in tags.items() if value}


def job_list(jobs: Sequence[int]) -> str:
    """As many whole ids as a tag takes."""
    text = ""
    for job in jobs:
        longer = f"{text},{job}" if text else str(job)
        if len(longer) > TAG_LENGTH:
            break
        text = longer
    return text
