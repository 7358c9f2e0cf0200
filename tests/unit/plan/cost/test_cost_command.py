"""`landbridge cost`: output for users and for programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.findings import DataPath
from landbridge.plan.cost import spend
from tests.unit.core.samples import changed, shipped
from tests.unit.core.test_cli import run

BLOCK = {
    "kind": "capacity_block",
    "reservation": "cr-0123456789abcdef0",
    "zone": "use1-az4",
    "count": 4,
    "starts": "2027-01-04T11:30:00Z",
    "ends": "2027-01-11T11:30:00Z",
}

#: A pool of a type without a known price.
UNKNOWN: dict[DataPath, Any] = {
    ("aws", "pools", 0, "instance"): "g7e.12xlarge",
    ("aws", "pools", 0, "capacity", 0, "zones"): ["use1-az6"],
}


def test_the_text_output_has_every_line_its_date_and_the_unpriced_items() -> None:
    completed = run("cost", "-s", "example", COLUMNS="150")
    assert completed.returncode == 0, completed.stderr
    for line in spend(shipped("example")).lines:
        assert line.description in completed.stdout and f"{line.as_of or 'undated'}" in completed.stdout
    assert "not in the sum:" in completed.stdout and "$0.09 a GB" in completed.stdout
    assert "idle: with no node running" in completed.stdout


def test_the_sums_of_the_json_output_add_up() -> None:
    data = json.loads(run("cost", "-s", "example", "--format", "json").stdout)
    assert data["environment"] == "example"
    assert data["usd_month"] == pytest.approx(sum(line["usd_month"] for line in data["lines"]))
    assert data["usd_month"] == pytest.approx(sum(pool["usd_month"] for pool in data["pools"]))
    assert data["usd_month"] == pytest.approx(sum(entry["usd_month"] for entry in data["data_classes"]))
    assert data["fixed_month"] < data["usd_month"]
    assert {"as_of", "source", "confidence"} <= set(data["lines"][0])
    assert all(item["why"] for item in data["unpriced"])


def test_the_whole_cost_of_a_capacity_block_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.block.yaml"
    file.write_text(changed({("aws", "pools", 0, "capacity"): [BLOCK], ("aws", "pools", 0, "min_nodes"): 4}))
    completed = run("cost", "--file", str(file), COLUMNS="150")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert f"{4 * 47.76 * 7 * 24:,.0f}" in completed.stdout


def test_an_invalid_environment_has_findings_and_no_cost(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.wrong.yaml"
    file.write_text(changed({("aws", "pools", 0, "instance"): "p5.48xlage"}))
    completed = run("cost", "--file", str(file))
    assert completed.returncode == 1 and "p5.48xlarge" in completed.stderr and completed.stdout == ""


def test_help_has_an_example() -> None:
    assert "landbridge cost -s example" in run("cost", "--help").stdout


def test_an_unknown_price_makes_the_sum_a_lower_bound_and_the_status_1(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.unknown.yaml"
    file.write_text(changed(UNKNOWN))
    done = run("cost", "--file", str(file))
    assert done.returncode == 1 and "at least $" in done.stdout
    assert f"{file}:" in done.stderr and "cost-unpriced" in done.stderr and "burst.prices" in done.stderr
    allowed = run("cost", "--file", str(file), "--allow-unpriced", "--format", "json")
    data = json.loads(allowed.stdout)
    assert allowed.returncode == 0 and data["at_least"] is True
    assert {finding["severity"] for finding in data["findings"]} == {"warning"}
    assert [item["what"] for item in data["unpriced"] if item["reason"] == "no_price"] == [
        "4 x g7e.12xlarge, on demand"
    ]


def test_items_by_volume_are_listed_and_are_no_unknown_price() -> None:
    data = json.loads(run("cost", "-s", "example", "--format", "json").stdout)
    assert data["at_least"] is False
    assert {item["reason"] for item in data["unpriced"]} == {"by_volume"}


def test_the_price_of_the_environment_file_is_in_the_sum(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.own.yaml"
    prices: dict[DataPath, Any] = {("burst",): {"prices": {"g7e.12xlarge": 8.5}}}
    file.write_text(changed({**UNKNOWN, **prices}))
    done = run("cost", "--file", str(file), "--format", "json")
    data = json.loads(done.stdout)
    (line,) = (line for line in data["lines"] if line["what"] == "4 x g7e.12xlarge, on demand")
    assert done.returncode == 0 and line["usd_hour"] == pytest.approx(4 * 8.5)
    assert (line["as_of"], line["source"]) == (None, "burst.prices of the environment file")
    assert "undated" in run("cost", "--file", str(file), COLUMNS="150").stdout


def test_the_price_book_of_the_organisation_is_read_beside_the_catalogue(tmp_path: Path) -> None:
    file, book = tmp_path / "Pulumi.own.yaml", tmp_path / "prices.yaml"
    file.write_text(changed(UNKNOWN))
    row = "{what: on_demand, unit: instance-hour, region: us-east-1, source: list, usd: {g7e.12xlarge: 8.25}}"
    book.write_text(f"sources:\n  list: {{title: list, date: 2026-11-24, confidence: primary}}\nrows:\n  - {row}\n")
    done = run("cost", "--file", str(file), "--prices", str(book), "--format", "json")
    lines = {line["what"]: line for line in json.loads(done.stdout)["lines"]}
    assert done.returncode == 0 and lines["4 x g7e.12xlarge, on demand"]["usd_hour"] == pytest.approx(33)
    assert lines["VPN connection"]["usd_hour"] == 0.05, "the catalogue's prices stay"
    book.write_text(book.read_text().replace("date: 2026-11-24, ", ""))
    undated = run("cost", "--file", str(file), "--prices", str(book))
    assert undated.returncode == 2 and f"{book}:2:" in undated.stderr
