"""Allocations of nodes to jobs, from the output of `sacct --parsable2`; and the GPU energy of jobs, from dcgmi's statistics.

Source: Slurm's sacct(1): --duplicates lists each run of a requeued job, --parsable2 prints fields with `|`, and times have the
form of SLURM_TIME_FORMAT, in the time zone of the process; src/sacct/print.c prints `Unknown` or `None` for a time that does
not exist. dcgmi-stats(1): the row "Energy Consumed (Joules)" of each GPU.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from landbridge import hostlist
from landbridge.findings import Finding, Severity
from landbridge.trace.columns import gpus_of_tres
from landbridge.trace.repeated import FIX, once, repeated_message

#: Fields of `sacct --format` for the costs of jobs.
ALLOCATION_FIELDS = (
    "JobIDRaw", "JobID", "User", "Account", "Partition", "State", "Start", "End", "NodeList", "AllocTRES",
)  # fmt: skip
#: Fields that waits need; the output of another program may be without them.
SUBMIT_FIELD, ELIGIBLE_FIELD = "Submit", "Eligible"
#: Field that tells jobs of a federation's clusters apart.
CLUSTER_FIELD = "Cluster"
#: Fields of `sacctmgr show event format=`, with the headings that it prints.
EVENT_FIELDS = ("NodeName", "TimeStart", "TimeEnd", "State")
_ABSENT = frozenset({"", "none", "unknown", "n/a", "none assigned"})
_CPUS = re.compile(r"(?:^|,)cpu=(\d+)")
_JOULES = re.compile(r"Energy Consumed \(Joules\)\s*\|\s*([\d.]+)")


@dataclass(frozen=True, slots=True)
class Allocation:
    """Allocation of nodes to a job: one run of it, in whole seconds since 1970. `end` is None while it runs.

    `job` is Slurm's number of the job, `name` its id as users write it, such as `12_3` of an array. A job that is requeued
    has several allocations. `state` is its first word. `submit` and `eligible` are None and `cluster` is empty in
    an output without the column.
    """

    job: int
    name: str
    user: str
    account: str
    partition: str
    state: str
    start: int
    end: int | None
    nodes: tuple[str, ...]
    gpus: int
    cpus: int
    submit: int | None = None
    cluster: str = ""
    eligible: int | None = None

    def seconds(self, start: int, end: int) -> int:
        """Return the seconds of the allocation between two times."""
        return max(0, min(end, end if self.end is None else self.end) - max(start, self.start))


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """Time in which a node was down or drained; `end` is None if it is still."""

    node: str
    start: int
    end: int | None
    state: str


def allocations_of(text: str, file: str | None = None) -> tuple[tuple[Allocation, ...], tuple[Finding, ...]]:
    """Return the allocations of sacct's output that begins with a header, and a finding for each line that has none.

    Jobs without nodes, which are pending or ended before their start, are left out. Several rows of one run count once: the
    row with its end.
    """
    allocations: list[Allocation] = []
    findings: list[Finding] = []
    for line, row in _rows(text, ALLOCATION_FIELDS, file, findings):
        try:
            allocation = _allocation(row)
        except ValueError as error:
            findings.append(_bad_line(file, line, str(error)))
        else:
            if allocation is not None:
                allocations.append(allocation)
    allocations, repeated = once(allocations, _identity, lambda each: (each.end is not None, each.end or 0))
    if repeated:
        message = repeated_message(repeated)
        findings.append(Finding("accounting-repeated", message, (), FIX, Severity.WARNING, file=file))
    return tuple(allocations), tuple(findings)


def _identity(allocation: Allocation) -> tuple[object, ...]:
    return allocation.cluster, allocation.user, allocation.job, allocation.start


def events_of(text: str, file: str | None = None) -> tuple[tuple[NodeEvent, ...], tuple[Finding, ...]]:
    """Return the node events of sacctmgr's output that begins with a header, and a finding for each line that has none.

    Events without a node are those of the whole cluster, and left out.
    """
    node_events: list[NodeEvent] = []
    findings: list[Finding] = []
    for line, row in _rows(text, EVENT_FIELDS, file, findings):
        try:
            start, end = _time(row["TimeStart"]), _time(row["TimeEnd"])
        except ValueError as error:
            findings.append(_bad_line(file, line, str(error)))
        else:
            if row["NodeName"] and start is not None:
                node_events.append(NodeEvent(row["NodeName"], start, end, row["State"]))
    return tuple(node_events), tuple(findings)


def joules_of(text: str) -> float | None:
    """Return the energy of a job's GPUs on one node from dcgmi's statistics of the job; None if it has no such row."""
    values = [float(value) for value in _JOULES.findall(text)]
    return sum(values) if values else None


def _rows(
    text: str, fields: tuple[str, ...], file: str | None, findings: list[Finding]
) -> Iterator[tuple[int, dict[str, str]]]:
    lines = text.splitlines()
    header = lines[0].split("|") if lines else []
    if missing := [field for field in fields if field not in header]:
        fix = f"the header must have {'|'.join(fields)}"
        findings.append(Finding("accounting-columns", f"columns are missing: {', '.join(missing)}", (), fix, file=file))
        return
    for number, line in enumerate(lines[1:], start=2):
        values = line.split("|")
        if not line:
            continue
        if len(values) != len(header):
            findings.append(_bad_line(file, number, f"{len(values)} fields instead of {len(header)}"))
            continue
        yield number, dict(zip(header, values, strict=True))


def _allocation(row: dict[str, str]) -> Allocation | None:
    start, end = _time(row["Start"]), _time(row["End"])
    if start is None or row["NodeList"].casefold() in _ABSENT or (end is not None and end <= start):
        return None
    if not row["JobIDRaw"].isdigit():
        raise ValueError(f"{row['JobIDRaw']!r} is not a job id; sacct needs --allocations")
    cpus = _CPUS.search(row["AllocTRES"])
    return Allocation(
        job=int(row["JobIDRaw"]),
        name=row["JobID"],
        user=row["User"],
        account=row["Account"],
        partition=row["Partition"],
        state=row["State"].partition(" ")[0],
        start=start,
        end=end,
        nodes=tuple(hostlist.expand(row["NodeList"])),
        gpus=gpus_of_tres(row["AllocTRES"])[0],
        cpus=int(cpus[1]) if cpus else 0,
        submit=_time(row.get(SUBMIT_FIELD, "")),
        cluster=row.get(CLUSTER_FIELD, ""),
        eligible=_time(row.get(ELIGIBLE_FIELD, "")),
    )


def _time(text: str) -> int | None:
    """Return seconds since 1970 of a number, or of a date and time, which is UTC without a time zone; None: no time."""
    if text.casefold() in _ABSENT:
        return None
    if text.isdigit():
        return int(text) or None
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp())


def _bad_line(file: str | None, line: int, message: str) -> Finding:
    return Finding("accounting-line", message, severity=Severity.ERROR, file=file, line=line)
