"""Exchange with the mover: files of JSON in a folder that the storage host exports to the controllers.

The controller writes the requests, the mover the reports, each whole and by rename. A file that is absent or cannot be
read is empty: then no job is released, and the next pass repeats the requests. Requests about results are the only record
that a job has any: if they cannot be read, they are not written again.
"""

import contextlib
import json
import math
import os
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from landbridge.staging.places import DataInUse, DataReport, DatasetPlace, StagingReports
from landbridge.staging.results import RESULTS_STATES, ResultsReport, ResultsRequest

REQUESTS, REPORTS = "requests.json", "reports.json"
IN_USE = "in-use.json"
RESULTS_REQUESTS, RESULTS_REPORTS = "results.json", "results-reports.json"
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


def write_reports(
    folder: Path,
    reports: Mapping[DatasetPlace, DataReport],
    now: float | None = None,
    inspected: float | None = None,
) -> None:
    """Write the reports with the present time. Raises OSError."""
    rows = [{**_place(place), **{name: getattr(report, name) for name in _FIELDS}} for place, report in reports.items()]
    times = {"time": time.time() if now is None else now, "inspected": inspected}
    _write(folder / REPORTS, {**times, "reports": rows})


def read_reports(folder: Path) -> StagingReports:
    """Return the reports; empty ones if there is no readable file."""
    _look_at(folder)
    try:
        data = json.loads((folder / REPORTS).read_text(encoding="utf-8"))
        by_place = {_read_place(row): _report(row) for row in data["reports"]}
        inspected = data.get("inspected")
        return StagingReports(float(data["time"]), by_place, None if inspected is None else _finite(inspected))
    except (OSError, ValueError, KeyError, TypeError):
        return StagingReports()


def write_in_use(folder: Path, in_use: DataInUse) -> None:
    """Write the datasets in use. Raises OSError."""
    rows = [{"data_class": data_class, "dataset": dataset} for data_class, dataset in sorted(in_use.datasets)]
    _write(folder / IN_USE, {"inspected": in_use.inspected, "datasets": rows})


def read_in_use(folder: Path) -> DataInUse:
    """Return the datasets in use; without the time of an inspection if there is no readable file."""
    try:
        data = json.loads((folder / IN_USE).read_text(encoding="utf-8"))
        datasets = frozenset((str(row["data_class"]), str(row["dataset"])) for row in data["datasets"])
        return DataInUse(None if data["inspected"] is None else _finite(data["inspected"]), datasets)
    except (OSError, ValueError, KeyError, TypeError):
        return DataInUse()


def write_results(folder: Path, requests: Mapping[str, ResultsRequest]) -> None:
    """Write the requests about results, by run, if they differ from those in the folder. Raises OSError and ValueError."""
    if read_results(folder) != requests:
        _write(folder / RESULTS_REQUESTS, {"results": [asdict(request) for _, request in sorted(requests.items())]})


def read_results(folder: Path) -> dict[str, ResultsRequest]:
    """Return the requests about results by run; empty without a file. Raises OSError and ValueError for an unreadable one."""
    path = folder / RESULTS_REQUESTS
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["results"]
        requests = [ResultsRequest(**row) for row in rows]
    except FileNotFoundError:
        return {}
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} has no requests about results: {error}") from None
    return {request.run: request for request in requests}


def write_results_reports(folder: Path, reports: Mapping[str, ResultsReport]) -> None:
    """Write the reports about results by run. Raises OSError."""
    rows = [{"run": run, **asdict(report)} for run, report in reports.items()]
    _write(folder / RESULTS_REPORTS, {"time": time.time(), "reports": rows})


def read_results_reports(folder: Path) -> dict[str, ResultsReport]:
    """Return the reports about results by run; empty if there is no readable file."""
    _look_at(folder)
    try:
        rows = json.loads((folder / RESULTS_REPORTS).read_text(encoding="utf-8"))["reports"]
        reports = {str(row.pop("run")): ResultsReport(**row) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {run: report for run, report in reports.items() if report.state in RESULTS_STATES}


def last_reports(folder: Path) -> float:
    """Return when the mover last reported both data and results; 0 if it has not."""
    _look_at(folder)
    try:
        return min((folder / name).stat().st_mtime for name in (REPORTS, RESULTS_REPORTS))
    except OSError:
        return 0.0


def _look_at(folder: Path) -> None:
    """List the folder, so that a file that the storage host has replaced itself is found.

    NFS-Ganesha keeps the entries of a folder until it sees another change time than after its own last change. The controller's
    writes are its own, so that it would give the former file for ever (seen with Ganesha 6.5, 2026-11-26).
    """
    with contextlib.suppress(OSError):
        os.listdir(folder)


def _report(row: Mapping[str, Any]) -> DataReport:
    if row["state"] not in _STATES:
        raise ValueError(f"{row['state']!r} is not a state of a report")
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
        raise ValueError(f"{number} is not a finite number")
    return number


def _place(place: DatasetPlace) -> dict[str, str]:
    return {"dataset": place.dataset, "data_class": place.data_class, "site": place.site}


def _read_place(row: Mapping[str, Any]) -> DatasetPlace:
    if row["site"] not in ("onprem", "aws"):
        raise ValueError(f"{row['site']!r} is not a site")
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
