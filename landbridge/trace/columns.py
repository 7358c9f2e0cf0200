"""Columns of a trace: accepted names, and the conversion of a row's values to a job."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from landbridge.trace.job import TraceJob

#: Accepted names by value, in lower case. The first one that has a value in a row is used.
NAMES: Mapping[str, tuple[str, ...]] = {
    "submitted": ("submitted", "timestamp", "submit_time", "submit", "submit_s"),
    "eligible": ("eligible", "eligible_time"),
    "seconds": ("seconds", "duration", "run_time", "duration_s", "elapsedraw"),
    "gpus": ("gpus", "num_gpus", "gpu_num"),
    "tres": ("alloctres", "reqtres", "tres_alloc_str", "tres_req_str"),
    "group": ("group", "cluster", "vc", "user"),
    "account": ("account",),
    "minutes": ("minutes", "time_limit", "limit_minutes", "timelimitraw"),
    "kind": ("gpu_type", "gpu_kind", "gpu_spec"),
    "user": ("user", "user_name"),
    "job": ("job_id", "jobidraw", "jobid"),
    "started": ("started", "start_time", "start", "start_s"),
    "nodes": ("nodes", "nnodes", "node_num", "node_count"),
    "state": ("state", "job_state"),
}
#: Values without which a file is not a trace; `tres` takes the place of `gpus`.
REQUIRED = ("submitted", "seconds", "gpus")
#: Fields of `sacct -aXPn -o ...`, which prints no header. Exports of earlier releases have no Eligible.
SACCT = (
    "JobIDRaw", "User", "Account", "Partition", "QOS", "Submit", "Start", "End", "State", "ElapsedRaw", "NNodes",
    "AllocTRES", "ReqTRES", "Constraints", "Eligible",
)  # fmt: skip
_GPU_TRES = re.compile(r"(?:^|,)gres/gpu(?::([^=,]+))?=(\d+)")
#: Texts of sacct for a value that does not exist.
_ABSENT = frozenset({"", "unknown", "none", "n/a", "unlimited", "partition_limit", "invalid"})


class BadValue(Exception):
    """Value of a row that is not what its column holds; `column` is the column's name."""

    def __init__(self, column: str, message: str) -> None:
        self.column = column
        super().__init__(message)


class Columns:
    """Positions of the values in the rows of a table."""

    def __init__(self, header: Sequence[str]) -> None:
        self.header = tuple(name.strip() for name in header)
        folded = [name.casefold() for name in self.header]
        self._at = {
            value: tuple(folded.index(name) for name in names if name in folded) for value, names in NAMES.items()
        }
        self._gpus, self._tres = self._at["gpus"], self._at["tres"]

    @property
    def lacks_eligible(self) -> bool:
        """True for sacct's output without the time at which jobs could start."""
        return not self._at["eligible"] and any(name.casefold() == "elapsedraw" for name in self.header)

    def missing(self) -> tuple[str, ...]:
        """Return the values of REQUIRED that no column holds."""
        return tuple(value for value in REQUIRED if not self._at[value] and not (value == "gpus" and self._tres))

    def job(self, row: Sequence[object]) -> TraceJob | None:
        """Return the job of a row; None if it requested no GPU or did not run. Raises BadValue."""
        gpus, kind = self._gpus_of(row)
        seconds = self._number(row, "seconds") or 0.0
        if seconds < 0:
            raise BadValue(self._name("seconds"), f"the run time is negative: {seconds:g} seconds")
        submitted = self._time(row, "submitted")
        if submitted is None:
            raise BadValue(self._name("submitted"), "the time of submission is missing")
        if not gpus or not seconds:
            return None
        limit = self._number(row, "minutes")
        if limit is not None and limit < 0:
            raise BadValue(self._name("minutes"), f"the time limit is negative: {limit:g} minutes")
        return TraceJob(
            submitted,
            seconds,
            gpus,
            self._text(row, "group"),
            self._text(row, "account"),
            limit,
            self._text(row, "kind") or kind,
            self._text(row, "user"),
            self._text(row, "job"),
            self._time(row, "started"),
            int(self._number(row, "nodes") or 0),
            self._text(row, "state").partition(" ")[0],
            self._time(row, "eligible"),
        )

    def _gpus_of(self, row: Sequence[object]) -> tuple[int, str]:
        """Return the number of GPUs, and their type if the row has one."""
        number = self._number(row, "gpus") if self._gpus else None
        if number is not None:
            if number < 0 or number != int(number):
                raise BadValue(self._name("gpus"), f"{number:g} is not a number of whole GPUs")
            return int(number), ""
        for at in self._tres:
            gpus, kind = gpus_of_tres(str(row[at] or ""))
            if gpus:
                return gpus, kind
        return 0, ""

    def _value(self, row: Sequence[object], value: str) -> object:
        for at in self._at[value]:
            text = row[at]
            if text is not None and text != "":
                return text
        return None

    def _text(self, row: Sequence[object], value: str) -> str:
        text = self._value(row, value)
        if text is None:
            return ""
        text = ",".join(map(str, text)) if isinstance(text, list) else str(text)
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise BadValue(self._name(value), "the line is not UTF-8 text")
        return text

    def _number(self, row: Sequence[object], value: str) -> float | None:
        text = self._value(row, value)
        if text is None:
            return None
        try:
            number = float(text)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            if str(text).strip().casefold() in _ABSENT:
                return None
            raise BadValue(self._name(value), f"{_shown(text)} is not a number") from None
        if not math.isfinite(number):
            raise BadValue(self._name(value), f"{_shown(text)} is not a finite number")
        return number

    def _time(self, row: Sequence[object], value: str) -> float | None:
        """Return seconds since 1970 from a number, or from a date and time, which is UTC without a time zone."""
        text = self._value(row, value)
        if text is None or isinstance(text, int | float):
            return self._number(row, value)
        words = str(text)
        if "-" not in words[1:]:
            return self._number(row, value)
        try:
            moment = datetime.fromisoformat(words)
        except ValueError:
            raise BadValue(self._name(value), f"{_shown(text)} is not a time, such as 2026-11-25T08:00:00") from None
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()

    def _name(self, value: str) -> str:
        positions = self._at[value]
        return self.header[positions[0]] if positions else NAMES[value][0]


def gpus_of_tres(tres: str) -> tuple[int, str]:
    """Return the number of GPUs of a TRES list such as `cpu=8,gres/gpu=8,gres/gpu:h100=8`, and their type.

    The count without a type includes the typed ones. The type is empty without one, and with several.
    """
    total, by_kind = 0, dict[str, int]()
    for match in _GPU_TRES.finditer(tres):
        kind, count = match[1], int(match[2])
        if kind:
            by_kind[kind] = by_kind.get(kind, 0) + count
        else:
            total += count
    return max(total, sum(by_kind.values())), next(iter(by_kind)) if len(by_kind) == 1 else ""


def _shown(value: object) -> str:
    """Return a value as a short text for a message."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
