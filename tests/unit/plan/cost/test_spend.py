"""Spend: lines of an environment, fixed costs, and items without a price, which do not count as free."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given

from landbridge.catalog import onprem_costs, price_of, prices
from landbridge.findings import DataPath
from landbridge.plan.cost import HOURS_PER_MONTH, Spend, SpendLine, spend
from tests.unit.core.samples import environment, shipped
from tests.unit.plan.estates import bodies, built, with_pools

CR = "cr-0123456789abcdef0"
CAPACITY: DataPath = ("aws", "pools", 0, "capacity")
WEEK = {"starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T11:30:00Z"}


def spent(changes: dict[DataPath, Any], **options: Any) -> Spend:
    return spend(environment(changes, **options))


def nodes(total: Spend) -> list[SpendLine]:
    return [line for line in total.lines if line.pool and "root volume" not in line.description]


def test_on_demand_has_a_variable_cost_and_no_fixed_cost() -> None:
    (line,) = nodes(spent({}))
    assert line.description == "4 x p5.48xlarge, on demand"
    assert line.usd_hour == pytest.approx(4 * 55.04)
    assert line.usd_month == pytest.approx(4 * 55.04 * HOURS_PER_MONTH)
    assert (line.fixed_hour, line.usd_whole) == (0, None)
    assert (line.as_of, line.confidence, line.data_class) == (date(2026, 11, 9), "primary", "internal")


def test_min_nodes_are_a_fixed_cost() -> None:
    (line,) = nodes(spent({("aws", "pools", 0, "min_nodes"): 1}))
    assert line.fixed_hour == pytest.approx(55.04)


def test_a_capacity_block_is_billed_for_its_whole_window() -> None:
    block = {"kind": "capacity_block", "reservation": CR, "zone": "use1-az4", "count": 4, **WEEK}
    (line,) = nodes(spent({CAPACITY: [block]}))
    assert line.usd_whole == pytest.approx(4 * 47.76 * 7 * 24)
    assert line.usd_month == line.fixed_month == pytest.approx(line.usd_whole), "a week is less than a month"
    assert "billed whole" in str(line.note)


def test_a_capacity_block_longer_than_a_month_costs_one_month_per_month() -> None:
    long = {**WEEK, "ends": "2027-03-02T11:30:00Z"}
    block = {"kind": "capacity_block", "reservation": CR, "zone": "use1-az4", "count": 4, **long}
    (line,) = nodes(spent({CAPACITY: [block]}))
    assert line.usd_month == pytest.approx(4 * 47.76 * HOURS_PER_MONTH)
    assert line.usd_whole is not None and line.usd_whole > line.usd_month


def test_a_capacity_block_without_a_window_has_a_note() -> None:
    (line,) = nodes(spent({CAPACITY: [{"kind": "capacity_block", "reservation": CR, "zone": "use1-az4"}]}))
    assert line.usd_whole is None and "not in the file" in str(line.note)


def test_prepaid_capacity_is_used_first_and_the_next_one_fills_up() -> None:
    block = {"kind": "capacity_block", "reservation": CR, "zone": "use1-az4", "count": 3, **WEEK}
    lines = nodes(spent({CAPACITY: [block, {"kind": "on_demand"}], ("aws", "pools", 0, "max_nodes"): 8}))
    assert [line.description for line in lines] == ["3 x p5.48xlarge, capacity block", "5 x p5.48xlarge, on demand"]
    larger = {**block, "count": 12}
    (line,) = nodes(spent({CAPACITY: [larger, {"kind": "on_demand"}], ("aws", "pools", 0, "max_nodes"): 8}))
    assert line.description == "12 x p5.48xlarge, capacity block", "the whole block is billed, also beyond max_nodes"


def test_a_reservation_is_a_fixed_cost() -> None:
    reserved = {"kind": "reservation", "reservation": CR, "zone": "use1-az4", "count": 2}
    first, second = nodes(spent({CAPACITY: [reserved, {"kind": "spot"}]}))
    assert first.fixed_hour == first.usd_hour == pytest.approx(2 * 55.04)
    assert second.fixed_hour == 0


def test_spot_counts_with_its_highest_seen_or_permitted_price() -> None:
    (line,) = nodes(spent({CAPACITY: [{"kind": "spot"}]}))
    assert line.usd_hour == pytest.approx(4 * 55.04) and "between $16.95 and $55.04" in str(line.note)
    (capped,) = nodes(spent({CAPACITY: [{"kind": "spot", "max_price_usd": 20}]}))
    assert capped.usd_hour == pytest.approx(80)


def test_spot_without_a_known_price_counts_with_the_on_demand_price() -> None:
    (line,) = nodes(spent({CAPACITY: [{"kind": "spot"}], ("aws", "pools", 0, "instance"): "g6e.12xlarge"}))
    assert line.usd_hour == pytest.approx(4 * 10.49264) and "never above" in str(line.note)


def test_an_ultraserver_is_priced_by_its_instances() -> None:
    block = {"kind": "capacity_block", "reservation": CR, "zone": "use1-az4", "count": 18, **WEEK}
    changes: dict[DataPath, Any] = {("aws", "pools", 0, "instance"): "p6e-gb200.36xlarge", CAPACITY: [block]}
    (line,) = nodes(spent({**changes, ("aws", "pools", 0, "max_nodes"): 18}))
    assert line.usd_hour == pytest.approx(761.904)


def test_an_item_without_a_price_is_listed_as_unpriced() -> None:
    total = spent({("aws", "pools", 0, "instance"): "p5e.48xlarge"})
    assert [item.why for item in total.unpriced if item.pool and "p5e" in item.description] == [
        "no on demand price known for p5e.48xlarge in us-east-1"
    ]
    in_london = spent({CAPACITY: [{"kind": "on_demand", "zones": ["euw2-az1"]}]}, region="eu-west-2")
    assert [line.usd_hour for line in nodes(in_london)] == [pytest.approx(4 * 71.552)]
    assert {"VPN connection", "4 x 200 GiB root volume"} <= {item.description for item in in_london.unpriced}


def test_permanent_resources_are_a_fixed_cost() -> None:
    total = spent(
        {
            ("aws", "nat"): "per_zone",
            ("aws", "vpc_endpoints"): "derived",
            ("storage",): {"cloud_scratch": {"kind": "fsx_lustre", "capacity_gib": 4800}},
        }
    )
    by_what = {line.description: line for line in total.lines}
    assert by_what["VPN connection"].fixed_hour == 0.05
    assert by_what["1 x NAT gateway"].fixed_month == pytest.approx(0.045 * HOURS_PER_MONTH)
    lustre = by_what["cloud_scratch: FSx for Lustre persistent_2, 4,800 GiB"]
    assert lustre.usd_month == lustre.fixed_month == pytest.approx(4800 * 0.210)
    endpoints = next(line for line in total.lines if "interface endpoints in 1 zone" in line.description)
    assert endpoints.usd_hour == pytest.approx(0.01 * int(endpoints.description.split()[0]))


def test_a_file_system_has_the_data_class_of_its_repository() -> None:
    scratch = {"kind": "fsx_lustre", "repositories": [{"folder": "/d", "data_class": "public"}]}
    classes = {"internal": {"sites": ["onprem", "aws"]}, "public": {"sites": ["aws"]}}
    total = spent({("data_classes",): classes, ("storage",): {"cloud_scratch": scratch}})
    (line,) = [line for line in total.lines if "Lustre" in line.description]
    assert line.data_class == "public"
    assert [line.data_class for line in nodes(total)] == [None], "two classes share the pool"
    assert {item.data_class for item in total.unpriced if "bucket" in item.description} == {"internal", "public"}


def test_traffic_is_unpriced_with_a_price_per_volume() -> None:
    total = shipped_spend("example")
    assert any("by volume: $0.09 a GB" in item.why for item in total.unpriced)


def shipped_spend(name: str) -> Spend:
    return spend(shipped(name))


@pytest.mark.parametrize("name", ["example", "sandbox"])
def test_the_shipped_environments_have_no_unknown_price(name: str) -> None:
    assert [item for item in shipped_spend(name).unpriced if "no price" in item.why] == []


def key(line: SpendLine) -> tuple[Any, ...]:
    return (line.description, line.pool, line.usd_hour, line.usd_month, line.fixed_month, line.usd_whole)


@given(bodies(least=1))
def test_spend_is_additive_over_pools(body: dict[str, Any]) -> None:
    whole = spend(built(body))
    parts = [spend(with_pools(body, [pool])) for pool in body["aws"]["pools"]]
    pool_lines = [line for line in whole.lines if line.pool]
    separate_lines = [line for part in parts for line in part.lines if line.pool]
    assert sorted(map(repr, map(key, pool_lines))) == sorted(map(repr, map(key, separate_lines)))
    assert sum(month for name, (month, _) in whole.by_pool().items() if name) == pytest.approx(
        sum(line.usd_month for line in pool_lines)
    )


@given(bodies())
def test_every_line_has_a_source_and_its_fixed_part_is_not_above_the_whole(body: dict[str, Any]) -> None:
    total = spend(built(body))
    for line in total.lines:
        assert (
            line.source
            and line.as_of <= max(prices().date, onprem_costs().date)
            and line.confidence in ("primary", "secondary", "verify")
        )
        assert line.usd_hour > 0 and 0 <= line.fixed_hour <= line.usd_hour + 1e-9
        assert 0 <= line.fixed_month <= line.usd_month + 1e-6
    assert all(item.why for item in total.unpriced)
    by_class = total.by_data_class()
    assert sum(month for month, _ in by_class.values()) == pytest.approx(total.usd_month)


def test_lines_agree_with_the_catalogue() -> None:
    price = price_of("on_demand", "p5.48xlarge", "us-east-1")
    (line,) = nodes(spent({}))
    assert price is not None and (line.source, line.as_of) == (price.source, price.as_of)


def test_an_existing_file_system_is_listed_and_not_counted() -> None:
    share = {"kind": "existing_efs", "id": "fs-0123456789abcdef0", "data_class": "internal", "mount": "/models"}
    without, total = spent({}), spent({("storage",): {"cloud_shares": {"models": share}}})
    assert total.lines == without.lines
    (item,) = set(total.unpriced) - set(without.unpriced)
    assert item.description == "models: fs-0123456789abcdef0" and "not counted" in item.why
