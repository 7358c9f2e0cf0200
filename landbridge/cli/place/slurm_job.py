"""Conversion of a job in scontrol's JSON to a job of the placement. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from landbridge.burst.slurm.slurm_json import job_of
from landbridge.burst.staging.decide import seconds_until
from landbridge.environment.base import SITES, Site
from landbridge.plan.placement.job import MeasuredStaging, PlacementJob
from landbridge.staging.places import DatasetPlace, StagingReports
from landbridge.staging.statement import stated_data

#: GPUs in a TRES text: `gres/gpu=8` and, with a model, `gres/gpu:h100=8`.
_GPUS = re.compile(r"(?:^|,)gres/gpu(?::(?P<model>[^=,:]+))?=(?P<count>\d+)")


class SlurmJobError(ValueError):
    """Output of scontrol that has no job with GPUs and a time limit."""


def placement_job(raw: Mapping[str, Any]) -> PlacementJob:
    """Return the job of `scontrol show job ID --json`; its run time is its time limit. Raises SlurmJobError."""
    fields, job = _first(raw), job_of(_first(raw))
    text = str(fields.get("tres_req_str") or fields.get("tres_alloc_str") or "")
    requests = [(match["model"] or "", int(match["count"])) for match in _GPUS.finditer(text)]
    if not requests:
        raise SlurmJobError(f"job {job.id} requests no GPU")
    if job.minutes is None:
        raise SlurmJobError(f"job {job.id} has no time limit, so its cost is not known")
    # Slurm lists the sum, and besides it the GPUs of each model.
    model = next((name for name, _ in requests if name), "")
    return PlacementJob(
        account=job.account.lower(),
        gpus=max(count for _, count in requests),
        hours=job.minutes / 60,
        name=str(fields.get("name") or ""),
        partition=job.partition,
        qos=str(fields.get("qos") or ""),
        comment=job.comment,
        wckey=job.wckey,
        gpu=model,
    )


def expected_wait(raw: Mapping[str, Any], now: float) -> float | None:
    """Return the hours until the expected start of a pending job; None if Slurm has no estimate. `now`: Unix time."""
    start = job_of(_first(raw)).expected_start
    return None if start is None else max(0.0, (start - now) / 3600)


def deadline_hours(raw: Mapping[str, Any], now: float) -> float | None:
    """Return the hours until the job must have ended (`sbatch --deadline`); None without a deadline. `now`: Unix time."""
    value = _first(raw).get("deadline")
    number = value.get("number") if isinstance(value, Mapping) else value
    return (number - now) / 3600 if isinstance(number, int) and number > 0 else None


def stated_staging(job: PlacementJob, data_class: str, reports: StagingReports) -> dict[Site, MeasuredStaging]:
    """Return what the mover has reported about the data that a job states, by site; empty for a job without a statement.

    Times are those of the burst controller (landbridge/burst/staging/decide.py).
    """
    try:
        datasets = stated_data(job.comment)
    except ValueError:
        return {}
    staging: dict[Site, MeasuredStaging] = {}
    for site in SITES if datasets else ():
        places = [DatasetPlace(dataset, data_class, site) for dataset in datasets]
        seconds = seconds_until(places, reports)
        known = [reports.by_place[place] for place in places if place in reports.by_place]
        prices = [0.0 if report.state == "present" else report.usd for report in known]
        usd = None if None in prices or len(known) < len(places) else sum(price or 0.0 for price in prices)
        left = sum(report.left for report in known) / 1e9
        # If the time is not known, the data counts as incomplete.
        gb = left if seconds is not None else max(left, 1e-9)
        staging[site] = MeasuredStaging(gb, None if seconds is None else seconds / 3600, usd)
    return staging


def _first(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    jobs = raw.get("jobs") if isinstance(raw, Mapping) else None
    if not isinstance(jobs, list) or not jobs or not isinstance(jobs[0], Mapping) or "job_id" not in jobs[0]:
        raise SlurmJobError("there is no job: the output of `scontrol show job ID --json` is expected")
    return jobs[0]
