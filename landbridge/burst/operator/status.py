"""Status of nodes, instances and pools, for the operator. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge.burst.model import BurstPolicy, CloudInstance, Ec2View, PoolPolicy, SlurmJob, SlurmNode, State
from landbridge.burst.reconcile.instances.scheduled_event import scheduled_event
from landbridge.burst.reconcile.launching.spot_order import is_failed_launch
from landbridge.burst.reconcile.locations import are_apart, describe, locate_by_journal
from landbridge.burst.reconcile.node_states import is_down, is_powered_down, is_set_by_operator
from landbridge.burst.reconcile.observed import pools_of, token_of
from landbridge.timestamps import iso, month_of


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """Status of a node, of an instance, or of both. `remark` is empty if the two agree; `notice`: what EC2 or an operator has
    announced for the node."""

    node: str
    slurm: str
    instance: str
    state: str
    address: str
    jobs: tuple[int, ...]
    lease_expires: str
    remark: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class OfferingWithoutCapacity:
    """Offering with insufficient capacity, which is not tried before `until`."""

    offering: str
    code: str
    until: str


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """Status of a pool. `spent_usd` and `held_usd` are this month's; `breaker`: the reason why nothing is launched."""

    name: str
    instances: int
    max_nodes: int
    spent_usd: float
    held_usd: float
    drained: str | None = None
    breaker: str | None = None
    breaker_until: str | None = None
    dry: tuple[OfferingWithoutCapacity, ...] = ()


@dataclass(frozen=True, slots=True)
class JobApart:
    """Job whose nodes are in several zones or have several instance types."""

    job: int
    locations: str  # p5.48xlarge/use1-az4 (3), p5.48xlarge/use1-az6 (1)


def jobs_apart(jobs: Mapping[int, SlurmJob], state: State, policy: BurstPolicy) -> list[JobApart]:
    """Return the jobs whose nodes are apart by the launches in the journal."""
    pools = pools_of({node for job in jobs.values() for node in job.nodes}, policy)
    known = locate_by_journal(state, policy, pools)
    located = {job.id: {node: known[node] for node in job.nodes if node in known} for job in jobs.values()}
    return [JobApart(job, describe(nodes)) for job, nodes in sorted(located.items()) if are_apart(nodes, pools)]


def node_statuses(
    instances: tuple[CloudInstance, ...], nodes: Mapping[str, SlurmNode], state: State, policy: BurstPolicy
) -> list[NodeStatus]:
    """Return a row for every instance, and for every powered-up node without an instance."""
    prices = {token: attempt.usd_hour for token, attempt in state.attempts.items()}
    named = [instance.node for instance in instances]
    rows: list[NodeStatus] = []
    for instance in sorted(instances, key=lambda key: (key.node, key.id)):
        node, usd_hour = nodes.get(instance.node), prices.get(token_of(instance), 0.0)
        remark = _remark(instance, node, named.count(instance.node) > 1, usd_hour, state)
        rows.append(_row(instance, node, remark, node_notice(instance.node, instance, state, policy)))
    for name, node in sorted(nodes.items()):
        if name not in named and not is_powered_down(node):
            remark = "node boots without an instance" if "POWERING_UP" in node.states else "node without instance"
            rows.append(NodeStatus(name, _words(node), "", "", "", (), "", remark))
    return rows


def node_notice(name: str, instance: CloudInstance | None, state: State, policy: BurstPolicy) -> str:
    """Return failed status checks and the scheduled event of the instance, and the keep of the node; empty without them."""
    status = state.instance_statuses.get(instance.id) if instance is not None else None
    parts: list[str] = []
    if instance is not None and status is not None:
        if event := scheduled_event(instance, status, state, policy):
            parts.append(f"EC2 has scheduled {event}")
        if status.impaired:
            parts.append(f"EC2's status check of the {' and the '.join(status.impaired)} fails")
    if (keep := state.keeps.get(name)) is not None:
        parts.append(f"not suspended before {iso(keep.until)}, {keep.by}: {keep.reason}")
    return "; ".join(parts)


