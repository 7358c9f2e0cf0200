"""Gangs: nodes that start together, derived from Slurm's own state, so that a lost or repeated order changes nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

from landbridge.burst.model import Gang, PoolPolicy, SlurmJob
from landbridge.burst.reconcile.locations import common_location, locate
from landbridge.burst.reconcile.node_states import is_asked_to_power_down
from landbridge.burst.reconcile.observed import Observed


@dataclass(frozen=True, slots=True)
class GangStart:
    """Start of a job of several nodes, of a het job, or of a batch of independent nodes; it is served or refused as a
    whole.

    `nodes`: all its nodes that power up; `gangs`: those of them without an instance.
    """

    key: str
    all_or_nothing: bool
    jobs: tuple[SlurmJob, ...]
    nodes: tuple[str, ...]
    gangs: tuple[Gang, ...]

    def only(self, nodes: Iterable[str]) -> "GangStart":
        """Return a part of a batch: these nodes and their jobs."""
        ordered_nodes = dict.fromkeys(nodes)
        jobs = tuple(job for job in self.jobs if not ordered_nodes.keys().isdisjoint(job.nodes))
        return replace(self, nodes=tuple(ordered_nodes), jobs=jobs)


def pending_starts(observed: Observed) -> list[GangStart]:
    """Return the starts of nodes that Slurm powers up and that have no instance, jobs of several nodes first."""
    by_start: dict[str, list[SlurmJob]] = {}
    single: list[SlurmJob] = []
    for job in sorted(
        {job.id: job for jobs in observed.jobs.values() for job in jobs}.values(), key=lambda job: job.id
    ):
        if len(job.nodes) > 1 or job.het_job:
            by_start.setdefault(start_key(job), []).append(job)
        else:
            single.append(job)
    claimed: dict[str, str] = {}
    result = [_whole(observed, key, jobs, claimed) for key, jobs in by_start.items()]
    result += _batches(observed, single, claimed)
    return [start for start in result if start is not None]


def start_key(job: SlurmJob) -> str:
    """Return the key of a job's start, or of the start of all components of a het job; a requeued job has another key."""
    return f"{job.het_job or job.id}.{job.restarts}"


def _whole(observed: Observed, key: str, jobs: list[SlurmJob], claimed: dict[str, str]) -> GangStart | None:
    nodes = tuple(dict.fromkeys(node for job in jobs for node in job.nodes if observed.is_powering_up(node)))
    missing = [node for node in nodes if not observed.has(node)]
    if not missing:
        return None
    if any(claimed.get(node, key) != key for node in missing):
        return None  # another gang launches a node of both: this one follows when the zone is known
    claimed.update(dict.fromkeys(missing, key))
    gangs: list[Gang] = []
    started_nodes: set[str] = set()
    for job in jobs:
        # Components of a het job may share a node: the gang of the first component launches it.
        new_nodes = [node for node in job.nodes if node in missing and node not in started_nodes]
        started_nodes.update(new_nodes)
        for pool in dict.fromkeys(observed.pools[node].name for node in new_nodes):
            gang = _gang(observed, key, job, pool, [node for node in new_nodes if observed.pools[node].name == pool])
            gangs.append(gang if gang.types else replace(gang, types=_types_of_siblings(observed, jobs, pool)))
    return GangStart(key, True, tuple(jobs), nodes, tuple(gangs))


def _gang(observed: Observed, key: str, job: SlurmJob, pool: str, nodes: list[str]) -> Gang:
    common = common_location(locate(observed, job.nodes), observed.pools)
    return Gang(
        key=f"{job.id}.{job.restarts}/{pool}",
        job_key=key,
        pool=pool,
        nodes=tuple(nodes),
        jobs=(job.id,),
        all_or_nothing=True,
        account=job.account,
        restarts=(job.restarts,),
        started=job.started,
        minutes=job.minutes,
        zones=frozenset({common.zone} if common is not None else ()),
        types=frozenset({common.types[pool]} if common is not None and pool in common.types else ()),
    )


