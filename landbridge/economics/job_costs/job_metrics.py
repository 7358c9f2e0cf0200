"""Metrics of a month's jobs for objectives: waits, recoveries from failed nodes, and paid GPU time by use. Pure."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from landbridge.economics.job_costs.lines import MonthStatement, Use
from landbridge.timestamps import month_end, month_start
from landbridge.trace.allocations import Allocation

PREFIX = "landbridge_jobs_"
_HELP = {
    "wait_seconds": "Time from when a run of a job is eligible to its start; in AWS from its submission.",
    "recovery_seconds": "Time from the failure of a node to the next start of its job.",
    "gpu_seconds_total": "Paid GPU time by use; that of a job counts when it has ended.",
    "read_timestamp_seconds": "Time of these metrics.",
}


def job_metrics(
    statement: MonthStatement,
    allocations: Sequence[Allocation],
    bounds: Sequence[float],
    now: float,
    in_aws: Collection[str] = (),
) -> str:
    """Return the metrics in Prometheus' text format. The counters begin at zero in each month. `in_aws`: nodes in AWS.

    A running job is in no counter of GPU time, because its use is not known before its end.
    """
    start, end = month_start(statement.month), month_end(month_start(statement.month))
    begun = [each for each in allocations if start <= each.start < end]
    gpu_seconds: Counter[tuple[str, str]] = Counter()
    for line in statement.lines:
        if line.key.use is not Use.RUNNING and line.gpu_hours:
            gpu_seconds[line.key.resource, line.key.use] += line.gpu_hours * 3600  # type: ignore[assignment]
    lines = [
        *_histogram("wait_seconds", waits(begun, in_aws), bounds, "partition"),
        *_histogram("recovery_seconds", {"": list(recoveries(allocations, start, end))}, bounds),
        *_family("gpu_seconds_total", "counter"),
        *(
            f'{PREFIX}gpu_seconds_total{{resource="{resource}",use="{use}"}} {value:.12g}'
            for (resource, use), value in sorted(gpu_seconds.items())
        ),
        *_family("read_timestamp_seconds", "gauge"),
        f"{PREFIX}read_timestamp_seconds {now:.12g}",
    ]
    return "\n".join([*lines, ""])


def waits(allocations: Iterable[Allocation], in_aws: Collection[str] = ()) -> dict[str, list[int]]:
    """Return the seconds that runs waited for their nodes, by partition; runs without the column Submit are left out.

    A wait begins when the run is eligible: after its dependencies, holds and begin time. On nodes in AWS it begins with the
    submission, because the burst controller moves the begin time of a job that AWS has no capacity for.
    """
    by_partition: dict[str, list[int]] = defaultdict(list)
    for each in allocations:
        if each.submit is not None:
            is_in_aws = any(node in in_aws for node in each.nodes)
            ready = each.submit if each.eligible is None or is_in_aws else max(each.submit, each.eligible)
            by_partition[each.partition].append(max(0, each.start - ready))
    return dict(by_partition)


def recoveries(allocations: Iterable[Allocation], start: float, end: float) -> Iterator[int]:
    """Yield the seconds from the end of a run by a failed node to the next run of the job, which started in the period."""
    runs: dict[int, list[Allocation]] = defaultdict(list)
    for each in sorted(allocations, key=lambda run: run.start):
        runs[each.job].append(each)
    for of_job in runs.values():
        for failed, following in pairwise(of_job):
            if failed.state == "NODE_FAIL" and failed.end is not None and start <= following.start < end:
                yield max(0, following.start - failed.end)


def _family(name: str, kind: str) -> Iterator[str]:
    yield f"# HELP {PREFIX}{name} {_HELP[name]}"
    yield f"# TYPE {PREFIX}{name} {kind}"


def _histogram(
    name: str, values: Mapping[str, Sequence[int]], bounds: Sequence[float], label: str = ""
) -> Iterator[str]:
    yield from _family(name, "histogram")
    for word, seconds in sorted(values.items()):
        label_text = f'{label}="{word}"' if label else ""
        for bound in (*bounds, float("inf")):
            le = "+Inf" if bound == float("inf") else f"{bound:g}"
            labels = ",".join(part for part in (label_text, f'le="{le}"') if part)
            yield f"{PREFIX}{name}_bucket{{{labels}}} {sum(value <= bound for value in seconds)}"
        labels = f"{{{label_text}}}" if label_text else ""
        yield f"{PREFIX}{name}_count{labels} {len(seconds)}"
        yield f"{PREFIX}{name}_sum{labels} {sum(seconds)}"