def unread_statuses(state: State) -> list[str]:
    """Return a line for each region whose instances' statuses could not be read the last time."""
    return [
        f"status checks and scheduled events{f' in {region}' if region else ''} are not known since "
        f"{iso(read.read_at) if read.read_at is not None else 'the start'}: {read.code}"
        for region, read in sorted(state.status_reads.items())
        if read.code
    ]


def pool_statuses(policy: BurstPolicy, state: State, ec2: Ec2View | None, now: float) -> list[PoolStatus]:
    """Return the status of every pool, sorted by name."""
    return [_pool(pool, state, ec2, now) for _, pool in sorted(policy.pools.items())]


def account_spending(state: State, now: float) -> dict[str, tuple[float, float]]:
    """Return spent and held USD of this month by account. Nodes without a job have the empty account."""
    month, spending = month_of(now), dict[str, tuple[float, float]]()
    for (spent_month, account, _), usd in state.spent.items():
        if spent_month == month:
            spent, held = spending.get(account, (0.0, 0.0))
            spending[account] = spent + usd, held
    for hold in state.holds.values():
        for account, usd in hold.charges(hold.since, hold.end).items():
            spent, held = spending.get(account, (0.0, 0.0))
            spending[account] = spent, held + usd
    for job in state.training_jobs.values():
        spent, held = spending.get(job.account, (0.0, 0.0))
        spending[job.account] = spent, held + job.held_usd
    return dict(sorted(spending.items()))


def _row(instance: CloudInstance, node: SlurmNode | None, remark: str, notice: str) -> NodeStatus:
    return NodeStatus(
        instance.node,
        _words(node) if node is not None else "",
        instance.id,
        instance.state,
        instance.address,
        instance.jobs,
        iso(instance.lease) if instance.lease is not None else "",
        remark,
        notice,
    )


def _remark(instance: CloudInstance, node: SlurmNode | None, twice: bool, usd_hour: float, state: State) -> str:
    """Return how an instance and its node disagree; empty if they agree."""
    price = f" for {usd_hour:,.2f} USD an hour" if usd_hour else ""
    if (refusal := state.termination_refusals.get(instance.id)) is not None:
        return f"EC2 refuses to terminate it{price}: {refusal.code}"
    if not instance.node:
        return "instance without name"
    if twice:
        return "several instances of this node"
    if node is None:
        return "no such node in Slurm"
    if is_powered_down(node):
        return "instance of a node that is powered down"
    if is_set_by_operator(node):
        return f"an operator keeps it{price}: {node.reason or 'no reason given'}"
    if is_down(node):
        return f"node is down: {node.reason}" if node.reason else "node is down"
    return ""


def _words(node: SlurmNode) -> str:
    return "+".join(sorted(node.states))


def _pool(pool: PoolPolicy, state: State, ec2: Ec2View | None, now: float) -> PoolStatus:
    month, breaker = month_of(now), state.breakers.get(pool.name)
    shortages = [
        (offering.key, state.insufficient_capacity[offering.key])
        for offering in pool.offerings
        if offering.key in state.insufficient_capacity
    ]
    return PoolStatus(
        name=pool.name,
        instances=sum(instance.pool == pool.name for instance in ec2.instances) if ec2 is not None else 0,
        max_nodes=pool.max_nodes,
        spent_usd=sum(
            usd for (spent_month, _, name), usd in state.spent.items() if name == pool.name and spent_month == month
        ),
        held_usd=sum(hold.usd for hold in state.holds.values() if hold.pool == pool.name),
        drained=state.drained.get(pool.name),
        breaker=f"{breaker.code}: {breaker.message}".removesuffix(": ") if breaker is not None else None,
        breaker_until=iso(breaker.until) if breaker is not None else None,
        dry=tuple(
            OfferingWithoutCapacity(key, shortage.code, iso(shortage.until))
            for key, shortage in shortages
            if shortage.until > now and not is_failed_launch(shortage)
        ),
    )
