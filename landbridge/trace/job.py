"""Job of a trace, and the trace with the findings of its file."""

from collections import Counter
from dataclasses import dataclass, replace

from landbridge.findings import Finding, Severity, has_errors


@dataclass(frozen=True, slots=True)
class TraceJob:
    """Job of a trace that requested GPUs and ran: seconds since 1970 (UTC) of its submission, run time in seconds, GPUs.

    `minutes`: its time limit; None if unknown. `account` is empty if the file has none; `group` is the file's own group
    of jobs, such as a virtual cluster, or else the user. `kind` is the GPU type of Slurm's gres, such as `h100`; empty
    if the file has none. `started` is None, `nodes` 0 and `state` empty if unknown. `eligible` is the time at which it could
    start, after its dependencies, holds and begin time; None if unknown.
    """

    submitted: float
    seconds: float
    gpus: int
    group: str = ""
    account: str = ""
    minutes: float | None = None
    kind: str = ""
    user: str = ""
    job: str = ""
    started: float | None = None
    nodes: int = 0
    state: str = ""
    eligible: float | None = None

    @property
    def ready(self) -> float:
        """Time from which the job needs GPUs: its submission, or when it became eligible after it."""
        return self.submitted if self.eligible is None else max(self.submitted, self.eligible)


@dataclass(frozen=True, slots=True)
class Trace:
    """Readable jobs of a file in the order in which they could start, and findings of its lines."""

    jobs: tuple[TraceJob, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def has_errors(self) -> bool:
        """True if a line could not be read: the jobs are not all jobs of the file."""
        return has_errors(self.findings)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings with which the jobs are still used, and may be other jobs than the file's owner means."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARNING)


def of_kind(trace: Trace, kind: str) -> Trace:
    """Return the jobs with GPUs of one type, in any case of letters; without any, the trace has an error."""
    jobs = tuple(job for job in trace.jobs if job.kind.casefold() == kind.casefold())
    if jobs:
        return replace(trace, jobs=jobs)
    kinds = Counter(job.kind or "(no type)" for job in trace.jobs)
    listed = ", ".join(f"{name}: {count:,} jobs" for name, count in kinds.most_common(10))
    finding = Finding("trace-kind", f"no job has GPUs of type {kind}", (), f"the types are {listed}", Severity.ERROR)
    return Trace((), (*trace.findings, finding))
