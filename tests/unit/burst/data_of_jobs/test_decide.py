"""Decision about jobs that state data: which are released, what is requested, and when a copy is worth it."""

from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.burst.model import Promote, PromotionPolicy, StagingPolicy
from landbridge.burst.slurm.slurm import SlurmError
from landbridge.burst.staging.decide import copy_refusal, decide_staging, explain_data, place_text
from landbridge.burst.staging.model import DataJob, StagingDecision
from landbridge.burst.staging.queue import jobs_of
from landbridge.staging.exchange import read_reports, read_requests, write_reports, write_requests
from landbridge.staging.places import DataReport, DatasetPlace, StagingReports
from landbridge.staging.statement import HELD_PREFIX
from tests.unit.burst.situations import NOW, decide, ec2, job, of, site, slurm

RULE = PromotionPolicy("gpu-home", ("gpu",), 600.0)
POLICY = site(promotions=(RULE,))
STAGING = StagingPolicy("/exchange", {"gpu-home": ("onprem",), "gpu": ("aws",), "any": ("onprem", "aws")})
IN_AWS, AT_SITE = DatasetPlace("corpus:1", "internal", "aws"), DatasetPlace("corpus:1", "internal", "onprem")
DONE = DataReport("present", 100, 0, 0.0, 0.0, "/data/corpus/1")
ABSENT = DataReport("absent", 100, 100, 50.0, 0.01)


def stated(id: int = 1, partition: str = "gpu", **fields: object) -> DataJob:
    note = f"{HELD_PREFIX}waits for corpus:1"
    known = DataJob(id, str(id), ("corpus:1",), partition, "lab", True, note, eligible=NOW - 30)
    return replace(known, **fields)  # type: ignore[arg-type]


def decided(*jobs: DataJob, reports: dict[DatasetPlace, DataReport] | None = None) -> StagingDecision:
    return decide_staging(jobs, StagingReports(NOW, reports or {}), POLICY, STAGING, NOW)


@pytest.mark.parametrize(
    ("partition", "needed"),
    [
        ("gpu", {IN_AWS}),
        ("gpu-home", {AT_SITE}),
        ("any", {IN_AWS, AT_SITE}),
        ("gpu,gpu-home", {IN_AWS, AT_SITE}),
        ("of another program", {IN_AWS, AT_SITE}),
    ],
)
def test_a_job_waits_until_its_data_are_at_each_site_of_its_partitions(
    partition: str, needed: set[DatasetPlace]
) -> None:
    held = stated(partition=partition)
    for absent in needed:
        reports = dict.fromkeys(needed - {absent}, DONE) | {absent: ABSENT}
        decision = decided(held, reports=reports)
        assert decision.releases == () and set(decision.requests.items()) == {(place, True) for place in needed}
    assert decided(held).releases == ()
    (release,) = decided(held, reports=dict.fromkeys(needed, DONE)).releases
    assert (release.job, release.text) == (1, "landbridge: data in place: /data/corpus/1")


def test_every_dataset_of_a_job_is_needed() -> None:
    two = stated(data=("corpus:1", "words:2"))
    assert decided(two, reports={IN_AWS: DONE}).releases == ()
    words = DatasetPlace("words:2", "internal", "aws")
    assert len(decided(two, reports={IN_AWS: DONE, words: DONE}).releases) == 1


def test_jobs_share_one_request() -> None:
    assert decided(stated(1), stated(2)).requests == {IN_AWS: True}


def test_a_held_job_reads_the_reason_once() -> None:
    refused = DataReport("refused", text="no dataset corpus:1 is in the bucket of class internal")
    (note,) = decided(stated(), reports={IN_AWS: refused}).notes
    assert note.text.startswith(HELD_PREFIX) and refused.text in note.text
    assert decided(stated(note=note.text), reports={IN_AWS: refused}).notes == ()


FREE = stated(partition="gpu-home", is_held=False, note="")


@pytest.mark.parametrize(
    ("fields", "seconds", "copied"),
    [
        ({"eligible": NOW - 601}, 50.0, True),
        ({"eligible": NOW - 599}, 50.0, False),
        ({"eligible": None}, 50.0, False),  # it waits for another job
        ({"eligible": NOW + 3600, "expected_start": NOW + 3600}, 50.0, False),  # its user's begin time
        ({"expected_start": NOW + 601}, 600.0, True),
        ({"expected_start": NOW + 601}, 601.0, False),  # it starts on-prem before its data are in AWS
        ({"expected_start": NOW + 599}, 1.0, False),
        ({"eligible": NOW - 601}, None, False),
        ({"eligible": NOW - 601, "minutes": 10, "deadline": NOW + 651}, 50.0, True),
        ({"eligible": NOW - 601, "minutes": 10, "deadline": NOW + 649}, 50.0, False),
        ({"eligible": NOW - 601, "account": "ward"}, 50.0, None),
        ({"eligible": NOW - 601, "partition": "gpu-home,gpu"}, 50.0, None),
    ],
)
def test_data_are_copied_for_a_promotion_only_if_that_is_faster_than_the_wait(
    fields: dict[str, object], seconds: float | None, copied: bool | None
) -> None:
    waiting = replace(FREE, **fields)  # type: ignore[arg-type]
    decision = decided(waiting, reports={IN_AWS: replace(ABSENT, seconds=seconds)})
    assert decision.requests == ({} if copied is None else {IN_AWS: copied})
    if copied is not None:
        assert (copy_refusal(waiting, RULE, seconds, NOW) is None) == copied
    assert decision.releases == () and decision.notes == ()


