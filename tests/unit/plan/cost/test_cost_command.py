"""`landbridge cost`, as people and programs start it."""

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


def test_people_see_every_line_its_date_and_what_is_not_counted() -> None:
    found = run("cost", "-s", "example", COLUMNS="150")
    assert found.returncode == 0, found.stderr
    for line in spend(shipped("example")).lines:
        assert line.what in found.stdout and f"{line.as_of}" in found.stdout
    assert "not in the sum:" in found.stdout and "$0.09 a GB" in found.stdout
    assert "idle: with no node running" in found.stdout


def test_programs_get_sums_that_add_up() -> None:
    found = json.loads(run("cost", "-s", "example", "--format", "json").stdout)
    assert found["environment"] == "example"
    assert found["usd_month"] == pytest.approx(sum(line["usd_month"] for line in found["lines"]))
    assert found["usd_month"] == pytest.approx(sum(pool["usd_month"] for pool in found["pools"]))
    assert found["usd_month"] == pytest.approx(sum(one["usd_month"] for one in found["data_classes"]))
    assert found["fixed_month"] < found["usd_month"]
    assert {"as_of", "source", "confidence"} <= set(found["lines"][0])
    assert all(item["why"] for item in found["unpriced"])


def test_a_blocks_bill_is_shown_at_once(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.block.yaml"
    file.write_text(changed({("aws", "pools", 0, "capacity"): [BLOCK], ("aws", "pools", 0, "min_nodes"): 4}))
    found = run("cost", "--file", str(file), COLUMNS="150")
    assert found.returncode == 0, found.stdout + found.stderr
    assert f"{4 * 47.76 * 7 * 24:,.0f}" in found.stdout


def test_a_wrong_environment_has_no_price(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.wrong.yaml"
    file.write_text(changed({("aws", "pools", 0, "instance"): "p5.48xlage"}))
    found = run("cost", "--file", str(file))
    assert found.returncode == 1 and "p5.48xlarge" in found.stderr and found.stdout == ""


def test_help_has_an_example() -> None:
    assert "landbridge cost -s example" in run("cost", "--help").stdout
