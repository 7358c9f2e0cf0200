"""Requests about results of jobs: recorded before the release, ended with the job, and kept until the mover is done."""

from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.burst.staging.decide import RECORDED, decide_staging
from landbridge.burst.staging.model import DataJob
from landbridge.burst.staging.results import GIVE_UP_SECONDS, requested_results, results_text
from landbridge.staging.exchange import (
    RESULTS_REQUESTS,
    read_results,
    read_results_reports,
    write_results,
    write_results_reports,
)
from landbridge.staging.places import StagingReports
from landbridge.staging.results import ResultsReport, ResultsRequest, ResultsState, ResultsStatement
from tests.unit.burst.data_of_jobs.test_decide import POLICY, STAGING, stated
from tests.unit.burst.situations import NOW

RUN = f"{POLICY.cluster}-7"
OPEN = ResultsRequest(RUN, "internal", "ada", 20001, "out", "7")
ENDED = replace(OPEN, ended=NOW - 60)


def with_results(id: int = 7, **fields: object) -> DataJob:
    words: dict[str, object] = {"data": (), "results": ResultsStatement("out"), "submission": 7, "user": "ada"}
    return stated(id, **{**words, "uid": 20001, **fields})


def requested(
    before: ResultsRequest | None, *jobs: DataJob, report: ResultsReport | None = None, now: float = NOW
) -> dict[str, ResultsRequest]:
    known = {} if before is None else {before.run: before}
    return requested_results(known, jobs, {} if report is None else {RUN: report}, POLICY, now)


def test_results_are_open_while_a_job_of_the_run_is_in_the_queue() -> None:
    assert requested(None, with_results()) == {RUN: OPEN}
    # Tasks of an array are one run.
    assert requested(None, with_results(), with_results(8, is_pending=False)) == {RUN: OPEN}
    assert requested(OPEN) == {RUN: replace(OPEN, ended=NOW)}
    assert requested(ENDED, now=NOW + 5) == {RUN: ENDED}
    # Queued again after its end.
    assert requested(ENDED, with_results()) == {RUN: OPEN}
    named = with_results(results=ResultsStatement(".", "first"), account="of no class")
    assert requested(None, named) == {RUN: replace(OPEN, data_class="", path=".", name="first")}


@pytest.mark.parametrize(
    ("state", "ended", "now", "is_requested"),
    [
        ("home", NOW - 60, NOW, False),
        ("empty", NOW - 60, NOW, False),
        ("moving", NOW - 60, NOW, True),
        ("refused", NOW - 60, NOW, True),
        ("refused", NOW - 60, NOW + GIVE_UP_SECONDS, False),
        # Of an earlier end of the same job.
        ("home", NOW - 600, NOW, True),
    ],
)
def test_a_request_ends_with_the_mover(state: ResultsState, ended: float, now: float, is_requested: bool) -> None:
    assert bool(requested(ENDED, report=ResultsReport(state, ended), now=now)) == is_requested


def test_a_job_is_released_once_its_results_are_recorded() -> None:
    held = with_results()
    decision = decide_staging([held, with_results(8, is_pending=False)], StagingReports(), POLICY, STAGING, NOW)
    assert decision.requests == {} and decision.notes == ()
    assert [(note.job, note.text) for note in decision.releases] == [(7, RECORDED)]


def test_a_record_that_cannot_be_read_is_not_written_again(tmp_path: Path) -> None:
    write_results(tmp_path, {RUN: ENDED})
    assert read_results(tmp_path) == {RUN: ENDED}
    reports = {RUN: ResultsReport("home", ENDED.ended, 3, 0, 0.0, 0.0, "/x")}
    write_results_reports(tmp_path, reports)
    assert read_results_reports(tmp_path) == reports
    for text in ("", "{}", '{"results": [{"run": "a"}]}'):
        (tmp_path / RESULTS_REQUESTS).write_text(text)
        with pytest.raises(ValueError, match=r"."):
            write_results(tmp_path, {})
        assert (tmp_path / RESULTS_REQUESTS).read_text() == text


def test_the_text_about_results_is_one_line() -> None:
    moving = ResultsReport("moving", ENDED.ended, 100, 40, 2.0, 0.01)
    assert "after the end of the job" in results_text(OPEN, None)
    assert results_text(ENDED, replace(moving, ended=1.0)).endswith("the mover has not reported")
    assert results_text(ENDED, moving) == (
        f"results of {RUN}: 40 of 100 bytes are left, about 2 s, at most 0.0100 USD; no node runs for them"
    )
    assert results_text(ENDED, replace(moving, state="refused", text="no room")).endswith(": no room")
