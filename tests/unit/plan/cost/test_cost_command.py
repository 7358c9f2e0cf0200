"""`landbridge cost`: output for users and for programs."""

import json
from pathlib import Path

import pytest

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


def test_the_text_output_has_every_line_its_date_and_the_unpriced_items() -> None:
    completed = run("cost", "-s", "example", COLUMNS="150")
    assert completed.returncode == 0, completed.stderr
    for line in spend(shipped("example")).lines:
        assert line.description in completed.stdout and f"{line.as_of}" in completed.stdout
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
