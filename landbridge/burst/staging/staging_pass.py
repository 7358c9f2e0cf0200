"""Pass about data and results: read Slurm's queue and the mover's reports, decide, write the requests, release jobs.

It may be interrupted at any point: jobs are held in Slurm itself, and the next pass decides again from the same facts. A job
that states results is released after they were recorded, so that none ends unseen.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from landbridge.burst.model import BurstPolicy, DecisionRecord
from landbridge.burst.slurm.slurm import SlurmError
from landbridge.burst.staging import queue
from landbridge.burst.staging.decide import data_in_use, decide_staging
from landbridge.burst.staging.model import DataJob
from landbridge.burst.staging.results import requested_results
from landbridge.staging.exchange import (
    read_reports,
    read_results,
    read_results_reports,
    write_in_use,
    write_requests,
    write_results,
)

Record = Callable[[tuple[DecisionRecord, ...]], None]


def staging_pass(
    policy: BurstPolicy, record: Record, failed: Callable[[str, str], None]
) -> Mapping[int, float | None] | None:
    """Carry out one pass; return the seconds until the data of jobs are in AWS. None: Slurm did not list the jobs that state data."""
    staging = policy.staging
    if staging is None:
        return {}
    folder = Path(staging.exchange)
    try:
        jobs = queue.data_jobs()
    except SlurmError as error:
        failed("slurm", str(error))
        return None
    now = time.time()
    reports = read_reports(folder)
    decision = decide_staging(jobs, reports, policy, staging, now)
    try:
        write_requests(folder, decision.requests)
        write_in_use(folder, data_in_use(jobs, policy, reports))
    except OSError as error:
        failed("staging", f"{folder}: {error.strerror or error}")
    try:
        _record_results(folder, jobs, policy, now)
    except (OSError, ValueError) as error:
        failed("staging", f"results of jobs: {error}")
        unrecorded = {job.id for job in jobs if job.results is not None}
        decision = replace(decision, releases=tuple(note for note in decision.releases if note.job not in unrecorded))
    errors = queue.release(decision.releases) | queue.write_notes(decision.notes)
    for text in dict.fromkeys(errors.values()):
        failed("slurm", text)
    records = tuple(
        DecisionRecord(now, "data", (change.job,), text=change.text)
        for change in (*decision.releases, *decision.notes)
        if change.job not in errors
    )
    if records:
        record(records)
    return decision.seconds_to_aws


def _record_results(folder: Path, jobs: Iterable[DataJob], policy: BurstPolicy, now: float) -> None:
    """Write the requests about the results of jobs. Raises OSError and ValueError."""
    write_results(folder, requested_results(read_results(folder), jobs, read_results_reports(folder), policy, now))
