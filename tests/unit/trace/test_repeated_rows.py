"""Exports with steps, with a run twice, of months that overlap, and of two clusters: each run of a job counts once."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.findings import Finding, Severity
from landbridge.trace import demand_of
from landbridge.trace.allocations import ALLOCATION_FIELDS, allocations_of
from tests.unit.core.samples import ROOT
from tests.unit.trace.test_reader import SACCT_FORMAT, trace_of

TRES = "billing=8,cpu=8,gres/gpu=8,node=1"
HEADER = "|".join(SACCT_FORMAT.split(","))
BEGAN, ENDED = "2026-10-10T00:01:00", "2026-10-10T04:01:00"


def row(job: str, start: str = BEGAN, seconds: int = 14_400, state: str = "COMPLETED", user: str = "ann") -> str:
    return (
        f"{job}|{user}|vision|gpu|normal|2026-10-10T00:00:00|{start}|{ENDED}|{state}|{seconds}|1|{TRES}|{TRES}||{start}"
    )


def of_rule(findings: tuple[Finding, ...], rule: str) -> list[Finding]:
    return [finding for finding in findings if finding.rule == rule]


@pytest.mark.parametrize("job", ["201", "201_7", "201+1"])
@pytest.mark.parametrize("header", [[], [HEADER]])
def test_an_export_with_steps_is_refused_with_the_option_that_leaves_them_out(
    job: str, header: list[str], tmp_path: Path
) -> None:
    rows = [row(f"{job}{step}") for step in ("", ".batch", ".extern", ".0", ".interactive")]
    trace = trace_of("\n".join([*header, *rows, ""]), tmp_path, "jobs.txt")
    (finding,) = of_rule(trace.findings, "trace-steps")
    assert finding.severity is Severity.ERROR and finding.line == len(header) + 2
    assert "4 rows" in finding.message and f"{job}.batch" in finding.message and "--allocations" in str(finding.fix)


@pytest.mark.parametrize("job", ["1234.server", "application_1506638472019_10258", "4711.batch01"])
def test_ids_of_other_schedulers_are_no_steps(job: str, tmp_path: Path) -> None:
    trace = trace_of(f"job_id,timestamp,duration,num_gpus\n{job},2026-10-10,60,8\n", tmp_path)
    assert trace.findings == () and len(trace.jobs) == 1


def test_months_that_are_joined_have_each_run_once_with_its_end(tmp_path: Path) -> None:
    """The first month's export was made while 201 ran; 202 was requeued, and ran twice."""
    rows = [
        row("201", seconds=600, state="RUNNING"),
        row("202", state="NODE_FAIL"),
        row("202", start="2026-10-10T06:00:00"),
        row("201"),
        row("202", state="NODE_FAIL"),
    ]
    trace = trace_of("\n".join([HEADER, *rows, ""]), tmp_path, "jobs.txt")
    (finding,) = of_rule(trace.findings, "trace-repeated")
    assert finding.severity is Severity.WARNING and "start: 2;" in finding.message
    assert sorted((job.job, job.seconds, job.state) for job in trace.jobs) == [
        ("201", 14_400.0, "COMPLETED"),
        ("202", 14_400.0, "COMPLETED"),
        ("202", 14_400.0, "NODE_FAIL"),
    ]


def test_a_row_twice_does_not_double_the_demand(tmp_path: Path) -> None:
    later = row("300", start="2026-10-12T00:00:00").replace("2026-10-10T00:00:00", "2026-10-12T00:00:00")
    single, double = (
        trace_of("\n".join([HEADER, *[row("201")] * times, later, ""]), tmp_path, "a.txt") for times in (1, 2)
    )
    assert demand_of(single.jobs) == demand_of(double.jobs) and demand_of(double.jobs).gpu_hours == 32


def test_the_same_id_of_two_clusters_is_two_jobs(tmp_path: Path) -> None:
    rows = [f"{row('201')}|{cluster}" for cluster in ("east", "west")]
    trace = trace_of("\n".join([f"{HEADER}|Cluster", *rows, ""]), tmp_path, "jobs.txt")
    assert len(trace.jobs) == 2 and not of_rule(trace.findings, "trace-repeated")


def test_rows_without_an_id_are_all_jobs(tmp_path: Path) -> None:
    trace = trace_of("timestamp,duration,num_gpus\n" + "2026-10-10,60,8\n" * 3, tmp_path)
    assert len(trace.jobs) == 3 and trace.findings == ()


def test_accounting_has_each_run_once() -> None:
    header = "|".join((*ALLOCATION_FIELDS, "Cluster"))
    run = "21|21|ann|vision|gpu|{}|2026-10-10T00:00:00|{}|dgx01|cpu=8,gres/gpu=4|{}"
    ended = run.format("COMPLETED", "2026-10-10T12:00:00", "east")
    rows = [run.format("RUNNING", "Unknown", "east"), ended, ended, run.format("COMPLETED", "2026-10-10T13:00:00", "w")]
    allocations, findings = allocations_of("\n".join([header, *rows, ""]))
    assert [(each.state, (each.end or 0) - each.start) for each in allocations] == [
        ("COMPLETED", 43_200),
        ("COMPLETED", 46_800),
    ]
    (finding,) = findings
    assert (finding.rule, finding.severity) == ("accounting-repeated", Severity.WARNING) and ": 2;" in finding.message


@pytest.mark.parametrize("command", [["cost", "mix"], ["burst", "simulate"], ["place", "simulate"], ["report"]])
def test_a_command_says_how_many_rows_it_left_out(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    jobs = "".join(f"{number},2026-10-{number},3600,8\n" for number in range(10, 30))
    path.write_text(f"job_id,timestamp,duration,num_gpus\n{jobs}29,2026-10-29,3600,8\n")
    trace = ["--trace", str(path), "--out", str(tmp_path / "a.html")] if command == ["report"] else [str(path)]
    done = CliRunner().invoke(build(), [*command, *trace, "-f", str(ROOT / "stacks/Pulumi.hybrid.yaml")])
    assert done.exit_code == 0 and "rows of a run that an earlier row has, by job, user and start: 1;" in done.stderr, (
        done.output
    )
