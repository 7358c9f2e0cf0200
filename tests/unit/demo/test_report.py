"""Report of a demonstration, as text and as JSON."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from sandbox.demo.report import DemoError, DemoJob, DemoReport, Reality


@pytest.fixture
def report() -> DemoReport:
    return DemoReport("A demonstration", Console(file=io.StringIO(), width=150, highlight=False))


def text(report: DemoReport) -> str:
    return report.console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_steps_are_shown_while_they_run_and_timed(report: DemoReport) -> None:
    with report.live(), report.step("build") as step:
        step.note("a line [with brackets]")
        assert "> build" in text(report) and "a line [with brackets]" in text(report)
        step.result = "3 resources"
    assert report.steps[0].state == "done" and report.steps[0].seconds >= 0
    assert "build: 3 resources" in text(report)


def test_a_failed_step_is_marked_and_the_error_passes(report: DemoReport) -> None:
    with pytest.raises(DemoError, match="no room"), report.step("build"):
        raise DemoError("no room", "make some")
    assert report.steps[0].state == "failed"
    report.summary()
    assert "FAILED" in text(report)


def test_json_holds_everything_the_tables_show(report: DemoReport, tmp_path: Path) -> None:
    report.level = "embedded"
    with report.step("one"):
        pass
    report.add_resources({"aws:ec2/subnet:Subnet": 2, "aws:ec2/vpc:Vpc": 1, "aws:iam/role:Role": 1})
    report.add_resources({"aws:ec2/subnet:Subnet": 1})
    report.add_job(
        DemoJob(
            "digits-1", "7", "aws", ("p5-1", "p5-2"), 16, "COMPLETED", 4.0, 30.0, None, "no price", "abc", {"loss": 0.1}
        )
    )
    report.add_realities(Reality("Slurm", "simulated", "a queue", "the real one"))
    report.save(tmp_path / "deep" / "report.json")
    read = json.loads((tmp_path / "deep" / "report.json").read_text())
    assert read["level"] == "embedded" and [step["name"] for step in read["steps"]] == ["one"]
    assert read["resources"] == {"aws:ec2/subnet:Subnet": 3, "aws:ec2/vpc:Vpc": 1, "aws:iam/role:Role": 1}
    assert read["jobs"][0]["nodes"] == ["p5-1", "p5-2"] and read["jobs"][0]["cost_usd"] is None
    assert read["realities"][0]["adds"] == "the real one"
    report.summary()
    shown = text(report)
    assert "Resources created: 5" in shown and "Subnet 3, Vpc" in shown
    assert "aws: p5-1, p5-2 (16 GPUs)" in shown and "unknown, no price" in shown and "simulated" in shown
