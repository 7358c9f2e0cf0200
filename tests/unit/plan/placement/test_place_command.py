"""Commands `landbridge place explain`, `place simulate` and `show --scp`, and jobs as scontrol prints them."""

import json
import os
import stat
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from landbridge.cli.main import build
from landbridge.cli.place.slurm_job import SlurmJobError, expected_wait, placement_job, stated_staging
from landbridge.plan.placement.job import MeasuredStaging
from landbridge.plan.placement.service_control_policy import service_control_policy
from landbridge.staging.exchange import write_reports
from landbridge.staging.places import DataReport, DatasetPlace, StagingReports
from tests.unit.core.samples import ROOT, shipped
from tests.unit.simulation.queues import JOBS, TRACE

HYBRID = ["--file", str(ROOT / "stacks" / "Pulumi.hybrid.yaml")]
RECORDED = sorted((ROOT / "tests" / "unit" / "burst" / "data").glob("*/*.squeue.json"))
JOB = "account: vision\ngpus: 16\nhours: 10\n"


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(build(), list(arguments), input=stdin, catch_exceptions=False)


def explain(tmp_path: Path, text: str, *options: str) -> Result:
    (tmp_path / "job.yaml").write_text(text)
    return run("place", "explain", str(tmp_path / "job.yaml"), *HYBRID, *options)


def test_places_are_printed_by_cost_with_the_reasons_against_others(tmp_path: Path) -> None:
    result = explain(tmp_path, JOB)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "job of vision: 16 GPUs, 10 h, class burst; all GPUs on-prem are idle"
    order = [line.split()[1] for line in lines if line[:1].isdigit()]
    assert order == ["p5", "on-prem", "p5-more"]
    clinic = explain(tmp_path, JOB.replace("vision", "clinic"))
    assert clinic.exit_code == 0 and "residency: data of account clinic (restricted) may not be in AWS" in clinic.stdout
    assert "45 CFR 164.308(b)" in clinic.stdout


def test_the_data_of_json_are_those_of_the_text(tmp_path: Path) -> None:
    data = json.loads(explain(tmp_path, JOB, "--idle", "0", "--wait", "5", "--format", "json").stdout)
    assert data["destinations"][0]["destination"].startswith("p5 ")
    onprem = next(destination for destination in data["destinations"] if destination["site"] == "onprem")
    assert onprem["start_hours"] == 5 and onprem["usd"] == pytest.approx(sum(part["usd"] for part in onprem["parts"]))


def test_findings_and_impossible_jobs_end_with_status_1(tmp_path: Path) -> None:
    result = explain(tmp_path, "account: visoin\ngpus: 8\nhours: 1\n")
    assert result.exit_code == 1 and "job.yaml:1:10: error:" in result.stderr and '"vision"' in result.stderr
    data = json.loads(explain(tmp_path, "gpus: x\n", "--format", "json").stdout)
    assert {finding["rule"] for finding in data["findings"]} == {"wrong-type", "missing-key"}
    too_large = explain(tmp_path, JOB.replace("16", "600"))
    assert too_large.exit_code == 1 and "no destination in this environment" in too_large.stdout


def test_usage_errors_end_with_status_2(tmp_path: Path) -> None:
    assert run("place", "explain", *HYBRID).exit_code == 2
    assert run("place", "explain", str(tmp_path / "none.yaml"), *HYBRID).exit_code == 2
    assert run("place", "explain", "--job-json", str(tmp_path / "none.json"), *HYBRID).exit_code == 2


def scontrol_job(**changes: Any) -> dict[str, Any]:
    """Return a recorded job of Slurm with GPUs."""
    recorded = json.loads(RECORDED[-1].read_text())
    job = {
        **recorded["jobs"][0],
        "account": "vision",
        "partition": "gpu",
        "name": "train-7",
        "job_state": ["PENDING"],
        "tres_req_str": "cpu=16,mem=1G,node=2,billing=16,gres/gpu=16,gres/gpu:h100=16",
        "time_limit": {"set": True, "infinite": False, "number": 600},
        "start_time": {"set": True, "infinite": False, "number": 1_795_400_000},
        **changes,
    }
    return {"jobs": [job]}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.name.split('.')[0]}")
def test_recorded_jobs_without_gpus_are_refused_with_a_reason(path: Path) -> None:
    recorded = json.loads(path.read_text())
    if not recorded["jobs"]:
        return
    with pytest.raises(SlurmJobError, match=r"GPU|time limit|no job"):
        placement_job({"jobs": [{**recorded["jobs"][0], "tres_req_str": "cpu=1,node=1", "tres_alloc_str": ""}]})


def test_a_job_of_slurm_has_its_labels_and_wait() -> None:
    job = placement_job(scontrol_job())
    assert (job.account, job.gpus, job.hours, job.name, job.partition, job.gpu) == (
        "vision",
        16,
        10.0,
        "train-7",
        "gpu",
        "h100",
    )
    assert expected_wait(scontrol_job(), 1_795_400_000 - 7200) == 2.0
    assert expected_wait(scontrol_job(start_time={"set": False, "infinite": False, "number": 0}), 0.0) is None


