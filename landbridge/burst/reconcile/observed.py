"""Observed state of a pass: Slurm, EC2 and journal joined by node. Built once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from landbridge.burst.model import (
    Attempt,
    BurstPolicy,
    CloudInstance,
    Ec2View,
    Offering,
    PoolPolicy,
    SlurmJob,
    SlurmView,
    State,
)
from landbridge.burst.reconcile.clock_skew import CLOCK_SKEW_SECONDS
from landbridge.burst.reconcile.node_states import is_heard, is_powering_up

ALIVE = frozenset({"pending", "running"})
ON_NODES = frozenset({"CONFIGURING", "RUNNING", "SUSPENDED"})
#: Code for a token that a lost journal has used: its launch was not refused.
TOKEN_REUSED = "IdempotentParameterMismatch"
FORGOTTEN = "FORGOTTEN"  # an attempt whose result stays unknown
REBUILT_GANG = ""  # the gang of an attempt that was rebuilt from instances


@dataclass(frozen=True, slots=True)
class Observed:
    """Observed state at `now`.

    `living`: the pending and running instances of a node, without `stale` ones (of an earlier power-up) and `doubtful`
    ones (perhaps of an earlier power-up); if EC2 shows none and slurmctld hears the node, the one of the journal. `unseen`:
    attempts of the other launched instances that EC2 does not show (yet), by node.
    `open`: attempts whose result is unknown, by node. `resumed_for`: the job of the last call of ResumeProgram, by
    node. `held`: nodes with any job. `started`: nodes with a running or suspended job.
    """

    now: float
    policy: BurstPolicy
    slurm: SlurmView
    ec2: Ec2View | None
    state: State
    pools: Mapping[str, PoolPolicy]
    jobs: Mapping[str, tuple[SlurmJob, ...]]
    held: frozenset[str]
    started: frozenset[str]
    living: Mapping[str, tuple[CloudInstance, ...]]
    stale: tuple[CloudInstance, ...]
    doubtful: tuple[CloudInstance, ...]
    unseen: Mapping[str, Attempt]
    open: Mapping[str, Attempt]
    offerings: Mapping[str, Offering]
    resumed_for: Mapping[str, int]

    def has(self, node: str) -> bool:
        """Return whether the node has an instance: shown by EC2, launched a short time ago, or of a node that slurmctld
        hears."""
        return node in self.living or node in self.unseen

    def region_of(self, node: str) -> str:
        """Return the region of the node's instance; empty for the policy's own region, or if unknown."""
        for instance in self.living.get(node, ()):
            if instance.region:
                return instance.region
        offering = self.offerings.get(self.unseen[node].offering) if node in self.unseen else None
        return offering.region if offering is not None else ""

    def launching_accounts(self, node: str) -> set[str]:
        """Return the accounts for whose jobs the node's instances were launched; "" is an instance for no job."""
        unseen = {self.unseen[node].account} if node in self.unseen else set()
        return {instance.account for instance in self.living.get(node, ())} | unseen

    def is_powering_up(self, node: str) -> bool:
        """Return whether Slurm powers the node up, and it has not registered.

        Jobs are read after nodes: a node with a running job has registered in between.
        """
        slurm_node = self.slurm.nodes.get(node)
        return slurm_node is not None and node in self.pools and is_powering_up(slurm_node) and node not in self.started


