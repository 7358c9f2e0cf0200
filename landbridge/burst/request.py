"""From an order of Slurm to launch requests: which nodes are started together, where, and under which name. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from landbridge.burst.config import Config, Pool, Subnet
from landbridge.burst.order import JobFacts, ResumeJob, ResumeOrder
from landbridge.burst.tokens import client_token
from landbridge.hostlist import compress

GRACE = timedelta(minutes=15)  # from a job's time limit to the end of its nodes' lease: start-up and checkpointing


@dataclass(frozen=True)
class Live:
    """An instance that runs or starts, as its tags tell."""

    id: str
    subnet: str
    node: str  # empty: launched, and not named yet
    group: str  # hostlist of the nodes it was launched with


@dataclass(frozen=True)
class Request:
    """Nodes of one pool to be launched by one call for each subnet tried.

    A gang (`whole`) gets all its nodes in one zone, or none. `named` are nodes that an earlier, interrupted run of this
    very request has finished: AWS answers the repeated call with the same instances.
    """

    pool: Pool
    nodes: tuple[str, ...]
    jobs: tuple[int, ...]
    whole: bool
    occasion: str
    lease_expires: datetime
    subnets: tuple[Subnet, ...]
    named: Mapping[str, str] = field(default_factory=dict)

    def token(self, cluster: str, attempt: int) -> str:
        return client_token(cluster, self.jobs, self.occasion, self.nodes, attempt)

    def tags(self, cluster: str) -> dict[str, str]:
        """Tags of the launch call itself: from the first moment an instance says whose it is and when it may go."""
        tags = {
            "landbridge:cluster": cluster,
            "landbridge:pool": self.pool.name,
            "landbridge:nodes": compress(self.nodes)[:256],
            "landbridge:lease-expires": self.lease_expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        if self.jobs:
            tags["landbridge:job"] = ",".join(str(job) for job in self.jobs)[:256]
        return tags


@dataclass(frozen=True)
class Plan:
    """Requests in the order of launching; nodes that run already; nodes that no pool owns."""

    requests: tuple[Request, ...]
    running: tuple[str, ...]
    unknown: tuple[str, ...]


def plan(
    order: ResumeOrder, facts: Mapping[int, JobFacts], config: Config, live: Iterable[Live], now: datetime
) -> Plan:
    """Requests for everything in `order` that has no instance yet.

    Jobs of several nodes are gangs; jobs of one node, and nodes without a job, are batched by pool: each of their
    nodes is of use alone.
    """
    by_node = {instance.node: instance for instance in live if instance.node}
    wanted = [node for node in order.nodes if config.pool_of(node)]
    left = dict.fromkeys(wanted)
    requests: list[Request] = []
    singles: dict[str, list[tuple[str, ResumeJob]]] = {}
    for job in sorted(order.jobs, key=lambda job: (-len(job.allocated), job.id)):
        mine = [node for node in job.nodes if node in left]
        for node in mine:
            del left[node]
        for pool, nodes in _by_pool(config, mine).items():
            if len(job.allocated) > 1:
                requests += _request(config, pool, nodes, [job], facts, by_node, now, whole=True)
            else:
                singles.setdefault(pool, []).extend((node, job) for node in nodes)
    for pool, pairs in singles.items():
        jobs = list({job.id: job for _, job in pairs}.values())
        requests += _request(config, pool, [node for node, _ in pairs], jobs, facts, by_node, now, whole=False)
    for pool, nodes in _by_pool(config, left).items():
        requests += _request(config, pool, nodes, [], facts, by_node, now, whole=False)
    launched = {node for request in requests for node in request.nodes}
    running = tuple(node for node in wanted if node not in launched)
    return Plan(tuple(requests), running, tuple(node for node in order.nodes if not config.pool_of(node)))


def _by_pool(config: Config, nodes: Iterable[str]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for node in nodes:
        pool = config.pool_of(node)
        if pool:
            result.setdefault(pool.name, []).append(node)
    return result


def _request(
    config: Config,
    pool_name: str,
    nodes: list[str],
    jobs: list[ResumeJob],
    facts: Mapping[int, JobFacts],
    by_node: Mapping[str, Live],
    now: datetime,
    *,
    whole: bool,
) -> list[Request]:
    """One request or, when every node has its instance, none."""
    pool, group = config.pools[pool_name], compress(nodes)
    present = {node: by_node[node] for node in nodes if node in by_node}
    if len(present) == len(nodes):
        return []
    # An interrupted run of this very launch is repeated whole, with its own token; of any other only the rest is missing.
    repeated = bool(present) and all(instance.group == group for instance in present.values())
    missing = tuple(nodes) if repeated else tuple(node for node in nodes if node not in present)
    named = {node: instance.id for node, instance in present.items()} if repeated else {}
    known = [facts.get(job.id) or JobFacts(job.id) for job in jobs]
    # A gang whose other nodes run already has to join them in their zone.
    used = {by_node[node].subnet for job in jobs for node in job.allocated if node in by_node} if whole else set()
    zones = {subnet.zone for subnet in pool.subnets if subnet.id in used}
    return [
        Request(
            pool=pool,
            nodes=missing,
            jobs=tuple(sorted(job.id for job in jobs)),
            whole=whole,
            occasion=_occasion(known, now),
            lease_expires=_lease(known, config.lease_minutes, now),
            subnets=tuple(subnet for subnet in pool.subnets if not zones or subnet.zone in zones),
            named=named,
        )
    ]


def _occasion(facts: list[JobFacts], now: datetime) -> str:
    """What tells this launch from a later one of the same nodes. Without jobs (or without facts) it is the hour:
    nodes that have their instance are not launched again anyway, so the token only has to survive a race."""
    occasions = [fact.occasion for fact in facts]
    if not occasions or None in occasions:
        return now.strftime("%Y-%m-%dT%H")
    return "+".join(sorted(str(occasion) for occasion in occasions))


def _lease(facts: list[JobFacts], lease_minutes: int, now: datetime) -> datetime:
    """When the instances may be ended by whoever finds them: the jobs' time limits over, or the lease alone.

    A function of the jobs, not of the moment: a repeated call has to have the same parameters.
    """
    base = now.replace(minute=0, second=0, microsecond=0)
    ends = [base + timedelta(hours=1, minutes=lease_minutes)] if not facts else []
    for fact in facts:
        start = datetime.fromtimestamp(fact.started, UTC) if fact.started else base + timedelta(hours=1)
        limit = timedelta(minutes=fact.minutes) + GRACE if fact.minutes else timedelta()
        ends.append(start + max(limit, timedelta(minutes=lease_minutes)))
    return max(ends)
