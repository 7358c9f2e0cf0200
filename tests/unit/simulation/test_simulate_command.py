"""Trace files, and the report, the picture and the command of the simulation."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.simulation.chart import picture
from landbridge.simulation.mapping import AccountMapping, simulated_jobs
from landbridge.simulation.replay import replay
from landbridge.simulation.report import report
from landbridge.simulation.result import SimulatedJob
from landbridge.simulation.scenario import scenario_of
from landbridge.trace import TraceJob, read
from tests.unit.core.samples import ROOT, shipped
from tests.unit.simulation.queues import JOBS, START, TRACE, generated_jobs, scenario

PHILLY = ROOT.parent / "shared" / "data" / "philly.csv"


def test_the_sample_trace_is_that_of_its_generator() -> None:
    jobs = read(TRACE).jobs
    assert len(jobs) == JOBS
    rows = generated_jobs()
    assert [(job.gpus, job.seconds, job.group) for job in jobs] == [
        (row["num_gpus"], row["duration"], row["cluster"]) for row in rows
    ]


def test_jobs_are_assigned_to_accounts_by_share_and_deterministically() -> None:
    policy = scenario().policy
    trace = [TraceJob(START + n, 60.0, 1, f"vc{n % 7}") for n in range(4000)]
    tasks = simulated_jobs(trace, policy, AccountMapping(restricted=0.25))
    assert tasks == simulated_jobs(trace, policy, AccountMapping(restricted=0.25))
    assert sum(task.account == "shut" for task in tasks) / len(tasks) == pytest.approx(0.25, abs=0.03)
    few = simulated_jobs(trace, policy, AccountMapping(restricted=0.25, sample=0.1))
    assert len(few) == pytest.approx(400, abs=60)
    # Sampling does not change the share of the accounts.
    assert sum(task.account == "shut" for task in few) / len(few) == pytest.approx(0.25, abs=0.08)
    assert {task.account for task in simulated_jobs(trace, policy, AccountMapping(restricted=0.0))} == {"open"}
    assert {task.account for task in simulated_jobs(trace, policy, AccountMapping(restricted=1.0))} == {"shut"}


def test_an_account_and_a_limit_of_the_trace_are_kept() -> None:
    trace = [TraceJob(START, 600.0, 1, account="shut", minutes=5.0), TraceJob(START, 600.0, 1, account="nobody's")]
    first, second = simulated_jobs(trace, scenario().policy, AccountMapping(restricted=0.0, limit_factor=3.0))
    assert first == SimulatedJob(START, 300.0, 1, "shut", 300.0), "a job ends at its limit"
    assert second == SimulatedJob(START, 600.0, 1, "open", 1800.0)


def test_the_figures_of_the_report_add_up() -> None:
    site = scenario(pools=((3, 0), (2, 1)), cap=2000.0)
    tasks = simulated_jobs(read(TRACE).jobs, site.policy, AccountMapping())
    bursting, without = replay(site, tasks), replay(site, tasks, bursting=False)
    figures = report(site, bursting, without)
    ran = sum(t.seconds * t.gpus for t, began in zip(tasks, bursting.began, strict=True) if began is not None) / 3600
    assert figures.gpu_hours_onprem + figures.gpu_hours_aws == pytest.approx(ran)
    assert figures.usd == pytest.approx(sum(bursting.spent.values())) and figures.usd > 0
    assert sum(figures.node_hours_aws.values()) * 40.0 == pytest.approx(figures.usd)
    assert figures.never == sum(began is None for began in bursting.began)
    assert figures.waits.mean <= figures.waits_without.mean and figures.waits.jobs == figures.waits_without.jobs
    assert 0 < figures.refused["RESIDENCY"] < len(tasks) and figures.refused["BUDGET"] > 0
    assert json.loads(json.dumps(figures.as_data()))["usd"] == figures.usd


def test_the_picture_is_svg_with_a_panel_for_each_question() -> None:
    site = scenario()
    tasks = simulated_jobs(read(TRACE).jobs, site.policy, AccountMapping())
    text = picture(site, replay(site, tasks), replay(site, tasks, bursting=False))
    root = ET.fromstring(text)
    words = [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"GPUs in use", "Jobs that wait", "Mean wait in hours, by the day of submission"} <= set(words)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    curves = [node.attrib["points"] for kind in ("polygon", "polyline") for node in root.iter(f"{{http://www.w3.org/2000/svg}}{kind}")]  # fmt: skip
    assert len(curves) == 7
    points = [tuple(map(float, pair.split(","))) for curve in curves for pair in curve.split()]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in points)


def test_the_command_prints_a_report_and_writes_a_picture(tmp_path: Path) -> None:
    words = ["burst", "simulate", str(TRACE), "-f", str(ROOT / "stacks" / "Pulumi.hybrid.yaml")]
    done = CliRunner().invoke(build(), [*words, "--format", "json", "--picture", str(tmp_path / "q.svg")])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert (data["jobs"], data["onprem_gpus"], data["cloud_gpus"]) == (JOBS, 64, 128)
    assert (tmp_path / "q.svg").read_text().startswith("<svg ")
    done = CliRunner().invoke(build(), [*words, "--wait", "60"])
    assert done.exit_code == 0 and "hybrid: 400 jobs, 64 GPUs on-prem, up to 128 in AWS" in done.stdout
    assert CliRunner().invoke(build(), [*words, "--sample", "0"]).exit_code == 2


def test_the_command_applies_conditions_and_prints_the_cost_of_both_sites() -> None:
    words = ["burst", "simulate", str(TRACE), "-f", str(ROOT / "stacks" / "Pulumi.hybrid.yaml")]
    failures = ["--mtbf-hours", "100", "--checkpoint-minutes", "30", "--restart-minutes", "5", "--seed", "4"]
    done = CliRunner().invoke(
        build(),
        [*words, *failures, "--owned-usd-gpu-hour", "2.73", "--fair-share", "168", "--kinds", "--aws-capacity", "p5=0",
         "--aws-capacity", "p5=8@2017-11-01T00:00:00", "--format", "json"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["both_sites"]["total"] == pytest.approx(data["both_sites"]["onprem"] + data["usd"])
    assert data["interruptions"][""] > 0 and data["restarts"] > 0 and data["lost_gpu_hours"] > 0
    text = CliRunner().invoke(build(), [*words, *failures, "--owned-usd-gpu-hour", "2.73"]).stdout
    assert "interrupted: on-prem" in text and "64 GPUs on-prem at 2.73" in text and "jobs started again" in text
    plain = CliRunner().invoke(build(), words).stdout
    assert "both sites" not in plain and "interrupted:" not in plain


@pytest.mark.parametrize("step", ["p5", "p5=x", "none=1", "p5=1@soon", "p5=-1"])
def test_a_capacity_that_is_none_is_refused(step: str) -> None:
    words = ["burst", "simulate", str(TRACE), "-f", str(ROOT / "stacks" / "Pulumi.hybrid.yaml")]
    done = CliRunner().invoke(build(), [*words, "--aws-capacity", step])
    assert done.exit_code == 2 and "POOL=NODES" in done.stderr and "p5, p5-more" in done.stderr


@pytest.mark.parametrize("name", ["example", "frontier", "hybrid", "regulated", "sandbox", "startup"])
def test_every_environment_can_be_replayed(name: str) -> None:
    site = scenario_of(shipped(name))
    assert site.pools and all(site.policy.pools[pool.name].offerings for pool in site.pools)
    tasks = simulated_jobs(read(TRACE).jobs[:50], site.policy, AccountMapping())
    played = replay(site, tasks)
    assert sum(began is not None for began in played.began) > 0


@pytest.mark.long
def test_the_complete_philly_trace_is_replayed() -> None:
    if not PHILLY.is_file():
        pytest.skip(f"{PHILLY} does not exist: it is not part of the checkout")
    site = scenario_of(shipped("hybrid"))
    tasks = simulated_jobs(read(PHILLY).jobs, site.policy, AccountMapping())
    assert len(tasks) == 82_247
    played = replay(site, tasks)
    assert not any(where and task.account == "clinic" for task, where in zip(tasks, played.pool, strict=True))
    assert max(usd for (_, account, _), usd in played.spent.items() if account == "vision") <= 300_000
    assert sum(began is None for began in played.began) == len(played.refused["SIZE"]) == 3
