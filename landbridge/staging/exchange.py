"""Exchange with the mover: two files of JSON in a folder that the storage host exports to the controllers.

The controller writes the requests, the mover the reports, each whole and by rename. A file that is absent or cannot be
read is empty: then no job is released, and the next pass repeats the requests.
"""

import contextlib
import json
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from landbridge.staging.places import DataReport, DatasetPlace, StagingReports

REQUESTS, REPORTS = "requests.json", "reports.json"
_FIELDS = ("state", "size", "left", "seconds", "usd", "path", "text")
_STATES = ("absent", "moving", "present", "refused")


def write_requests(folder: Path, requests: Mapping[DatasetPlace, bool]) -> None:
    """Write the requests if they differ from those in the folder. Raises OSError."""
    if read_requests(folder) != requests:
        rows = [{**_place(place), "copy": copy} for place, copy in sorted(requests.items())]
        _write(folder / REQUESTS, {"requests": rows})


def read_requests(folder: Path) -> dict[DatasetPlace, bool] | None:
    """Return the requests; None if there is no readable file."""
    try:
        rows = json.loads((folder / REQUESTS).read_text(encoding="utf-8"))["requests"]
        return {_read_place(row): row["copy"] is True for row in rows}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_reports(folder: Path, reports: Mapping[DatasetPlace, DataReport], now: float | None = None) -> None:
    """Write the reports with the present time. Raises OSError."""
    rows = [{**_place(place), **{name: getattr(report, name) for name in _FIELDS}} for place, report in reports.items()]
    _write(folder / REPORTS, {"time": time.time() if now is None else now, "reports": rows})


def read_reports(folder: Path) -> StagingReports:
    """Return the reports; empty ones if there is no readable file."""
    try:
        data = json.loads((folder / REPORTS).read_text(encoding="utf-8"))
        return StagingReports(float(data["time"]), {_read_place(row): _report(row) for row in data["reports"]})
    except (OSError, ValueError, KeyError, TypeError):
        return StagingReports()


def _report(row: Mapping[str, Any]) -> DataReport:
    if row["state"] not in _STATES:
        raise ValueError(f"{row['state']!r} is no state of a report")
    seconds, usd = row["seconds"], row["usd"]
    return DataReport(
        row["state"],
        int(row["size"]),
        int(row["left"]),
        None if seconds is None else _finite(seconds),
        None if usd is None else _finite(usd),
        str(row["path"]),
        str(row["text"]),
    )


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} is no finite number")
    return number


def _place(place: DatasetPlace) -> dict[str, str]:
    return {"dataset": place.dataset, "data_class": place.data_class, "site": place.site}


def _read_place(row: Mapping[str, Any]) -> DatasetPlace:
    if row["site"] not in ("onprem", "aws"):
        raise ValueError(f"{row['site']!r} is no site")
    return DatasetPlace(str(row["dataset"]), str(row["data_class"]), row["site"])


def _write(path: Path, data: Mapping[str, Any]) -> None:
    incoming = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with incoming.open("w", encoding="utf-8") as stream:
            json.dump(data, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        incoming.replace(path)
    finally:
        with contextlib.suppress(OSError):
            incoming.unlink(missing_ok=True)
