"""Dashboards of Landbridge's own metrics: each expression is parsed by the real promtool, and each metric exists in the code."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.daemon.metrics import GAUGES, PREFIX, Metrics
from landbridge.ops.netcheck.metrics import metrics_text
from landbridge.report.dashboards.dashboards import DASHBOARDS
from landbridge.report.dashboards.grafana import grafana_json
from tests.unit.core.samples import ROOT
from tests.unit.observability.debian_programs import debian_program
from tests.unit.ops.netcheck import records

METRIC = re.compile(r"landbridge_\w+")
EXPRESSIONS = [
    query.expression
    for dashboard in DASHBOARDS.values()
    for row in dashboard.rows
    for panel in row
    for query in panel.queries
]


def metrics_of_the_code() -> set[str]:
    """Return the names that the burst daemon and netcheck really write, with the suffixes of counters and histograms."""
    burst = Metrics()
    burst.passed(1.0, 0.0, acting=True)
    types = re.findall(r"^# TYPE (\S+) (\w+)", burst.text, re.MULTILINE)
    names = {f"{PREFIX}{name}" for name in GAUGES} | {f"{name}_total" for name, kind in types if kind == "counter"}
    names |= {f"{name}_{part}" for name, kind in types if kind == "histogram" for part in ("bucket", "sum", "count")}
    expected = records.expectations()
    every = records.healthy(expected)
    text = metrics_text(records.report(expected, every), tuple(every.values()), 0.0)
    return names | set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))


def test_every_metric_of_a_dashboard_exists() -> None:
    used = {name for expression in EXPRESSIONS for name in METRIC.findall(expression)}
    assert used and used <= metrics_of_the_code()


def test_promtool_parses_every_expression_and_refuses_a_wrong_one(tmp_path: Path) -> None:
    def check(expressions: list[str]) -> subprocess.CompletedProcess[str]:
        rules = [{"record": f"dashboard:panel:{number}", "expr": text} for number, text in enumerate(expressions)]
        (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "dashboards", "rules": rules}]}))
        line = [debian_program("prometheus", "promtool"), "check", "rules", "--lint=none", "rules.yml"]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)

    done = check(EXPRESSIONS)
    assert done.returncode == 0 and f"{len(EXPRESSIONS)} rules found" in done.stdout, done.stdout + done.stderr
    assert check([*EXPRESSIONS, "sum by (pool (landbridge_burst_instances)"]).returncode != 0


@pytest.mark.parametrize("name", DASHBOARDS)
def test_panels_do_not_overlap_and_have_the_data_source_of_the_import(name: str) -> None:
    line = [sys.executable, "-m", "landbridge.cli.main", "show", "--dashboard", name]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    assert document == json.loads(json.dumps(grafana_json(DASHBOARDS[name])))
    assert document["uid"] == f"landbridge-{name}" and document["__inputs"][0]["name"] == "DS_PROMETHEUS"
    cells = [
        (column, line)
        for panel in document["panels"]
        for column in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for line in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells)) and max(column for column, _ in cells) < 24
    assert len({panel["id"] for panel in document["panels"]}) == len(document["panels"])
    assert all(
        target["datasource"]["uid"] == "${DS_PROMETHEUS}" for panel in document["panels"] for target in panel["targets"]
    )
