"""Search of journals: the program that each host runs, and the entries in its output. Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from landbridge.ops.logs.window import LogWindow

_FIELDS = "MESSAGE,_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,PRIORITY"
_MICROSECONDS = 1_000_000
_SEARCH = Path(__file__).with_name("slurm_files.py")
#: Daemons of Slurm that write files.
DAEMONS = ("slurmctld", "slurmd", "slurmdbd")


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Conditions of a search: all that are set hold for every entry. `most`: the latest entries of each host."""

    window: LogWindow
    job: int | None = None
    unit: str | None = None
    errors: bool = False
    most: int = 1000


@dataclass(frozen=True, slots=True)
class LogEntry:
    """Entry of a journal."""

    at: float
    host: str
    unit: str
    message: str

    @property
    def time(self) -> str:
        """Return the time in UTC with milliseconds."""
        return datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def journal_program(query: LogQuery) -> list[str]:
    """Return journalctl with the conditions. No entry at all is no error of it."""
    words = ["journalctl", "--quiet", "--no-pager", "--output=json", f"--output-fields={_FIELDS}"]
    words += [f"--since={query.window.journal}", f"--lines={query.most}"]
    words += [f"--unit={query.unit}"] if query.unit else []
    words += ["--priority=err"] if query.errors else []
    words += [f"--grep={job_pattern(query.job)}", "--case-sensitive=no"] if query.job is not None else []
    return words


def slurm_program(query: LogQuery, daemons: Sequence[str] = DAEMONS, *, plain: bool = False) -> list[str]:
    """Return the search of the daemons' log files with the same conditions; `plain`: the lines as they are."""
    words = {
        "seconds": query.window.seconds,
        "pattern": job_pattern(query.job) if query.job is not None else "",
        "errors": query.errors,
        "most": query.most,
        "daemons": [daemon for daemon in daemons if query.unit in (None, daemon)],
        "plain": plain,
    }
    return ["python3", "-c", _SEARCH.read_text(), json.dumps(words)]


def job_pattern(job: int) -> str:
    r"""Return the pattern of a job's number as Slurm and Landbridge write it: JobId=7, StepId=7.0, job 7, [7.batch].

    slurmd also writes `batch_request: 7`. Of an array's task, slurmctld writes JobId=7_2(9): both numbers match.
    """
    return rf"(?:JobId[=:]?|StepId[=:]?|job_?id[=: ]|jobs?|batch_request:)\s*(?:\d+_\d+\()?{job}(?!\d)|\[{job}\."


def entries_of(host: str, text: str) -> Iterator[LogEntry]:
    """Yield the entries of journalctl's JSON lines. Raises ValueError for other text."""
    for line in text.splitlines():
        values = json.loads(line)
        try:
            at = int(values["__REALTIME_TIMESTAMP"]) / _MICROSECONDS
        except (KeyError, TypeError):
            raise ValueError(f"an entry without a time: {line[:100]}") from None
        unit = values.get("_SYSTEMD_UNIT") or values.get("SYSLOG_IDENTIFIER") or "kernel"
        yield LogEntry(at, host, str(unit).removesuffix(".service"), _text(values.get("MESSAGE")))


def _text(message: Any) -> str:
    """Return a message; journalctl writes one with bytes that are no text as a list of numbers."""
    if isinstance(message, list):
        return bytes(message).decode(errors="replace")
    return str(message or "")
