"""Reader of a trace of jobs: a CSV file with a header, JSON objects with the same names, or the output of `squeue
--json`."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

#: Names of the columns. The first one that a row has is used.
SUBMITTED = ("submitted", "timestamp", "submit_time", "submit")
SECONDS = ("seconds", "duration", "run_time")
GPUS = ("gpus", "num_gpus", "gpu_num")
GROUP = ("group", "cluster", "vc", "user")
LIMIT = ("minutes", "time_limit", "limit_minutes")
_GPU_TRES = re.compile(r"(?:^|,)gres/gpu(?::[^=,]+)?=(\d+)")


class TraceError(Exception):
    """File that is not a readable trace; the message contains the file and the row."""


@dataclass(frozen=True, slots=True)
class TraceJob:
    """Job of a trace: time of submission, run time, GPUs. `minutes`: its time limit; None if unknown.

    `account` is empty if the file has none; `group` is the file's own group of jobs, such as a virtual cluster.
    """

    submitted: float
    seconds: float
    gpus: int
    group: str = ""
    account: str = ""
    minutes: float | None = None


def read(path: Path) -> list[TraceJob]:
    """Return the jobs that requested GPUs and ran, in the order of their submission. Raises TraceError."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows: Iterable[Mapping[str, Any]] = (
                csv.DictReader(file) if path.suffix != ".json" else _objects(file.read())
            )
            jobs = [job for number, row in enumerate(rows, start=1) if (job := _job(row, path, number))]
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error, json.JSONDecodeError) as error:
        raise TraceError(f"{path}: {error}") from error
    if not jobs:
        raise TraceError(f"{path}: no job in it asks for a GPU and ran")
    return sorted(jobs, key=lambda job: job.submitted)


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    document = json.loads(text)
    if isinstance(document, dict):
        document = document.get("jobs")
    if not isinstance(document, list) or not all(isinstance(row, dict) for row in document):
        raise TraceError("a list of jobs is expected, or an object that has one as `jobs`")
    return (_flat(row) for row in document)


def _flat(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a job of `squeue --json` with plain numbers. A job that has not run is assumed to run until its time
    limit."""
    plain: dict[str, Any] = {
        key: (value.get("number") if value.get("set") and not value.get("infinite") else None)
        if isinstance(value, dict)
        else value
        for key, value in row.items()
    }
    tres = _GPU_TRES.search(str(plain.get("tres_req_str") or ""))
    if tres is not None:
        plain.setdefault("gpus", tres[1])
    if not any(plain.get(name) for name in SECONDS) and plain.get("time_limit"):
        plain["seconds"] = float(plain["time_limit"]) * 60
    return plain


def _job(row: Mapping[str, Any], path: Path, number: int) -> TraceJob | None:
    try:
        gpus, seconds = int(float(_value(row, GPUS) or 0)), float(_value(row, SECONDS) or 0)
        if gpus <= 0 or seconds <= 0:
            return None
        submitted, limit = _value(row, SUBMITTED), _value(row, LIMIT)
        if submitted is None:
            raise TraceError(f"{path}, job {number}: none of {', '.join(SUBMITTED)} is there")
        return TraceJob(
            submitted=_timestamp(submitted),
            seconds=seconds,
            gpus=gpus,
            group=str(_value(row, GROUP) or ""),
            account=str(row.get("account") or ""),
            minutes=float(limit) if limit is not None else None,
        )
    except (ValueError, TypeError, OverflowError) as error:
        raise TraceError(f"{path}, job {number}: {error}") from None


def _value(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """Return the value of the first of these columns that exists and is not empty; None without one."""
    for name in names:
        if name in row:
            value = row[name]
            if value is not None and value != "":
                return value
    return None


def _timestamp(value: Any) -> float:
    """Return seconds since 1970 from a number, or from a date and time, which is UTC without a time zone."""
    if isinstance(value, int | float):
        return float(value)
    text = str(value)
    if "-" not in text:
        return float(text)
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
