"""Dashboards: each expression uses the contract and is parsed by the real promtool, and Grafana's JSON has a place for each panel."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from landbridge.catalog.observability.dashboards import dashboards
from landbridge.catalog.observability.metrics import metrics_contract, metrics_in
from landbridge.plan.observability.objectives import RECORDED
from landbridge.plan.observability.pages import dashboard_pages
from landbridge.plan.roles.nodes.dcgm import gpu_metrics_hosts
from landbridge.report.dashboards.grafana import grafana_json
from tests.unit.core.samples import ROOT, environment
from tests.unit.observability.debian_programs import debian_program
from tests.unit.observability.serving_sample import served

MONITORING = ("onprem", "services", "monitoring")
LOGS = ("onprem", "services", "logs")
VERSION = ("scheduler", "slurm", "version")
EXPRESSIONS = [expression for dashboard in dashboards().values() for expression in dashboard.expressions]


def test_every_metric_of_a_dashboard_is_in_the_contract() -> None:
    contract = metrics_contract()
    assert [text for text in EXPRESSIONS if contract.missing(text, frozenset(RECORDED)) or not metrics_in(text)] == []
    assert contract.missing("sum(slurm_jobs_invented)", frozenset(RECORDED)) == ["slurm_jobs_invented"]


def test_promtool_parses_every_expression_and_refuses_a_wrong_one(tmp_path: Path) -> None:
    def check(expressions: list[str]) -> subprocess.CompletedProcess[str]:
        rules = [{"record": f"dashboard:panel:{number}", "expr": text} for number, text in enumerate(expressions)]
        (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "dashboards", "rules": rules}]}))
        line = [debian_program("prometheus", "promtool"), "check", "rules", "--lint=none", "rules.yml"]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = check(EXPRESSIONS)
    assert done.returncode == 0 and f"{len(EXPRESSIONS)} rules found" in done.stdout, done.stdout + done.stderr
    assert check([*EXPRESSIONS, "sum by (pool (landbridge_burst_instances)"]).returncode != 0


@pytest.mark.parametrize("name", dashboards())
def test_panels_do_not_overlap_and_have_the_data_source_of_the_import(name: str) -> None:
    document: dict[str, Any] = grafana_json(name, dashboards()[name])
    assert document["uid"] == f"landbridge-{name}" and document["__inputs"][0]["name"] == "DS_PROMETHEUS"
    cells = [
        (column, line)
        for panel in document["panels"]
        for column in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for line in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells)) and max(column for column, _ in cells) < 24
    assert len({panel["id"] for panel in document["panels"]}) == len(document["panels"])
    assert len({panel["title"] for panel in document["panels"]}) == len(document["panels"])
    targets = [target for panel in document["panels"] for target in panel["targets"]]
    assert all(target["datasource"]["uid"] == "${DS_PROMETHEUS}" for target in targets)
    assert all("{{" in target["legendFormat"] or "{" not in target["legendFormat"] for target in targets)


def test_titles_and_uids_of_dashboards_are_unique() -> None:
    documents = [grafana_json(name, dashboard) for name, dashboard in dashboards().items()]
    for key in ("uid", "title"):
        assert [text for text, number in Counter(document[key] for document in documents).items() if number > 1] == []


def test_the_command_prints_the_document_and_refuses_an_unknown_name() -> None:
    def show(name: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "landbridge.cli.main", "show", "--dashboard", name]
        return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)

    assert json.loads(show("burst").stdout) == json.loads(json.dumps(grafana_json("burst", dashboards()["burst"])))
    assert show("bursts").returncode == 2


def test_a_page_has_the_panels_whose_exporters_are_planned() -> None:
    site = environment(
        {MONITORING: "mlops01", LOGS: "mlops01", VERSION: "26.05", ("observability", "timers"): {}, **served()}
    )
    pages = dashboard_pages(site, gpu_metrics_hosts(site))
    assert list(pages) == list(dashboards())
    shown = sum(len(row) for page in pages.values() for row in page["rows"])
    assert shown == sum(len(row) for dashboard in dashboards().values() for row in dashboard.rows)
    cpus = {("aws", "pools", 0, "instance"): "m7i.large"}
    old = environment({MONITORING: "mlops01", VERSION: "24.11", **cpus})
    without_gpus = dashboard_pages(old, ())
    assert "gpu" not in without_gpus and "burst" in without_gpus
    assert "slurm_jobs" not in json.dumps(without_gpus)
    assert "models" not in without_gpus and "logs" not in without_gpus
    assert dashboard_pages(environment(), ()) == {}
