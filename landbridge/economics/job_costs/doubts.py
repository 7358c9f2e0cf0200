"""Findings about accounting that cannot be right: more GPUs in use than a node has, runs without an end, jobs without GPUs."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from landbridge.economics.job_costs.nodes import RatedNodes
from landbridge.economics.job_costs.owned import AllocatedShare
from landbridge.findings import Finding, Severity
from landbridge.timestamps import iso
from landbridge.trace.allocations import Allocation

RUNAWAY_FIX = (
    "`sacctmgr show runawayjobs` on the controller lists and ends jobs that slurmctld does not have; "
    "a suspended job keeps its GPUs in accounting"
)


def doubts(
    groups: Sequence[RatedNodes],
    shares: Mapping[str, Sequence[AllocatedShare]],
    queued: Collection[int] | None,
    start: int,
    end: int,
) -> Iterator[Finding]:
    """Yield the findings of a period. `queued`: numbers of the jobs in squeue; None: not known."""
    with_gpus = [group for group in groups if group.has_gpus]
    on_node = {
        name: [share.allocation for share in shares.get(name, ()) if share.allocation.seconds(start, end)]
        for group in groups
        for name in group.names
    }
    yield from _overfull(with_gpus, on_node, start, end)
    yield from _without_end([run for runs in on_node.values() for run in runs], queued, start)
    yield from _without_gpus([run for group in with_gpus for name in group.names for run in on_node[name]])


@dataclass(frozen=True, slots=True)
class _Excess:
    """Largest number of GPUs by which jobs exceeded the GPUs of a node, the time at which that began, and the jobs that
    ran then.
    """

    node: str
    gpus: int
    at: int
    runs: tuple[Allocation, ...]


def _overfull(
    groups: Sequence[RatedNodes], on_node: Mapping[str, Sequence[Allocation]], start: int, end: int
) -> Iterator[Finding]:
    units = {name: group.units for group in groups for name in group.names}
    excesses = [excess for name in units if (excess := _excess(name, units, on_node[name], start, end)) is not None]
    if not excesses:
        return
    worst = max(excesses, key=lambda each: each.gpus)
    others = f", and {len(excesses) - 1} more nodes had too many" if len(excesses) > 1 else ""
    # A runaway or suspended job is one of the first that began.
    message = (
        f"up to {worst.gpus} more GPUs than {worst.node} has were in use on it, from {iso(worst.at)}{others}: "
        f"{_named(worst.runs)}; its jobs share the cost of a node with them"
    )
    yield Finding("cost-too-many-gpus", message, (), RUNAWAY_FIX, Severity.WARNING)


def _excess(node: str, units: Mapping[str, int], runs: Sequence[Allocation], start: int, end: int) -> _Excess | None:
    changes = []
    for run in runs:
        # Accounting has the sum of a job's GPUs: on this node it had at least those that its other nodes cannot have.
        least = run.gpus - sum(units.get(name, units[node]) for name in run.nodes if name != node)
        if least > 0:
            changes += [(max(start, run.start), least), (end if run.end is None else min(end, run.end), -least)]
    used = most = at = 0
    for time, change in sorted(changes):
        used += change
        if used > most:
            most, at = used, time
    if most <= units[node]:
        return None
    return _Excess(node, most - units[node], at, tuple(run for run in runs if run.gpus and run.seconds(at, at + 1)))


def _without_end(runs: Iterable[Allocation], queued: Collection[int] | None, start: int) -> Iterator[Finding]:
    old = {run for run in runs if run.end is None and run.start < start and (queued is None or run.job not in queued)}
    if old:
        where = "squeue was not asked for them" if queued is None else "squeue does not have them"
        message = f"runs without an end that began before the month: {len(old):,}, and {where}: {_named(old)}"
        yield Finding("cost-without-end", message, (), RUNAWAY_FIX, Severity.WARNING)


def _without_gpus(runs: Iterable[Allocation]) -> Iterator[Finding]:
    free = {run for run in runs if not run.gpus}
    if free:
        message = (
            f"jobs on nodes with GPUs without GPUs in AllocTRES: {len(free):,}: {_named(free)}; such a job pays a node if it "
            "has all of its CPUs, and else nothing"
        )
        fix = "slurm.conf needs AccountingStorageTRES=gres/gpu before such jobs start; shards of GPUs are not counted"
        yield Finding("cost-no-gpus", message, (), fix, Severity.WARNING)


def _named(runs: Iterable[Allocation]) -> str:
    """Return the three runs that began first."""
    first = sorted(runs, key=lambda run: (run.start, run.job))
    listed = [f"job {run.name} of {run.user or 'unknown'} ({run.state} since {iso(run.start)})" for run in first[:3]]
    return ", ".join([*listed, *(["..."] if len(first) > 3 else [])])
