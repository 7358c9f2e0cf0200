"""Reader of a trace: CSV with a header, the output of `sacct --parsable2`, JSON objects, or the output of `squeue --json`."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

from landbridge.findings import Finding, Severity
from landbridge.trace.columns import NAMES, REQUIRED, SACCT, BadValue, Columns
from landbridge.trace.job import Trace, TraceJob
from landbridge.trace.repeated import FIX, is_step, once, repeated_message

#: Findings of single lines in one file; the number of further ones is one finding more.
MAX_LINE_FINDINGS = 20
#: States of a job that has not ended: another row may have its end.
_UNENDED = frozenset({"PENDING", "RUNNING", "SUSPENDED"})


@dataclass(slots=True)
class _File:
    """Jobs and findings of a file while it is read."""

    path: Path
    jobs: list[TraceJob] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    bad_lines: int = 0
    steps: list[tuple[str, int | None]] = field(default_factory=list)

    def add_job(self, job: TraceJob | None, line: int | None) -> None:
        """Add a job that requested GPUs and ran; the row of a step is counted apart."""
        if job is not None and is_step(job.job):
            self.steps.append((job.job, line))
        elif job is not None:
            self.jobs.append(job)

    def add(
        self,
        rule: str,
        message: str,
        line: int | None = 1,
        fix: str | None = None,
        severity: Severity = Severity.ERROR,
        column: int | None = None,
        path: tuple[str | int, ...] = (),
    ) -> None:
        self.findings.append(Finding(rule, message, path, fix, severity, (), str(self.path), line, column))

    def bad_line(self, message: str, line: int | None, column: str | None = None, number: int | None = None) -> None:
        """Add a finding about a line; only count it if there are MAX_LINE_FINDINGS of them already."""
        self.bad_lines += 1
        if self.bad_lines <= MAX_LINE_FINDINGS:
            text = message if column is None else f"{column}: {message}"
            prefix = f"job {number}: " if line is None and number is not None else ""
            self.add("trace-line", prefix + text, line, path=() if column is None else (column,))

    def trace(self) -> Trace:
        """Return the trace, with findings of the whole file."""
        if self.bad_lines > MAX_LINE_FINDINGS:
            self.add("trace-line", f"{self.bad_lines - MAX_LINE_FINDINGS:,} more lines cannot be read", None)
        if self.steps:
            (name, line), count = self.steps[0], len(self.steps)
            message = f"{count:,} rows are of steps, such as {name}: the GPUs of their jobs would count several times"
            fix = "export with --allocations (-X); ids of jobs are written without a point"
            self.add("trace-steps", message, line, fix)
        self.jobs, repeated = once(self.jobs, _identity, _known)
        if repeated:
            self.add("trace-repeated", repeated_message(repeated), None, FIX, Severity.WARNING)
        if not self.jobs and not any(finding.severity is Severity.ERROR for finding in self.findings):
            self.add(
                "trace-empty",
                "no job in it asks for a GPU and ran",
                fix="sacct records GPUs if slurm.conf has AccountingStorageTRES=gres/gpu",
            )
        times = [job.submitted for job in self.jobs]
        disorder = sum(later < earlier for earlier, later in pairwise(times))
        if disorder:
            message = f"{disorder:,} jobs are before an earlier submission; the jobs were sorted"
            self.add("trace-order", message, None, severity=Severity.INFO)
        return Trace(tuple(sorted(self.jobs, key=lambda job: job.ready)), tuple(self.findings))


def read(path: Path) -> Trace:
    """Return the jobs that requested GPUs and ran, in the order in which they could start, with the findings of the file.

    No exception is raised for bad content: a line that cannot be read is a finding, up to MAX_LINE_FINDINGS of them.
    The rule of a file that cannot be opened is `unreadable-file`.
    """
    file = _File(path)
    try:
        # A byte that is no UTF-8 is a finding of its line, and does not hide the other lines.
        with path.open(newline="", encoding="utf-8-sig", errors="surrogateescape") as stream:
            if path.suffix == ".json":
                _read_json(stream.read(), file)
            else:
                _read_table(stream, file)
    except OSError as error:
        file.add("unreadable-file", f"the trace cannot be read: {error.strerror or error}", None)
        return Trace((), tuple(file.findings))
    return file.trace()


def _read_table(stream: TextIO, file: _File) -> None:
    first = stream.readline()
    stream.seek(0)
    delimiter = "|" if "|" in first else ","
    reader = csv.reader(stream, delimiter=delimiter, quoting=csv.QUOTE_NONE if delimiter == "|" else csv.QUOTE_MINIMAL)
    rows = _rows(reader, file)
    if not first.strip():
        file.add("trace-empty", "the file is empty, or its first line is", fix="a header is expected in the first line")
        return
    # `sacct --noheader`: a number is the id of the first job.
    if delimiter == "|" and first.partition("|")[0].strip()[:1].isdigit():
        columns = Columns(SACCT[:-1] if first.count("|") == len(SACCT) - 2 else SACCT)
    else:
        columns = Columns(next(rows)[1])
    if missing := columns.missing():
        file.add("trace-columns", _missing_text(missing), fix=f"the columns are: {', '.join(columns.header)[:200]}")
        return
    if columns.lacks_eligible:
        message = (
            "it has no Eligible: jobs count from their submission, also while they wait for another job or a begin time"
        )
        file.add("trace-eligible", message, fix="add Eligible to the columns of sacct", severity=Severity.WARNING)
    width = len(columns.header)
    for line, row in rows:
        if not row:
            continue
        if len(row) != width:
            file.bad_line(f"{len(row)} fields instead of {width}", line)
            continue
        try:
            job = columns.job(row)
        except BadValue as error:
            file.bad_line(str(error), line, error.column)
        else:
            file.add_job(job, line)


def _rows(reader: Any, file: _File) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows with the numbers of their lines; a row that is not CSV is a finding."""
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            file.bad_line(str(error), reader.line_num)
        else:
            yield reader.line_num, row


