"""Demand of jobs that wait for another job, a release or a begin time: it begins when they may start."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from landbridge.findings import Severity
from landbridge.simulation.mapping import AccountMapping, simulated_jobs
from landbridge.trace import Trace, demand_of
from tests.unit.burst.situations import site
from tests.unit.trace.test_reader import SACCT_FORMAT, trace_of

MONDAY = datetime(2026, 10, 5, tzinfo=UTC)
DAY = 86_400.0


def chain(folder: Path, *, header: bool, eligible: bool = True) -> Trace:
    """Return seven jobs of 8 GPUs and a day each, submitted at once, each after the end of the one before."""
    rows = [SACCT_FORMAT.replace(",", "|")] if header else []
    for number in range(7):
        times = [MONDAY, MONDAY + timedelta(days=number), MONDAY + timedelta(days=number + 1)]
        submit, start, end = (time.strftime("%Y-%m-%dT%H:%M:%S") for time in times)
        rows.append(f"{number}|ann|vision|gpu|normal|{submit}|{start}|{end}|COMPLETED|86400|1|gres/gpu=8|||{start}")
    if not eligible:
        rows = [row.rpartition("|")[0] for row in rows]
    return trace_of("\n".join([*rows, ""]), folder, "jobs.txt")


@pytest.mark.parametrize("header", [True, False])
def test_a_chain_of_jobs_needs_the_gpus_of_one_of_them(header: bool, tmp_path: Path) -> None:
    trace = chain(tmp_path, header=header)
    demand = demand_of(trace.jobs, until=MONDAY.timestamp() + 7 * DAY)
    assert trace.findings == () and (demand.peak, demand.gpu_hours, demand.hours) == (8, 7 * 24 * 8, 7 * 24)


@pytest.mark.parametrize("header", [True, False])
def test_an_export_without_the_column_says_that_chains_count_at_once(header: bool, tmp_path: Path) -> None:
    trace = chain(tmp_path, header=header, eligible=False)
    (finding,) = trace.findings
    assert (finding.rule, finding.severity) == ("trace-eligible", Severity.WARNING) and "Eligible" in str(finding.fix)
    assert demand_of(trace.jobs).peak == 56


def test_a_simulated_job_comes_when_it_may_start(tmp_path: Path) -> None:
    jobs = simulated_jobs(chain(tmp_path, header=True).jobs, site(), AccountMapping())
    assert [job.submitted for job in jobs] == [MONDAY.timestamp() + day * DAY for day in range(7)]


def test_squeue_has_the_time_too(tmp_path: Path) -> None:
    def at(number: float) -> dict[str, object]:
        return {"set": number > 0, "infinite": False, "number": number}

    job = {"tres_req_str": "gres/gpu=8", "time_limit": at(60), "job_state": ["PENDING"], "submit_time": at(1000)}
    jobs = [{**job, "job_id": 1, "eligible_time": at(5000)}, {**job, "job_id": 2, "eligible_time": at(0)}]
    trace = trace_of(json.dumps({"jobs": jobs}), tmp_path, "queue.json")
    assert [(each.job, each.ready) for each in trace.jobs] == [("2", 1000.0), ("1", 5000.0)]
