"""Which nodes start together: read from Slurm itself, so that a lost order or a second one changes nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

from landbridge.burst.model import Gang, Job, Pool
from landbridge.burst.reconcile.node_states import asked_to_leave
from landbridge.burst.reconcile.observed import Survey


@dataclass(frozen=True, slots=True)
class Start:
    """What is served or refused as one: a job of several nodes, a het job, or a batch of nodes of which each is of use alone.

    `nodes` are all that are being powered up for it; `gangs` those of them without an instance.
    """

    key: str
    whole: bool
    jobs: tuple[Job, ...]
    nodes: tuple[str, ...]
    gangs: tuple[Gang, ...]

    def only(self, nodes: Iterable[str]) -> "Start":
        """A part of a batch: these nodes and their jobs."""
        wanted = dict.fromkeys(nodes)
        jobs = tuple(job for job in self.jobs if not wanted.keys().isdisjoint(job.nodes))
        return replace(self, nodes=tuple(wanted), jobs=jobs)


def starts(found: Survey) -> list[Start]:
    """Everything that Slurm is powering up and that has no instance, jobs of several nodes first."""
    by_start: dict[str, list[Job]] = {}
    single: list[Job] = []
    for job in sorted({job.id: job for jobs in found.jobs.values() for job in jobs}.values(), key=lambda job: job.id):
        if len(job.nodes) > 1 or job.het_job:
            by_start.setdefault(start_key(job), []).append(job)
        else:
            single.append(job)
    claimed: dict[str, str] = {}
    result = [_whole(found, key, jobs, claimed) for key, jobs in by_start.items()]
    result += _batches(found, single, claimed)
    return [start for start in result if start is not None]


def start_key(job: Job) -> str:
    """One start of a job, or of all components of a het job: a requeued one is another start."""
    return f"{job.het_job or job.id}.{job.restarts}"


def _whole(found: Survey, key: str, jobs: list[Job], claimed: dict[str, str]) -> Start | None:
    nodes = tuple(dict.fromkeys(node for job in jobs for node in job.nodes if found.rising(node)))
    missing = [node for node in nodes if not found.has(node)]
    if not missing:
        return None
    if any(claimed.get(node, key) != key for node in missing):
        return None  # another gang starts a node that both are given: this one joins it when its zone is known
    claimed.update(dict.fromkeys(missing, key))
    gangs: list[Gang] = []
    taken: set[str] = set()
    for job in jobs:
        # Components of a het job may share a node: the first one's gang starts it.
        own = [node for node in job.nodes if node in missing and node not in taken]
        taken.update(own)
        for pool in dict.fromkeys(found.pools[node].name for node in own):
            gang = _gang(found, key, job, pool, [node for node in own if found.pools[node].name == pool])
            gangs.append(replace(gang, types=_types(found, jobs, pool)))
    return Start(key, True, tuple(jobs), nodes, tuple(gangs))


def _gang(found: Survey, key: str, job: Job, pool: str, nodes: list[str]) -> Gang:
    return Gang(
        key=f"{job.id}.{job.restarts}/{pool}",
        job_key=key,
        pool=pool,
        nodes=tuple(nodes),
        jobs=(job.id,),
        whole=True,
        account=job.account,
        restarts=(job.restarts,),
        started=job.started,
        minutes=job.minutes,
        zones=_zones(found, job),
    )


def _zones(found: Survey, job: Job) -> frozenset[str]:
    """Zones of the job's nodes that have their instances already."""
    zones: set[str] = set()
    for node in job.nodes:
        pool = found.pools.get(node)
        for instance in found.living.get(node, ()):
            zones |= {place.zone for place in (pool.places if pool else ()) if place.subnet == instance.subnet}
        attempt = found.unseen.get(node)
        if node not in found.living and attempt is not None and attempt.place in found.places:
            zones.add(found.places[attempt.place].zone)
    return frozenset(zones)


def _types(found: Survey, jobs: Iterable[Job], pool: str) -> frozenset[str]:
    """Instance types of what the pool has launched for these very jobs already; a het job's other components have their own."""
    types: set[str] = set()
    for job in jobs:
        for node in (name for name in job.nodes if name in found.pools and found.pools[name].name == pool):
            types |= {one.type for one in found.living.get(node, ()) if job.id in one.jobs}
            attempt = found.unseen.get(node)
            if attempt is not None and job.id in attempt.jobs and attempt.place in found.places:
                types.add(found.places[attempt.place].instance_type)
    return frozenset(types)


def _batches(found: Survey, jobs: list[Job], claimed: dict[str, str]) -> list[Start]:
    """Jobs of one node, and nodes without a job, by pool and account: one call serves many."""
    groups: dict[tuple[str, str, float], dict[str, list[Job]]] = {}
    homes: dict[str, tuple[str, str, float]] = {}
    for job in jobs:
        node = job.nodes[0]
        if found.rising(node) and not found.has(node) and node not in claimed:
            pool = found.pools[node]
            home = homes.setdefault(node, (pool.name, job.account, _length(pool, job)))
            groups.setdefault(home, {}).setdefault(node, []).append(job)
    for node in found.pools:
        if node not in homes and node not in claimed and _warm(found, node):
            groups.setdefault((found.pools[node].name, "", 0.0), {}).setdefault(node, [])
    return [_batch(found, pool, account, nodes) for (pool, account, _), nodes in sorted(groups.items())]


def _length(pool: Pool, job: Job) -> float:
    """Where a place closes some day, jobs that end before that are kept apart from longer ones."""
    if all(place.closes is None for place in pool.places):
        return 0.0
    return inf if job.minutes is None else float(job.minutes)


def _warm(found: Survey, node: str) -> bool:
    """Somebody wants the node up for itself. One that a job of the past wanted, or that is to leave again, nobody wants."""
    if not found.rising(node) or found.has(node) or node in found.held or node in found.resumed_for:
        return False
    return not asked_to_leave(found.slurm.nodes[node])


def deserted(found: Survey) -> list[str]:
    """Nodes that were to start for a job that is not there any more, and have no instance: better not started at all."""
    return [
        node
        for node in found.resumed_for
        if found.rising(node) and not found.has(node) and node not in found.held and node not in found.open
    ]


def _batch(found: Survey, pool: str, account: str, nodes: dict[str, list[Job]]) -> Start:
    jobs = tuple({job.id: job for one in nodes.values() for job in one}.values())
    key = f"batch/{pool}/{account}"
    missing = tuple(node for node in nodes if node not in found.open)
    wanting = tuple({job.id: job for node in missing for job in nodes[node]}.values())
    return Start(key, False, jobs, tuple(nodes), (batch_gang(key, pool, account, missing, wanting),) if missing else ())


def batch_gang(key: str, pool: str, account: str, nodes: Iterable[str], jobs: Iterable[Job]) -> Gang:
    """A gang of nodes that do not need one another; its limit is the longest of its jobs'."""
    found = sorted(jobs, key=lambda job: job.id)
    limits = [job.minutes for job in found]
    starts = [job.started for job in found if job.started is not None]
    return Gang(
        key=key,
        job_key=key,
        pool=pool,
        nodes=tuple(nodes),
        jobs=tuple(job.id for job in found),
        whole=False,
        account=account,
        restarts=tuple(job.restarts for job in found),
        started=min(starts) if starts else None,
        minutes=None if not limits or None in limits else max(limit or 0 for limit in limits),
    )
