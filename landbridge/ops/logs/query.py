"""Search of journals: the program that each host runs, and the entries in its output. Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from landbridge.ops.logs.window import LogWindow

_FIELDS = "MESSAGE,_HOSTNAME,_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,PRIORITY"
_MICROSECONDS = 1_000_000
_SEARCH = Path(__file__).with_name("slurm_files.py")
#: Daemons of Slurm that write files.
DAEMONS = ("slurmctld", "slurmd", "slurmdbd")


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Conditions of a search: all that are set hold for every entry. `most`: the latest entries of each host.

    `until` ends the window; `span`, start and end in seconds since 1970, replaces it. `words` is a regular expression. `files` are patterns of
    journal files; empty: the host's own journal.
    """

    window: LogWindow
    job: int | None = None
    unit: str | None = None
    errors: bool = False
    most: int = 1000
    until: LogWindow | None = None
    span: tuple[int, int] | None = None
    words: str = ""
    files: tuple[str, ...] = ()


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
    """Return the journalctl command line with the conditions. journalctl does not fail if no entry matches."""
    words = ["journalctl", "--quiet", "--no-pager", "--output=json", f"--output-fields={_FIELDS}"]
    words += [f"--since={query.window.journal}"] if query.span is None else [f"--since=@{query.span[0]}"]
    words += [f"--until={query.until.journal}"] if query.until is not None and query.span is None else []
    # journalctl reads @N as the start of second N, and the last entry may be later in that second.
    words += [f"--until=@{query.span[1] + 1}"] if query.span is not None else []
    words += [f"--lines={query.most}", *(f"--file={pattern}" for pattern in query.files)]
    words += [f"--unit={query.unit}"] if query.unit else []
    words += ["--priority=err"] if query.errors else []
    pattern = message_pattern(query)
    words += [f"--grep={pattern}", "--case-sensitive=no"] if pattern else []
    return words


def slurm_program(query: LogQuery, daemons: Sequence[str] = DAEMONS, *, plain: bool = False) -> list[str]:
    """Return the search of the daemons' log files with the same conditions; `plain`: the lines as they are."""
    words = {
        "seconds": query.window.seconds,
        "until": query.until.seconds if query.until is not None else 0,
        "span": query.span,
        "pattern": message_pattern(query),
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


def message_pattern(query: LogQuery) -> str:
    """Return the pattern of a message with the job's number and the words, in any order; empty without both."""
    patterns = [job_pattern(query.job)] if query.job is not None else []
    patterns += [query.words] if query.words else []
    return patterns[0] if len(patterns) == 1 else "".join(f"(?=.*(?:{pattern}))" for pattern in patterns)


def entries_of(host: str, text: str) -> Iterator[LogEntry]:
    """Yield the entries of journalctl's JSON lines. `host` empty: of the host that each entry names. Raises ValueError for other text."""
    for line in text.splitlines():
        values = json.loads(line)
        try:
            at = int(values["__REALTIME_TIMESTAMP"]) / _MICROSECONDS
        except (KeyError, TypeError):
            raise ValueError(f"an entry without a time: {line[:100]}") from None
        unit = values.get("_SYSTEMD_UNIT") or values.get("SYSLOG_IDENTIFIER") or "kernel"
        yield LogEntry(
            at,
            host or str(values.get("_HOSTNAME", "")),
            str(unit).removesuffix(".service"),
            _text(values.get("MESSAGE")),
        )


def _text(message: Any) -> str:
    """Return a message; journalctl writes one with bytes that are not text as a list of numbers."""
    if isinstance(message, list):
        return bytes(message).decode(errors="replace")
    return str(message or "")