def _types_of_siblings(observed: Observed, jobs: Iterable[SlurmJob], pool: str) -> frozenset[str]:
    """Return the types of the instances that the pool has already launched for these components of a het job."""
    types: set[str] = set()
    for job in jobs:
        nodes = [node for node in job.nodes if node in observed.pools and observed.pools[node].name == pool]
        for node, location in locate(observed, nodes).items():
            attempt = observed.unseen.get(node)
            of_attempt = attempt.jobs if attempt is not None else ()
            if job.id in of_attempt or any(job.id in instance.jobs for instance in observed.living.get(node, ())):
                types.add(location.instance_type)
    return frozenset(types)


def _batches(observed: Observed, jobs: list[SlurmJob], claimed: dict[str, str]) -> list[GangStart]:
    """Return batches of one-node jobs and of nodes without a job, by pool and account: one call launches many."""
    groups: dict[tuple[str, str, float], dict[str, list[SlurmJob]]] = {}
    group_keys: dict[str, tuple[str, str, float]] = {}
    for job in jobs:
        node = job.nodes[0]
        if observed.is_powering_up(node) and not observed.has(node) and node not in claimed:
            pool = observed.pools[node]
            group_key = group_keys.setdefault(node, (pool.name, job.account, _duration_key(pool, job)))
            groups.setdefault(group_key, {}).setdefault(node, []).append(job)
    for node in observed.pools:
        if node not in group_keys and node not in claimed and _powers_up_without_job(observed, node):
            groups.setdefault((observed.pools[node].name, "", 0.0), {}).setdefault(node, [])
    return [_batch(observed, pool, account, nodes) for (pool, account, _), nodes in sorted(groups.items())]


def _duration_key(pool: PoolPolicy, job: SlurmJob) -> float:
    """Return a grouping key: in a pool with a closing offering, jobs of different duration are launched separately."""
    if all(offering.closes is None for offering in pool.offerings):
        return 0.0
    return inf if job.minutes is None else float(job.minutes)


def _powers_up_without_job(observed: Observed, node: str) -> bool:
    """Return whether the node powers up without a job: not for an earlier job, and not with a pending power-down."""
    if not observed.is_powering_up(node) or observed.has(node) or node in observed.held or node in observed.resumed_for:
        return False
    return not is_asked_to_power_down(observed.slurm.nodes[node])


def nodes_without_job(observed: Observed) -> list[str]:
    """Return the nodes that power up for a job that does not exist any more, and have no instance."""
    return [
        node
        for node in observed.resumed_for
        if observed.is_powering_up(node)
        and not observed.has(node)
        and node not in observed.held
        and node not in observed.open
    ]


def _batch(observed: Observed, pool: str, account: str, nodes: dict[str, list[SlurmJob]]) -> GangStart:
    jobs = tuple({job.id: job for node_jobs in nodes.values() for job in node_jobs}.values())
    key = f"batch/{pool}/{account}"
    missing = tuple(node for node in nodes if node not in observed.open)
    jobs_of_missing = tuple({job.id: job for node in missing for job in nodes[node]}.values())
    return GangStart(
        key, False, jobs, tuple(nodes), (batch_gang(key, pool, account, missing, jobs_of_missing),) if missing else ()
    )


def batch_gang(key: str, pool: str, account: str, nodes: Iterable[str], jobs: Iterable[SlurmJob]) -> Gang:
    """Return a gang of independent nodes; its time limit is the longest one of its jobs."""
    ordered_jobs = sorted(jobs, key=lambda job: job.id)
    limits = [job.minutes for job in ordered_jobs]
    started = [job.started for job in ordered_jobs if job.started is not None]
    return Gang(
        key=key,
        job_key=key,
        pool=pool,
        nodes=tuple(nodes),
        jobs=tuple(job.id for job in ordered_jobs),
        all_or_nothing=False,
        account=account,
        restarts=tuple(job.restarts for job in ordered_jobs),
        started=min(started) if started else None,
        minutes=None if not limits or None in limits else max(limit or 0 for limit in limits),
    )
