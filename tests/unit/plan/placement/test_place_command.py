"""Commands `landbridge place explain`, `place simulate` and `show --scp`, and jobs as scontrol prints them."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from landbridge.cli.main import build
from landbridge.cli.place.slurm_job import SlurmJobError, expected_wait, placement_job
from landbridge.plan.placement.service_control_policy import service_control_policy
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
