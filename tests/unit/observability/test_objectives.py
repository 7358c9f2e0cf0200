"""Service level objectives: the recorded shares of errors and the error budgets have the computed values, by the real promtool."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.catalog.observability.objectives import service_objectives
from landbridge.environment import Environment
from landbridge.plan.observability.alerts import alert_groups
from landbridge.plan.observability.objectives import (
    MODEL_LEAST,
    MODEL_P95,
    MODEL_WANTED,
    NODE_GPUS,
    PORT_SEEN,
    RECORDED,
    SERVER_SEEN,
    planned_objectives,
    recording_rules,
)
from landbridge.plan.roles.nodes.dcgm import gpu_metrics_hosts
from tests.unit.core.samples import environment
from tests.unit.observability.debian_programs import debian_program

EXPORTERS = {"burst", "jobs", "link"}
OBJECTIVES = service_objectives().objectives


def evaluated(
    folder: Path, series: dict[str, str], expected: dict[str, float], at: str, site: Environment | None = None
) -> str:
    """Return what promtool says about the values of recorded series at a time; no series is expected for NaN."""
    rules = [
        rule
        for rule in recording_rules(site or environment(), EXPORTERS)
        if any(rule["labels"]["objective"] in text for text in expected)
    ]
    groups = [{"name": "objectives", "interval": "1m", "rules": rules}]
    (folder / "rules.yml").write_text(json.dumps({"groups": groups}))
    checks = [
        {
            "expr": f"round({text}, 0.0001)",
            "eval_time": at,
            "exp_samples": [{"labels": "{" + text.partition("{")[2], "value": value}] if value == value else [],
        }
        for text, value in expected.items()
    ]
    test: dict[str, Any] = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": checks,
    }
    document = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [test]}
    (folder / "tests.yml").write_text(json.dumps(document))
    line = [debian_program("prometheus", "promtool"), "test", "rules", "tests.yml"]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def errors(window: str, objective: str) -> str:
    return f'landbridge:objective_errors:ratio_{window}{{objective="{objective}"}}'


def left(objective: str) -> str:
    return f'landbridge:objective_budget_left:ratio{{objective="{objective}"}}'


def test_an_outage_of_the_link_uses_its_budget_by_time(tmp_path: Path) -> None:
    # 500 minutes, of which 5 without a tunnel: one of two tunnels is enough.
    series = {
        'landbridge_link_check{check="tunnel",subject="a"}': "1x199 0x9 1x290",
        'landbridge_link_check{check="tunnel",subject="b"}': "1x194 0x9 1x295",
    }
    expected = {
        errors("5m", "link"): 0.0,
        errors("28d", "link"): 0.01,
        left("link"): 1 - 0.01 / 0.005,
        'landbridge:objective_budget:ratio{objective="link"}': 0.005,
    }
    assert "SUCCESS" in evaluated(tmp_path, series, expected, "499m")
    assert "FAILED" in evaluated(tmp_path, series, {left("link"): 1.0}, "499m")


def test_events_use_their_budget_by_number(tmp_path: Path) -> None:
    # In each hour: 12 launched, 8 ready, 3 refused; GPU time: 60% completed.
    series = {
        'landbridge_burst_launched_instances_total{pool="p5"}': "0+0.2x500",
        'landbridge_burst_refused_launches_total{pool="p5",code="x"}': "0+0.05x500",
        'landbridge_burst_ready_seconds_count{pool="p5"}': "0+0.2x500",
        'landbridge_burst_ready_seconds_bucket{pool="p5",le="480"}': "0+0.19x500",
        'landbridge_jobs_gpu_seconds_total{use="completed"}': "0+7x500",
        'landbridge_jobs_gpu_seconds_total{use="idle"}': "0+3x500",
        'landbridge_jobs_wait_seconds_count{partition="p5"}': "0x500",
        'landbridge_jobs_wait_seconds_bucket{partition="p5",le="900.0"}': "0x500",
    }
    nothing = float("nan")
    expected = {
        errors("6h", "burst"): 0.2,
        left("burst"): -1.0,
        errors("6h", "node-ready"): 0.05,
        left("node-ready"): 0.0,
        errors("3d", "goodput"): 0.3,
        left("goodput"): 0.25,
        # No job has started: there is neither an error nor a success.
        errors("6h", "start-median"): nothing,
        errors("6h", "recovery"): nothing,
        # Windows of an hour are of the link only.
        errors("1h", "burst"): nothing,
    }
    assert "SUCCESS" in evaluated(tmp_path, series, expected, "480m")


def test_more_ready_nodes_than_launches_in_a_window_are_no_errors(tmp_path: Path) -> None:
    series = {
        "landbridge_burst_launched_instances_total": "0 10x30 10x600",
        "landbridge_burst_ready_seconds_count": "0x300 0+1x300",
    }
    # After eight hours the launches are out of the window of six hours: no event, no errors.
    assert "SUCCESS" in evaluated(tmp_path, series, {errors("6h", "burst"): float("nan")}, "480m")


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_uses_metrics_of_the_contract_and_bounds_of_their_histograms(name: str) -> None:
    for text in OBJECTIVES[name].expressions:
        assert metrics_contract().missing(text.replace("$window", "6h")) == []
        if "landbridge_jobs" in text and 'le=~"' in text:
            assert float(text.partition('le=~"')[2].partition("|")[0]) in service_objectives().bounds


def test_only_objectives_with_planned_metrics_are_recorded() -> None:
    assert set(planned_objectives(environment(), {"jobs"})) == {"start-median", "start", "recovery", "goodput"}
    assert {rule["record"] for rule in recording_rules(environment(), EXPORTERS)} == set(RECORDED) - {
        MODEL_P95,
        MODEL_LEAST,
        MODEL_WANTED,
        NODE_GPUS,
        PORT_SEEN,
        SERVER_SEEN,
    }
    site = environment({("onprem", "services", "monitoring"): "mlops01"})
    names = [group["name"] for group in alert_groups(site, gpu_metrics_hosts(site))["groups"]]
    assert names == ["objectives", "services", "landbridge"]
    assert alert_groups(environment(), ()) == {"groups": []}


@pytest.mark.parametrize(("days", "expected"), [(28, 1 - 0.01 / 0.01), (7, 1 - 0.01 / 0.01)])
def test_targets_and_days_of_the_environment_are_used(tmp_path: Path, days: int, expected: float) -> None:
    site = environment({("observability", "objectives"): {"link": {"target": 0.99, "days": days}}})
    series = {'landbridge_link_check{check="tunnel",subject="a"}': "1x199 0x4 1x295"}
    budget = 'landbridge:objective_budget:ratio{objective="link"}'
    values = {left("link"): expected, budget: 0.01, 'landbridge:objective_window:days{objective="link"}': days}
    assert "SUCCESS" in evaluated(tmp_path, series, values, "499m", site)