def test_a_job_is_read_from_a_file_and_from_standard_input(tmp_path: Path) -> None:
    text = json.dumps(scontrol_job())
    (tmp_path / "job.json").write_text(text)
    options = [*HYBRID, "--wait", "3", "--format", "json"]
    from_file = run("place", "explain", "--job-json", str(tmp_path / "job.json"), *options)
    from_stdin = run("place", "explain", "--job-json", "-", *options, stdin=text)
    assert from_file.exit_code == 0 and from_file.stdout == from_stdin.stdout
    onprem = next(
        destination for destination in json.loads(from_file.stdout)["destinations"] if destination["site"] == "onprem"
    )
    assert onprem["start_hours"] == 3


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"jobs": []}', '{"jobs": [{}]}', '{"jobs": 7}', "null"])
def test_output_without_a_job_is_a_finding(tmp_path: Path, text: str) -> None:
    (tmp_path / "job.json").write_text(text)
    result = run("place", "explain", "--job-json", str(tmp_path / "job.json"), *HYBRID)
    assert result.exit_code == 1 and "unreadable-job" in result.stderr


def test_a_job_id_is_read_with_scontrol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jobs.json").write_text(json.dumps(scontrol_job()))
    program = tmp_path / "scontrol"
    program.write_text(f'#!/bin/sh\n[ "$*" = "show job 4711 --json" ] && exec cat {tmp_path}/jobs.json\nexit 1\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert run("place", "explain", "--job", "4711", "--wait", "1", *HYBRID).exit_code == 0
    assert run("place", "explain", "--job", "4712", *HYBRID).exit_code == 2


def test_a_trace_is_placed_and_its_jobs_add_up() -> None:
    result = run("place", "simulate", str(TRACE), *HYBRID, "--format", "json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert data["jobs"] == JOBS == sum(total["jobs"] for total in data["destinations"].values()) + data["nowhere"]
    assert data["destinations"]["on-prem dgx-h100"]["jobs"] > 0
    # Restricted jobs are refused in each pool, and only by residency.
    assert {row["filter"] for row in data["refused"]} == {"residency"}
    all_at_home = json.loads(
        run("place", "simulate", str(TRACE), *HYBRID, "--restricted", "1", "--format", "json").stdout
    )
    assert all_at_home["destinations"]["on-prem dgx-h100"]["jobs"] == JOBS
    text = run("place", "simulate", str(TRACE), *HYBRID).stdout
    assert "residency" in text and "classes: burst 400" in text


def test_a_trace_that_cannot_be_read_has_findings(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("timestamp,duration,num_gpus\n")
    result = run("place", "simulate", str(tmp_path / "empty.csv"), *HYBRID)
    assert result.exit_code == 1 and "trace-empty" in result.output


def test_the_service_control_policy_is_printed() -> None:
    result = run("show", *HYBRID, "--scp")
    assert result.exit_code == 0 and result.stdout.strip() == service_control_policy(shipped("hybrid"))


ABSENT = DataReport("absent", 10**12, 10**12, 7200.0, 90.0)
PRESENT = DataReport("present", path="/data")
IN_AWS, AT_SITE = (DatasetPlace("corpus:1", "internal", site) for site in ("aws", "onprem"))


def test_the_data_that_a_job_states_count_as_the_mover_has_reported(tmp_path: Path) -> None:
    def write_job(**changes: Any) -> None:
        stated = scontrol_job(comment="data=corpus:1", start_time={"set": False}, **changes)
        (tmp_path / "job.json").write_text(json.dumps(stated))

    write_job()
    words = ("place", "explain", "--job-json", str(tmp_path / "job.json"), *HYBRID, "--exchange", str(tmp_path))

    def destinations(at_site: DataReport) -> dict[str, Any]:
        write_reports(tmp_path, {IN_AWS: PRESENT, AT_SITE: at_site})
        data = json.loads(run(*words, "--format", "json").stdout)
        return {each["site"]: each for each in data["destinations"]}

    before, after = destinations(PRESENT)["onprem"], destinations(ABSENT)["onprem"]
    assert (before["start_hours"], after["start_hours"], after["staged_gb"]) == (0, 2, 1000)
    (staging,) = [part for part in after["parts"] if part["name"] == "staging"]
    assert staging["usd"] == 90 and "1,000.0 GB in 2.00 h" in staging["basis"]
    assert not [part for part in destinations(ABSENT)["aws"]["parts"] if part["name"] == "staging"]
    # Ten hours and a copy of two end after a deadline in eleven hours.
    write_job(deadline={"set": True, "infinite": False, "number": int(time.time()) + 11 * 3600})
    assert "onprem" in destinations(PRESENT) and "onprem" not in destinations(ABSENT)
    write_job(deadline={"set": True, "infinite": False, "number": 0})
    # The cost of a copy whose time is not known is not known.
    assert destinations(replace(ABSENT, seconds=None))["onprem"]["usd"] is None


def test_staging_is_that_of_all_datasets_of_a_job() -> None:
    job = replace(placement_job(scontrol_job()), comment="data=corpus:1,words:2")
    words = {place: replace(place, dataset="words:2") for place in (IN_AWS, AT_SITE)}
    reports = {IN_AWS: PRESENT, words[IN_AWS]: ABSENT, AT_SITE: ABSENT, words[AT_SITE]: ABSENT}
    staging = stated_staging(job, "internal", StagingReports(1.0, reports))
    assert staging == {"aws": MeasuredStaging(1000, 2, 90), "onprem": MeasuredStaging(2000, 4, 180)}
    assert stated_staging(job, "internal", StagingReports())["aws"].hours is None
    assert stated_staging(replace(job, comment="data=other form"), "internal", StagingReports()) == {}
    assert stated_staging(replace(job, comment=""), "internal", StagingReports(1.0, reports)) == {}
