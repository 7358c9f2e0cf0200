"""Refresh of prices from the emulated AWS: rows that are appended, findings of refused queries, and repeated runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.cli.prices.books import shipped_path
from landbridge.live.prices import NEEDS
from landbridge.plan.price_book import read_book
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of
from tests.unit.core.samples import changed

from .conftest import as_json, run

P5 = "p5.48xlarge"
RATES = {"Compute/1/No Upfront": 44.0, "EC2Instance/3/All Upfront": 25.5}


@pytest.fixture
def aws(cloud: EmulatorProcess, monkeypatch: pytest.MonkeyPatch) -> EmulatorProcess:
    """Return the emulated AWS with a price of each kind for p5.48xlarge."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    cloud.control(
        products={f"{P5}/us-east-1": 50.0, f"{P5}/eu-west-2": 71.0},
        spot={f"{P5}/*": 14.5, f"{P5}/use1-az4": 21.5},
        savings_plans={f"{P5}/us-east-1": RATES},
        block_usd={P5: 47.76},
    )
    return cloud


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Return a copy of the shipped price book."""
    path = tmp_path / "prices.yaml"
    path.write_text(shipped_path().read_text())
    return path


def newest(path: Path) -> dict[tuple[str, str, str], tuple[float, float]]:
    book = read_book(path.read_bytes(), str(path))
    assert not book.findings
    return {item: (price.low, price.high) for item, price in book.newest().items()}


def test_each_kind_of_price_is_appended_and_older_rows_stay(
    aws: EmulatorProcess, book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = book.read_text()
    status, out, errors = run(capsys, "prices", "refresh", "-t", P5, "--into", str(book))
    assert status == 0, out + errors
    assert "$55.04 of 2026-11-09 -> $50 (-9.2%)" in out
    prices = newest(book)
    assert prices["on_demand", P5, "us-east-1"] == (50, 50)
    assert prices["spot", P5, "us-east-1"] == (14.5, 21.5)
    assert prices["spot", P5, "use1-az4"] == (21.5, 21.5)
    assert prices["savings_plan", f"{P5}:compute:1y:no_upfront", "us-east-1"] == (44, 44)
    assert prices["savings_plan", f"{P5}:ec2_instance:3y:all_upfront", "us-east-1"] == (25.5, 25.5)
    assert prices["capacity_block", P5, "us-east-1"] == (47.76, 47.76)
    lines = iter(book.read_text().splitlines())
    assert all(line in lines for line in before.splitlines()), "every old line is there, in its order"
    assert set(NEEDS) <= set(aws.control()["asked"])


def test_a_second_run_on_the_same_day_writes_nothing(
    aws: EmulatorProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_book = tmp_path / "own" / "prices.yaml"
    own_book.parent.mkdir()
    assert run(capsys, "prices", "refresh", "-t", P5, "--into", str(own_book))[0] == 0
    text = own_book.read_text()
    status, out, _ = run(capsys, "prices", "refresh", "-t", P5, "--into", str(own_book))
    assert (status, own_book.read_text()) == (0, text) and "nothing to append" in out
    aws.control(products={f"{P5}/us-east-1": 52.0})
    _, data = as_json(capsys, "prices", "refresh", "-t", P5, "--into", str(own_book))
    assert [(price["kind"], price["high"], price["before"]["high"]) for price in data["prices"]] == [
        ("on_demand", 52, 50)
    ]
    assert text.splitlines()[-3:] == own_book.read_text().splitlines()[-4:-1], "a new row is after the others"


def test_the_library_book_passes_the_checks(
    aws: EmulatorProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_book = tmp_path / "own.yaml"
    assert run(capsys, "prices", "refresh", "-t", P5, "--into", str(own_book))[0] == 0
    status, out, errors = run(capsys, "prices", "lint", "--file", str(own_book))
    assert status == 0, out + errors


def test_a_dry_run_shows_the_change_and_writes_nothing(
    aws: EmulatorProcess, book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = book.read_text()
    status, data = as_json(capsys, "prices", "refresh", "-t", P5, "--into", str(book), "--dry-run")
    assert (status, data["written"], book.read_text()) == (0, False, before)
    assert data["prices"][0]["change"] == pytest.approx(50 / 55.04 - 1)


def test_the_types_and_the_endpoint_are_those_of_the_environment(
    aws: EmulatorProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    file, own_book = tmp_path / "Pulumi.test.yaml", tmp_path / "prices.test.yaml"
    file.write_text(changed({("aws", "endpoints"): {"operator": aws.endpoint}}))
    status, data = as_json(capsys, "prices", "refresh", "--file", str(file), "--into", str(own_book))
    assert status == 0 and {price["name"].partition(":")[0] for price in data["prices"]} == {P5}


def test_another_region_is_read_at_the_nearest_endpoint_of_the_price_list(
    aws: EmulatorProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_book = tmp_path / "own.yaml"
    status, out, errors = run(capsys, "prices", "refresh", "-t", P5, "-r", "eu-west-2", "--into", str(own_book))
    assert status == 0, out + errors
    assert newest(own_book)["on_demand", P5, "eu-west-2"] == (71, 71)


@pytest.mark.parametrize(
    ("action", "missing"),
    zip(NEEDS, ("on_demand", "spot", "savings_plan", "capacity_block"), strict=True),
)
def test_a_missing_permission_is_a_finding_and_the_other_prices_are_written(
    aws: EmulatorProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str], action: str, missing: str
) -> None:
    own_book = tmp_path / "own.yaml"
    aws.control(deny=[action])
    status, data = as_json(capsys, "prices", "refresh", "-t", P5, "--into", str(own_book))
    assert status == 1
    assert [finding["rule"] for finding in data["findings"]] == ["price-not-allowed"]
    assert action in data["findings"][0]["message"]
    assert {kind for kind, _, _ in newest(own_book)} == {"on_demand", "spot", "savings_plan", "capacity_block"} - {
        missing
    }


def test_throttling_is_a_finding(aws: EmulatorProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    aws.control(faults={"GetProducts": {"code": "ThrottlingException", "status": 400, "times": 20}})
    status, data = as_json(capsys, "prices", "refresh", "-t", P5, "--into", str(tmp_path / "own.yaml"))
    assert status == 1
    assert [finding["rule"] for finding in data["findings"]] == ["price-not-answered"]
    assert "throttles" in data["findings"][0]["message"]


def test_an_implausible_price_is_a_finding_and_is_not_written(
    aws: EmulatorProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_book = tmp_path / "own.yaml"
    aws.control(products={f"{P5}/us-east-1": 50.0 * 730})
    status, data = as_json(capsys, "prices", "refresh", "-t", P5, "--into", str(own_book))
    assert status == 1 and "price-unit" in {finding["rule"] for finding in data["findings"]}
    assert ("on_demand", P5, "us-east-1") not in newest(own_book)


def test_a_partition_without_the_price_list_has_findings_and_its_other_prices(
    aws: EmulatorProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gov_book = tmp_path / "gov.yaml"
    status, data = as_json(capsys, "prices", "refresh", "-t", P5, "-r", "us-gov-west-1", "--into", str(gov_book))
    assert status == 1
    assert [finding["rule"] for finding in data["findings"]] == ["price-not-listed"] * 2
    assert "pricing:GetProducts" not in aws.control()["asked"]


def test_rejected_credentials_end_the_command(
    aws: EmulatorProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    own_book = tmp_path / "own.yaml"
    status, _, errors = run(capsys, "prices", "refresh", "-t", P5, "--into", str(own_book))
    assert status == 2 and "credentials" in errors and not own_book.exists()


def test_unknown_names_and_nothing_to_query_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["-t", "p5.48xlage"], ["-t", P5, "-r", "us-est-1"], []):
        assert run(capsys, "prices", "refresh", *arguments)[0] == 2


def test_the_price_list_answers_pages_of_json_texts_by_its_filters(aws: EmulatorProcess) -> None:
    pricing = client_of(aws, "pricing")

    def filters(**values: str) -> list[dict[str, Any]]:
        return [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in values.items()]

    pages = list(
        pricing.get_paginator("get_products").paginate(
            ServiceCode="AmazonEC2", Filters=filters(instanceType=P5), PaginationConfig={"PageSize": 5}
        )
    )
    products = [json.loads(text) for page in pages for text in page["PriceList"]]
    assert len(pages) == 3 and len(products) == 14, "Linux on demand is one of several products of a type"
    selected = pricing.get_products(
        ServiceCode="AmazonEC2",
        Filters=filters(
            instanceType=P5,
            regionCode="us-east-1",
            operatingSystem="Linux",
            tenancy="Shared",
            preInstalledSw="NA",
            capacitystatus="Used",
            marketoption="OnDemand",
        ),
    )
    assert len(selected["PriceList"]) == 1
    with pytest.raises(pricing.exceptions.InvalidParameterException):
        pricing.get_products(ServiceCode="AmazonEC3")
    with pytest.raises(pricing.exceptions.InvalidNextTokenException):
        pricing.get_products(ServiceCode="AmazonEC2", NextToken="x")
    elsewhere = client_of(aws, "pricing", region="us-west-2")
    with pytest.raises(elsewhere.exceptions.ClientError, match="no endpoint"):
        elsewhere.get_products(ServiceCode="AmazonEC2")


def test_savings_plans_rates_are_in_one_region_and_in_pages(aws: EmulatorProcess) -> None:
    plans = client_of(aws, "savingsplans")
    first = plans.describe_savings_plans_offering_rates(savingsPlanTypes=["Compute"], maxResults=1)
    assert len(first["searchResults"]) == 1 and first["nextToken"]
    rest = plans.describe_savings_plans_offering_rates(savingsPlanTypes=["Compute"], nextToken=first["nextToken"])
    assert {rate["usageType"] for rate in (*first["searchResults"], *rest["searchResults"])} == {
        f"BoxUsage:{P5}",
        f"UnusedBox:{P5}",
    }
    with pytest.raises(plans.exceptions.ValidationException):
        plans.describe_savings_plans_offering_rates(savingsPlanTypes=["Spot"])