def _missing_text(missing: tuple[str, ...]) -> str:
    accepted = "; ".join(f"{value}: one of {', '.join(NAMES[value])}" for value in missing)
    extra = " (or AllocTRES, ReqTRES)" if "gpus" in missing else ""
    return f"{len(missing)} of the {len(REQUIRED)} required columns are missing: {accepted}{extra}"


def _read_json(text: str, file: _File) -> None:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        file.add("trace-line", f"no JSON: {error.msg}", error.lineno, column=error.colno)
        return
    except RecursionError:
        file.add("trace-line", "no JSON of jobs: it is nested too deeply")
        return
    if isinstance(document, dict):
        document = document.get("jobs")
    if not isinstance(document, list):
        file.add("trace-columns", "a list of jobs is expected, or an object that has one as `jobs`")
        return
    for number, row in enumerate(document, start=1):
        if not isinstance(row, dict):
            file.bad_line("is not an object", None, number=number)
            continue
        plain = _flat(row)
        columns = Columns(tuple(plain))
        if missing := [value for value in columns.missing() if value == "submitted"]:
            file.bad_line(_missing_text(tuple(missing)), None, number=number)
            continue
        try:
            job = columns.job(tuple(plain.values()))
        except BadValue as error:
            file.bad_line(str(error), None, error.column, number)
        else:
            file.add_job(job, None)


def _identity(job: TraceJob) -> tuple[object, ...] | None:
    """Return the identity of a job's run; None without an id. The group is the cluster, if the file has that column."""
    start = job.submitted if job.started is None else job.started
    return (job.group, job.user, job.job, start) if job.job else None


def _known(job: TraceJob) -> tuple[bool, float]:
    return job.state not in _UNENDED, job.seconds


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job of `squeue --json` with plain numbers. A job that has not run is assumed to run until its time
    limit."""
    plain: dict[str, Any] = {
        str(key): (value.get("number") if value.get("set") and not value.get("infinite") else None)
        if isinstance(value, dict)
        else value
        for key, value in row.items()
    }
    plain.pop("nodes", None)  # squeue's names of the nodes; their number is node_count
    limit = plain.get("time_limit")
    if not any(plain.get(name) for name in NAMES["seconds"]) and isinstance(limit, int | float):
        plain["seconds"] = float(limit) * 60
    return plain
