"""`landbridge cost reproduce`: published values recomputed, also of tables that the catalogue does not have."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.economics.published.model_file import read_model
from landbridge.economics.published.recompute import Recomputed, disagreements, recompute
from landbridge.economics.published.shipped import shipped_models
from tests.unit.core.test_cli import run

MODELS = dict(shipped_models())
#: Results of Lenovo LP2368 by row, computed by hand from its inputs.
LENOVO = {
    "lenovo-lp2368-a": {
        "break-even with on demand": 250_141.8 / (98.32 - 6.37),
        "break-even with 1 year": 250_141.8 / (62.92 - 6.37),
        "break-even with 3 years": 250_141.8 / (43.16 - 6.37),
        "break-even with 5 years": 250_141.8 / (39.32 - 6.37),
        "owned hour over 5 years": 250_141.8 / 43_800 + 6.37,
        "million tokens": (250_141.8 / 43_800 + 6.37) / (30_576 * 3600) * 1e6,
        "million tokens in Azure at the same speed": 98.32 / (30_576 * 3600) * 1e6,
    },
    "lenovo-lp2368-b": {
        "owned for 5 years": 277_898 + 8.79 * 43_800,
        "hours of renting a day at the same cost": (277_898 + 8.79 * 43_800) / (84.81 * 1825),
    },
    "lenovo-lp2368-d": {
        "owned for 5 years": 461_567.5 + 12.6 * 43_800,
        "rented for 5 years": 142.42 * 43_800,
        "saving": 142.42 * 43_800 - 461_567.5 - 12.6 * 43_800,
        "owned hour over 5 years": 23.138,
        "million tokens on p6-b300": 142.42 / (1360 * 3600) * 1e6,
    },
}

NEW_TABLE = """
title: A table that the catalogue does not have
source: a vendor's page, table 2
date: 2026-10-01
inputs:
  capex: {servers: 2 x 300000 USD, fabric: 60 kUSD}
  space: 180 USD/kW-month
  power: 20 kW
  electricity: 0.10 USD/kWh
  pue: 1.3 1
  interest: 9 %/year
  debt: 36 months
  horizon: 3 years
  gpus: 16 GPUs
rows:
  - {name: list price, computes: cloud_total, inputs: {cloud: 6.88 USD/GPU-h}, printed: "2,892,902 USD"}
  - {name: three years reserved, computes: cloud_total, inputs: {cloud: 110.08 USD/h, discount: 45 %}, billing: always, printed: 1.591 MUSD}
  - {name: payment, computes: payment, printed: "20,987.82 USD/month"}
  - name: cost of a used GPU-hour
    computes: owned_gpu_hour
    inputs: {utilisation: [25 %, 50 %, 100 %]}
    printed: [9.07 USD/GPU-h, 4.54 USD/GPU-h, 2.27 USD/GPU-h]