@pytest.mark.parametrize(("report", "promoted"), [(DONE, True), (ABSENT, False), (None, False)])
def test_a_job_is_promoted_when_its_data_are_in_aws(report: DataReport | None, promoted: bool) -> None:
    waiting = replace(FREE, eligible=NOW - 3600)
    seconds = decided(waiting, reports={} if report is None else {IN_AWS: report}).seconds_to_aws
    pending = replace(job(1, state="PENDING", wanted_nodes=2, eligible=NOW - 3600, started=None), partition="gpu-home")
    view = replace(slurm(pending), seconds_to_aws=seconds)
    assert bool(of(decide(view, ec2(), None, POLICY), Promote)) == promoted
    # Without an answer of Slurm it is not known which jobs state data.
    assert not of(decide(replace(view, seconds_to_aws=None), ec2(), None, POLICY), Promote)


def test_a_report_is_one_line() -> None:
    assert place_text(IN_AWS, None) == "corpus:1 in AWS: the mover has not reported"
    assert place_text(IN_AWS, ABSENT) == (
        "corpus:1 in AWS: is not there; 100 of 100 bytes are left, about 50 s, at most 0.0100 USD"
    )
    assert place_text(IN_AWS, DONE).endswith("in place, /data/corpus/1")


def test_why_a_job_is_not_promoted_and_whether_the_mover_runs() -> None:
    waiting = replace(FREE, eligible=NOW - 3600, expected_start=NOW + 700)
    slow = StagingReports(NOW, {AT_SITE: DONE, IN_AWS: replace(ABSENT, seconds=900.0)})
    texts = explain_data(waiting, slow, POLICY, STAGING, NOW)
    assert texts[-1] == (
        "its data are not copied to AWS: it is expected to start on-prem in 700 s, and the copy of its data takes 900 s"
    )
    assert "not reported for 400 s" in explain_data(stated(), replace(slow, at=NOW - 400), POLICY, STAGING, NOW)[-1]
    assert "never reported" in explain_data(stated(), StagingReports(), POLICY, STAGING, NOW)[-1]


def test_the_exchange_keeps_what_was_written(tmp_path: Path) -> None:
    requests = {IN_AWS: True, AT_SITE: False}
    write_requests(tmp_path, requests)
    assert read_requests(tmp_path) == requests
    reports = {IN_AWS: DONE, AT_SITE: ABSENT}
    write_reports(tmp_path, reports, NOW)
    assert read_reports(tmp_path) == StagingReports(NOW, reports)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reports.json", "requests.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"time": 1}', '{"time": 1, "reports": [{"dataset": "a:1"}]}'])
def test_a_file_that_cannot_be_read_is_in_place_of_no_data(tmp_path: Path, text: str) -> None:
    for name in ("reports.json", "requests.json"):
        (tmp_path / name).write_text(text)
    assert read_reports(tmp_path) == StagingReports()
    assert read_requests(tmp_path) is None


def row(*values: str) -> str:
    return "".join(f"{value}|x|" for value in values)


def test_squeue_shows_the_jobs_that_state_data() -> None:
    start = ("gpu", "lab", "0", "N/A", "1800000000", "N/A", "1-02:30:00", "PENDING", "ada", "20001")
    text = (
        row("7", "7", "N/A", *start, "tool; data=corpus:1", f"{HELD_PREFIX}waits for corpus:1")
        + row("\n8", "8", "N/A", *start, "(null)", "(null)")
        + row("\n9", "5", "3", *start, "data=a@1,b:2\nx", "landbridge: data in place: /a")
        + row("\n10", "10", "N/A", *start, "data=other form", f"{HELD_PREFIX}")
    )
    first, second = jobs_of(text, "|x|")
    assert (first.id, first.slurm_id, first.data, first.is_held, first.minutes) == (7, "7", ("corpus:1",), True, 1590)
    assert (second.slurm_id, second.data, second.is_held) == ("5_3", ("a:1", "b:2"), False)
    with pytest.raises(SlurmError):
        list(jobs_of("7|x|8|x|", "|x|"))