def observe(slurm: SlurmView, ec2: Ec2View | None, state: State, policy: BurstPolicy, now: float) -> Observed:
    """Join the views and the journal by node."""
    pools = pools_of(slurm.nodes, policy)
    jobs: dict[str, list[SlurmJob]] = {}
    held: set[str] = set()
    started: set[str] = set()
    for job in sorted(slurm.jobs.values(), key=lambda job: job.id):
        for name in job.nodes:
            if name in pools and job.state != "PENDING":
                held.add(name)
                if job.state in ON_NODES:
                    jobs.setdefault(name, []).append(job)
                    if job.state != "CONFIGURING":
                        started.add(name)
    suspended_at = given_up_at(state)
    shown_ids = {*(instance.id for instance in ec2.instances), *ec2.ended} if ec2 else set()
    unseen = _unseen(slurm, state, shown_ids, suspended_at, ec2 is None, policy, now)
    living, stale, doubtful = _instances(slurm, ec2, state, pools, jobs, started, suspended_at, unseen)
    offerings = {offering.key: offering for pool in policy.pools.values() for offering in pool.offerings}
    hidden = {
        node: _of_journal(node, attempt, offerings[attempt.offering], state)
        for node, attempt in (unseen.items() if ec2 else ())
        if node in pools and is_heard(slurm.nodes[node]) and node not in living and attempt.offering in offerings
    }
    living |= {node: (instance,) for node, instance in hidden.items()}
    return Observed(
        now=now,
        policy=policy,
        slurm=slurm,
        ec2=ec2,
        state=state,
        pools=pools,
        jobs={name: tuple(node_jobs) for name, node_jobs in jobs.items()},
        held=frozenset(held),
        started=frozenset(started),
        living=living,
        stale=stale,
        doubtful=doubtful,
        unseen={node: attempt for node, attempt in unseen.items() if node not in hidden},
        open={node: attempt for attempt in state.attempts.values() if attempt.ended is None for node in attempt.nodes},
        offerings=offerings,
        resumed_for=_resumed_for(state),
    )


def pools_of(nodes: Iterable[str], policy: BurstPolicy) -> dict[str, PoolPolicy]:
    """Return the pool of every node that has one, found by node prefix (faster than a test of all pools)."""
    prefixes: dict[str, list[PoolPolicy]] = {}
    for pool in policy.pools.values():
        prefixes.setdefault(pool.node_prefix, []).append(pool)
    lengths = sorted({len(prefix) for prefix in prefixes})
    pool_of_node: dict[str, PoolPolicy] = {}
    for node in nodes:
        for length in lengths:
            owner = next((pool for pool in prefixes.get(node[:length], ()) if pool.owns(node)), None)
            if owner is not None:
                pool_of_node[node] = owner
                break
    return pool_of_node


def given_up_at(state: State) -> dict[str, float]:
    """Return when Slurm last suspended each node, from the orders in the journal."""
    suspended_at: dict[str, float] = {}
    for order in state.orders:
        if order.kind in ("suspend", "resume-fail"):
            for node in order.nodes:
                suspended_at[node] = max(order.at, suspended_at.get(node, 0.0))
    return suspended_at


def _resumed_for(state: State) -> dict[str, int]:
    last: dict[str, int] = {}
    for order in sorted(state.orders, key=lambda order: order.seq):
        if order.kind == "resume":
            for node in order.nodes:
                last.pop(node, None)
            last.update((node, job) for job, nodes in order.jobs.items() for node in nodes)
    return last


def _instances(
    slurm: SlurmView,
    ec2: Ec2View | None,
    state: State,
    pools: Mapping[str, PoolPolicy],
    jobs: Mapping[str, list[SlurmJob]],
    started: set[str],
    suspended_at: Mapping[str, float],
    unseen: Mapping[str, Attempt],
) -> tuple[dict[str, tuple[CloudInstance, ...]], tuple[CloudInstance, ...], tuple[CloudInstance, ...]]:
    living: dict[str, list[CloudInstance]] = {}
    stale: list[CloudInstance] = []
    doubtful: list[CloudInstance] = []
    for instance in ec2.instances if ec2 else ():
        node = slurm.nodes.get(instance.node)
        if instance.state not in ALIVE or terminated_at(state, instance.id) is not None or instance.node not in pools:
            continue
        if _is_replaced(instance, state, unseen):
            stale.append(instance)
        elif node is None or not is_powering_up(node) or instance.node in started:
            living.setdefault(instance.node, []).append(instance)
        elif _is_stale(instance, state, suspended_at):
            stale.append(instance)
        elif _older_than_its_jobs(instance, state, jobs.get(instance.node, ())):
            doubtful.append(instance)
        else:
            living.setdefault(instance.node, []).append(instance)
    return {node: tuple(instances) for node, instances in living.items()}, tuple(stale), tuple(doubtful)