"""


def rows_of(name: str) -> dict[str, Recomputed]:
    """Return the recomputed rows of a model of the catalogue, by name."""
    model, findings = read_model(MODELS[f"published_models/{name}.yaml"], name)
    assert model is not None, findings
    return {item.row.name: item for item in recompute(model)}


@pytest.mark.parametrize("name", MODELS)
def test_every_value_of_the_catalogue_follows_from_its_inputs_or_its_disagreement_is_stated(name: str) -> None:
    model, findings = read_model(MODELS[name], name)
    assert model is not None, findings
    recomputed = recompute(model)
    assert recomputed and disagreements(model, recomputed) == ()


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, rows in LENOVO.items() for row in rows])
def test_lenovos_rows_are_recomputed_from_their_inputs(name: str, row: str) -> None:
    assert rows_of(name)[row].recomputed == pytest.approx(LENOVO[name][row], rel=1e-4)


def test_the_known_disagreements_are_those_of_lenovos_configuration_d() -> None:
    stated = {
        (name, item.row.name)
        for name in MODELS
        for item in rows_of(name.removeprefix("published_models/").removesuffix(".yaml")).values()
        if not item.within_rounding
    }
    assert {row for _, row in stated} == {"saving", "owned hour over 5 years"}
    rate = rows_of("lenovo-lp2368-d")["owned hour over 5 years"]
    assert rate.recomputed == pytest.approx(23.138, abs=5e-4) and rate.printed == 23.19


def test_the_command_prints_each_value_beside_its_recomputation() -> None:
    completed = run("cost", "reproduce", "--format", "json")
    assert completed.returncode == 0, completed.stderr
    data = json.loads(completed.stdout)
    assert data["findings"] == [] and len(data["models"]) == len(MODELS)
    values = [row for model in data["models"] for row in model["rows"] if row["recomputed"] is not None]
    assert all(row["difference"] == pytest.approx(row["recomputed"] - row["printed"]) for row in values)
    text = run("cost", "reproduce").stdout
    assert "Lenovo LP2368" in text and "disagrees: the page subtracts" in text


def test_a_table_that_nobody_has_seen_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "table.yaml"
    file.write_text(NEW_TABLE)
    completed = run("cost", "reproduce", str(file), "--format", "json")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    rows = json.loads(completed.stdout)["models"][0]["rows"]
    assert [row["point"] for row in rows] == [None, None, None, 0, 1, 2]
    # By hand: 660,000 over 26,280 h, colocation 180 x 20 / 730, 20 kW x 1.3 x 0.10, and the interest of the annuity.
    payment = 660_000 * 0.0075 / (1 - 1.0075**-36)
    hour = 660_000 / 26_280 + 3600 / 730 + 2.6 + (36 * payment - 660_000) / 26_280
    assert rows[2]["recomputed"] == pytest.approx(payment)
    assert rows[5]["recomputed"] == pytest.approx(hour / 16)
    assert rows[3]["recomputed"] == pytest.approx(4 * rows[5]["recomputed"])
    assert rows[0]["recomputed"] == pytest.approx(6.88 * 16 * 26_280)
    assert rows[1]["recomputed"] == pytest.approx(110.08 * 0.55 * 26_280 / 1e6)


def test_a_value_that_does_not_follow_is_a_finding_at_its_place(tmp_path: Path) -> None:
    file = tmp_path / "table.yaml"
    file.write_text(NEW_TABLE.replace("20,987.82", "20,000.00"))
    completed = run("cost", "reproduce", str(file))
    assert completed.returncode == 1
    line = 1 + next(n for n, text in enumerate(file.read_text().splitlines()) if "20,000.00" in text)
    assert f"table.yaml:{line}:" in completed.stderr and "[not-reproduced]" in completed.stderr
    assert "recomputes to 20,98" in completed.stderr
    file.write_text(
        file.read_text().replace('"20,000.00 USD/month"}', '"20,000.00 USD/month", disagreement: a typing error}')
    )
    assert run("cost", "reproduce", str(file)).returncode == 0


BAD: list[tuple[str, str, str, str]] = [
    ("date: 2026-10-01\n", "", "missing-key", "date is missing"),
    ("source: a vendor's page, table 2\n", "", "missing-key", "source is missing"),
    ("date: 2026-10-01", "date: last year", "wrong-format", "not a day"),
    ("power: 20 kW", "power: 20 USD", "wrong-unit", "not of power"),
    ("power: 20 kW", "power: 20 horses", "wrong-unit", "horses"),
    ("power: 20 kW", "power: 20", "wrong-unit", "no unit"),
    ("power: 20 kW", "power: -20 kW", "out-of-range", "negative"),
    ("horizon: 3 years", "horizon: 0 years", "out-of-range", "more than 0"),
    ("discount: 45 %", "discount: 145 %", "out-of-range", "at most 100 %"),
    ("pue: 1.3 1", "pue: 0.3 1", "out-of-range", "at least 1"),
    ("power: 20 kW", f"power: {'9' * 400} kW", "wrong-unit", "too large"),
    ("power: 20 kW", "power: {a: 20 kW}", "wrong-type", "no parts"),
    ("power: 20 kW", "", "missing-input", "power"),
    ("power: 20 kW", "powr: 20 kW", "unknown-term", 'did you mean "power"'),
    ("  gpus: 16 GPUs\n", "", "missing-input", "gpus"),
    ("  horizon: 3 years\n", "", "missing-input", "horizon"),
    ("computes: payment", "computes: paymnt", "unknown-value", 'did you mean "payment"'),
    ("computes: payment, ", "", "missing-key", "computes is missing"),
    ('printed: "20,987.82 USD/month"', "note: none", "missing-key", "printed is missing"),
    ("[25 %, 50 %, 100 %]", "[25 %, 50 %]", "wrong-type", "printed has 3 values"),
    ("rows:", "lines:", "missing-key", "rows is missing"),
    ("billing: always", "billing: sometimes", "unknown-value", "used, always"),
    ("printed: 1.591 MUSD", "printed: 1.591 MUSD, rounded_to: 0", "out-of-range", "rounded_to"),
    ("title: A table", "title: [A table", "bad-yaml", ""),
]


@pytest.mark.parametrize(
    ("text", "change", "rule", "message"), BAD, ids=[f"{row[2]}: {row[1] or row[0]!r}" for row in BAD]
)
def test_a_bad_file_has_findings_with_line_and_column(
    text: str, change: str, rule: str, message: str, tmp_path: Path
) -> None:
    assert text in NEW_TABLE
    file = tmp_path / "table.yaml"
    file.write_text(NEW_TABLE.replace(text, change, 1))
    model, findings = read_model(file.read_bytes(), str(file))
    assert model is None
    chosen = [finding for finding in findings if finding.rule == rule]
    assert any(message in f"{finding.message} {finding.fix}" for finding in chosen), findings
    assert all(finding.line and finding.column and finding.file == str(file) for finding in findings)


def test_the_command_exits_with_1_for_a_bad_file_and_2_for_none(tmp_path: Path) -> None:
    file = tmp_path / "table.yaml"
    file.write_text("title: [")
    assert run("cost", "reproduce", str(file)).returncode == 1
    assert run("cost", "reproduce", str(tmp_path / "none.yaml")).returncode == 2


@pytest.mark.parametrize(
    "data", ["", "[]", "1", "rows: 1", "rows: [1]", "inputs: 1", "rows: [{inputs: [], printed: {}}]"]
)
def test_any_other_yaml_is_a_finding_and_no_traceback(data: Any) -> None:
    model, findings = read_model(data, "table.yaml")
    assert model is None and findings
