"""Start of a job on nodes in AWS: whether its data may be there, whether its account pays, and whether its nodes are up
and together. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from landbridge.burst.model import BurstPolicy, Ec2View, State
from landbridge.burst.reconcile.apart import is_left_apart
from landbridge.burst.reconcile.locations import are_apart, describe, locate_by_journal
from landbridge.burst.reconcile.observed import ALIVE, pools_of
from landbridge.burst.reconcile.residency import reject_if_restricted

#: Not POWER_DOWN: Slurm powers such a node down when it has no job, and starts this one (power_save.c,
#: _node_state_suspendable; job_mgr.c, test_job_nodes_ready).
NOT_UP = frozenset({"POWERING_UP", "POWER_UP", "POWERED_DOWN", "POWERING_DOWN", "NOT_RESPONDING", "UNKNOWN"})
#: IDLE: slurmctld has requeued the job and taken its node back (a node is ALLOCATED or MIXED before the program of its
#: job starts). With idle_on_node_suspend a node that is set down is DOWN for a second only (power_save.c), which a query
#: may miss; the job would not start again before this program ends.
LOST = frozenset({"DOWN", "FAIL", "INVALID_REG", "IDLE"})


@dataclass(frozen=True, slots=True)
class JobStart:
    """Start of a job, as PrologSlurmctld gets it from slurmctld."""

    job: str
    nodes: tuple[str, ...]
    account: str
    wckey: str = ""


def verdict(states: Iterable[frozenset[str]]) -> str:
    """Return `up` when every node is up, `down` when one is lost, else `wait`."""
    node_states = list(states)
    if any(state & LOST for state in node_states):
        return "down"
    return "wait" if not node_states or any(state & NOT_UP for state in node_states) else "up"


def cloud_nodes(start: JobStart, policy: BurstPolicy) -> tuple[str, ...]:
    """Return the job's nodes in AWS."""
    return tuple(pools_of(start.nodes, policy))


def refusal(start: JobStart, policy: BurstPolicy) -> str | None:
    """Return the reason why the job may not start on any node in AWS; None if it may or if none of its nodes is there."""
    return reject_if_restricted(policy, start.account, start.wckey) if cloud_nodes(start, policy) else None


def refused_regions(start: JobStart, policy: BurstPolicy) -> dict[str, str]:
    """Return the regions that its nodes may be in and the job may not, each with the reason."""
    pools = pools_of(start.nodes, policy).values()
    regions = {offering.region for pool in pools for offering in pool.offerings if offering.region}
    reasons = {region: reject_if_restricted(policy, start.account, start.wckey, region) for region in sorted(regions)}
    return {region: reason for region, reason in reasons.items() if reason is not None}


def refusal_in_regions(nodes: Iterable[str], refused: Mapping[str, str], regions: Mapping[str, str]) -> str | None:
    """Return the reason why a job may not start on running nodes in `regions`; a node without an entry is refused."""
    for node in nodes if refused else ():
        if node not in regions:
            return f"the region of {node} is not known, and the job may not be in {', '.join(sorted(refused))}"
        if regions[node] in refused:
            return refused[regions[node]]
    return None


def regions_of_nodes(state: State, ec2: Ec2View | None, policy: BurstPolicy) -> dict[str, str]:
    """Return the regions of nodes by their last launch in the journal, or by EC2 for those that it shows."""
    offerings = {offering.key: offering.region for pool in policy.pools.values() for offering in pool.offerings}
    regions: dict[str, str] = {}
    for attempt in sorted(state.attempts.values(), key=lambda attempt: attempt.created_at):
        if attempt.offering in offerings:
            regions.update(dict.fromkeys(attempt.instances, offerings[attempt.offering] or policy.region))
    for instance in ec2.instances if ec2 is not None else ():
        if instance.node and instance.state in ALIVE:
            regions[instance.node] = instance.region or policy.region
    return regions


def has_hard_budget(start: JobStart, policy: BurstPolicy) -> bool:
    """Return whether the job is on nodes in AWS, and its account has a hard budget."""
    account = policy.accounts.get(start.account)
    is_limited = account is not None and account.hard and account.monthly_usd is not None
    return is_limited and bool(cloud_nodes(start, policy))


def refusal_by_budget(start: JobStart, state: State, policy: BurstPolicy) -> str | None:
    """Return the reason why the account does not pay for the job, by the journal of a pass that has seen the job; None if
    it pays on each node: for the job, or for the instance, which it launched."""
    number = int(start.job) if start.job.isdigit() else 0
    for node in cloud_nodes(start, policy):
        keys = {
            key
            for token, attempt in state.attempts.items()
            for key in (attempt.instances.get(node), token if node in attempt.nodes else None)
        }
        holds = [hold for key, hold in state.holds.items() if key in keys]
        if not any(hold.account == start.account or number in {claim.job for claim in hold.claims} for hold in holds):
            backoff = state.backoffs.get(number)
            return backoff.text if backoff is not None else f"account {start.account} does not pay for {node} yet"
    return None


def reason_to_hold(
    start: JobStart, up_at: float, journal: tuple[float, State] | None, policy: BurstPolicy
) -> str | None:
    """Return the reason why a job on nodes that are up since `up_at` waits: they are apart by their launches in the
    journal, and no pass that began since has recorded that it stays there. None if it may start.

    `journal`: of the latest pass, with its begin; None before the first pass, whose journal may show them apart.
    """
    pools = pools_of(start.nodes, policy)
    offerings = [
        offering for pool in {pool.name: pool for pool in pools.values()}.values() for offering in pool.offerings
    ]
    if len(pools) < 2 or len({(offering.zone, offering.instance_type) for offering in offerings}) < 2:
        return None
    if journal is None:
        return "the zones of its nodes are not known before the first pass"
    began, state = journal
    locations = locate_by_journal(state, policy, pools)
    if not are_apart(locations, pools) or (
        began >= up_at and start.job.isdigit() and is_left_apart(state, int(start.job))
    ):
        return None
    return f"its nodes are in {describe(locations)}"