def _is_replaced(instance: CloudInstance, state: State, unseen: Mapping[str, Attempt]) -> bool:
    """Return whether EC2 has refused to terminate the instance, and its node has a later one that EC2 may not show yet.

    The node may have registered with the later one already.
    """
    later = unseen.get(instance.node) if instance.id in state.termination_refusals else None
    return later is not None and later.created_at > launched_at(instance, state)


def _is_stale(instance: CloudInstance, state: State, suspended_at: Mapping[str, float]) -> bool:
    """Return whether Slurm has suspended the node since the launch, the instance belongs to a failed gang, or EC2 has
    refused to terminate it.

    Slurm does not report when a power-up began.
    """
    if instance.id in state.termination_refusals:
        return True
    attempt = state.attempts.get(instance.token)
    return launched_at(instance, state) <= suspended_at.get(instance.node, -1.0) or (
        attempt is not None and failed_gang(attempt)
    )


def _older_than_its_jobs(instance: CloudInstance, state: State, jobs: Sequence[SlurmJob]) -> bool:
    """Return whether an instance is older than its node's jobs and no record says that it was launched for them."""
    attempt = state.attempts.get(instance.token)
    if (attempt is not None and attempt.gang != REBUILT_GANG) or any(job.id in instance.jobs for job in jobs):
        return False
    starts = [job.started for job in jobs if job.started is not None]
    return bool(starts) and instance.launched < min(starts) - CLOCK_SKEW_SECONDS


def launched_at(instance: CloudInstance, state: State) -> float:
    """Return the launch time, by this host's clock if the journal has it: orders have the same clock."""
    attempt = state.attempts.get(instance.token)
    return attempt.created_at if attempt is not None and attempt.gang != REBUILT_GANG else instance.launched


def _unseen(
    slurm: SlurmView,
    state: State,
    shown_ids: set[str],
    suspended_at: Mapping[str, float],
    is_blind: bool,
    policy: BurstPolicy,
    now: float,
) -> dict[str, Attempt]:
    attempts: dict[str, Attempt] = {}
    for attempt in state.attempts.values():
        if attempt.ended is None:
            continue
        is_young = is_blind or now - attempt.ended <= policy.settle_seconds
        for node, instance in () if failed_gang(attempt) else attempt.instances.items():
            may_appear = (
                (is_young or (node in slurm.nodes and is_heard(slurm.nodes[node])))
                and instance not in shown_ids
                and terminated_at(state, instance) is None
                and attempt.created_at > suspended_at.get(node, -1.0)
            )
            if may_appear and (node not in attempts or attempts[node].created_at < attempt.created_at):
                attempts[node] = attempt
    return attempts


def _of_journal(node: str, attempt: Attempt, offering: Offering, state: State) -> CloudInstance:
    """Return the instance of a node that slurmctld hears as the journal knows it, while EC2 does not show it."""
    instance = attempt.instances[node]
    hold = state.holds.get(instance)
    return CloudInstance(
        id=instance,
        node=node,
        state="running",
        address="",
        subnet=offering.subnet,
        type=offering.instance_type,
        market=offering.market,
        launched=attempt.created_at,
        pool=attempt.pool,
        token=attempt.token,
        jobs=attempt.jobs,
        account=attempt.account,
        lease=hold.until if hold is not None else attempt.lease,
        region=offering.region,
    )


def failed_gang(attempt: Attempt) -> bool:
    """Return whether the rest of the gang was refused, so that its instances are useless."""
    return attempt.all_or_nothing and attempt.code not in ("", FORGOTTEN, TOKEN_REUSED)


def terminated_at(state: State, instance: str) -> float | None:
    """Return the time of the instance's TerminateInstances call, after which EC2 may show it running for a while; or
    None."""
    return state.terminated_at.get(instance)


def token_of(instance: CloudInstance) -> str:
    """Return the token of an instance's attempt; an untagged instance has a separate attempt."""
    return instance.token or f"untagged:{instance.id}"
