"""Jobs whose nodes are apart, in several zones or of several instance types, because Slurm chose idle nodes.

A job that has not started gives up the fewer nodes and is requeued. PrologSlurmctld holds it until then. The pool's
idle nodes elsewhere are powered down after their jobs, so that Slurm does not choose them for it again. A job that has
started, or that Slurm would end instead of requeue it, keeps its nodes and is reported.
"""

from collections.abc import Iterable, Mapping, Sequence

from landbridge.burst.model import Observation, ObservationKind, SlurmJob, State
from landbridge.burst.reconcile.changes import Changes
from landbridge.burst.reconcile.gangs import start_key
from landbridge.burst.reconcile.launching.offerings import RejectedOffering
from landbridge.burst.reconcile.locations import Location, are_apart, common_location, describe, locate
from landbridge.burst.reconcile.node_states import is_asked_to_power_down, is_set_by_operator, is_up
from landbridge.burst.reconcile.observed import Observed

APART_CODE = "APART"
#: Number of tries after which a job leaves idle nodes beside which no offering has capacity.
TRIES_BESIDE_IDLE_NODES = 3


def bring_together(observed: Observed, changes: Changes) -> None:
    """Move the jobs that wait on nodes apart; report those that cannot be moved."""
    for jobs in _starts(observed):
        apart = [job for job in jobs if are_apart(locate(observed, job.nodes), observed.pools)]
        if not apart or any(node in changes.downed for job in jobs for node in job.nodes):
            continue
        if not changes.requeued.isdisjoint(job.id for job in jobs):
            continue
        obstacle = _obstacle(observed, jobs)
        if obstacle is None:
            obstacle = _move(observed, changes, jobs, apart)
        if obstacle is not None:
            for job in apart:
                _report(observed, changes, job, obstacle)


def apart_text(locations: Mapping[str, Location]) -> str:
    """Return the reason for the user and the operator."""
    return f"a job is in one zone and has one instance type, and its nodes were in {describe(locations)}"


def is_left_apart(state: State, job: int) -> bool:
    """Return whether the controller has seen that the job's nodes are apart, and does not move it."""
    return Observation(ObservationKind.JOB_APART, str(job)) in state.first_seen


def idle_nodes_to_leave(
    observed: Observed, changes: Changes, jobs: Sequence[SlurmJob], rejected: Iterable[RejectedOffering]
) -> list[str]:
    """Return the nodes that keep the jobs from offerings elsewhere, where capacity is not known to be missing.

    Without this, a pool's `min_nodes` in a zone without capacity would keep a larger job waiting for that zone.
    """
    tries = max((backoff.tries for job in jobs if (backoff := changes.backoffs.get(job.id)) is not None), default=0)
    if tries < TRIES_BESIDE_IDLE_NODES or all(entry.code not in ("ZONE", "TYPE") for entry in rejected):
        return []
    ids = {job.id for job in jobs}
    nodes = [node for job in jobs for node in job.nodes if node in observed.pools and observed.has(node)]
    return [] if any(_is_fixed(observed, changes, node, ids) for node in nodes) else nodes


def _starts(observed: Observed) -> list[list[SlurmJob]]:
    """Return the jobs with nodes in AWS, the components of a het job together; without jobs of one node."""
    by_start: dict[str, dict[int, SlurmJob]] = {}
    for jobs in observed.jobs.values():
        for job in jobs:
            if len(job.nodes) > 1 or job.het_job:
                by_start.setdefault(start_key(job), {})[job.id] = job
    return [list(jobs.values()) for _, jobs in sorted(by_start.items())]


def _obstacle(observed: Observed, jobs: Iterable[SlurmJob]) -> str | None:
    """Return the reason why the jobs stay where they are; None if they may be moved."""
    if any(job.state != "CONFIGURING" for job in jobs):
        return "it runs"
    if not all(job.is_requeued for job in jobs):
        return "Slurm would end it instead of requeue it"
    return "AWS does not answer" if observed.ec2 is None else None


def _move(observed: Observed, changes: Changes, jobs: Sequence[SlurmJob], apart: Iterable[SlurmJob]) -> str | None:
    """Give up the nodes of the jobs that are not with the others; return the reason if that is not possible."""
    ids = {job.id for job in jobs}
    fixed = {
        node for job in jobs for node in job.nodes if node in observed.pools and _is_fixed(observed, changes, node, ids)
    }
    leaving: list[str] = []
    elsewhere: list[str] = []
    located: dict[str, Location] = {}
    for job in apart:
        locations = locate(observed, job.nodes)
        pools = {observed.pools[node].name for node in locations}
        available = _available(observed, changes, ids)
        idle = locate(observed, (n for n in available if observed.pools[n].name in pools and n not in job.nodes))
        common = common_location(locations, observed.pools, fixed, idle)
        assert common is not None
        others = [node for node, location in locations.items() if not common.has(location, observed.pools[node].name)]
        if not fixed.isdisjoint(others):
            return "other jobs or an operator use nodes in several of them"
        leaving += others
        elsewhere += [
            node
            for node, location in idle.items()
            if node not in changes.keeps and not common.has(location, observed.pools[node].name)
        ]
        located |= locations
    leaving += [node for job in jobs for node in job.nodes if observed.is_powering_up(node) and not observed.has(node)]
    changes.down(leaving, APART_CODE, apart_text(located), jobs)
    changes.power_down(elsewhere, APART_CODE, f"so that Slurm does not add it to job {jobs[0].id}")
    return None


def _is_fixed(observed: Observed, changes: Changes, node: str, ids: set[int]) -> bool:
    """Return whether the node may not be set down: another job or an operator uses or keeps it."""
    others = any(job.id not in ids for job in observed.jobs.get(node, ()))
    return others or node in changes.keeps or is_set_by_operator(observed.slurm.nodes[node])


def _available(observed: Observed, changes: Changes, ids: set[int]) -> list[str]:
    """Return the nodes with an instance that Slurm may choose when the jobs `ids` are pending again."""
    return [
        name
        for name in observed.pools
        if (node := observed.slurm.nodes[name])
        and observed.has(name)
        and (name not in observed.held or (name in observed.jobs and not _is_fixed(observed, changes, name, ids)))
        and name not in changes.downed
        and (is_up(node) or observed.is_powering_up(name))
        and not is_set_by_operator(node)
        and not is_asked_to_power_down(node)
    ]


def _report(observed: Observed, changes: Changes, job: SlurmJob, obstacle: str) -> None:
    """Record once that a job stays on nodes apart; the observation in the journal ends the wait of PrologSlurmctld."""
    observation = Observation(ObservationKind.JOB_APART, str(job.id))
    locations = locate(observed, job.nodes)
    if observation not in changes.state.first_seen:
        pool = observed.pools[next(iter(locations))].name
        text = f"{apart_text(locations)}; it is not moved: {obstacle}"
        changes.record("apart", APART_CODE, text, locations, [job.id], pool)
    changes.seconds_seen(observation.kind, observation.subject, 0.0)
