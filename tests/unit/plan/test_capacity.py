"""Capacity: the terms of each variant, and the same table in the documentation."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given

from landbridge.environment import PoolSettings
from landbridge.plan.aws.pool import pool_args
from landbridge.plan.instances.capacity import Terms, fallbacks, kept_nodes, terms
from tests.unit.core.samples import ROOT, environment
from tests.unit.plan.estates import REGION, pools

CR = "cr-0123456789abcdef0"
GROUP = "arn:aws:resource-groups:us-east-1:123456789012:group/gpus"
#: The minimal data of each variant.
VARIANTS: dict[str, dict[str, Any]] = {
    "on_demand": {"kind": "on_demand"},
    "spot": {"kind": "spot"},
    "reservation, targeted": {"kind": "reservation", "reservation": CR, "zone": "use1-az4"},
    "reservation, open": {"kind": "reservation", "reservation": CR, "zone": "use1-az4", "match": "open"},
    "reservation in a group": {"kind": "reservation", "reservation": CR, "zone": "use1-az4", "placement_group": "own"},
    "reservation_group": {"kind": "reservation_group", "group": GROUP, "zones": ["use1-az4", "use1-az6"]},
    "capacity_block": {"kind": "capacity_block", "reservation": CR, "zone": "use1-az4"},
}


def pool(*capacity: dict[str, Any], **settings: Any) -> PoolSettings:
    data = {"name": "p5", "instance": "p5.48xlarge", "max_nodes": 4, "capacity": capacity, **settings}
    changes: dict[Any, Any] = {("aws", "pools", 0): data}
    return environment(changes).aws.pools[0]


def decided(variant: str, **settings: Any) -> Terms:
    single = pool(VARIANTS[variant], **settings)
    return terms(single, single.capacity[0], REGION)


@pytest.mark.parametrize(
    ("variant", "market", "placement", "fixed", "drain"),
    [
        ("on_demand", {"kind": "on-demand"}, "cluster", False, None),
        ("spot", {"kind": "spot"}, "cluster", False, timedelta(minutes=2)),
        ("reservation, targeted", {"kind": "on-demand", "reservation": CR}, None, False, None),
        ("reservation, open", {"kind": "on-demand", "reservation": CR, "preference": "open"}, None, False, None),
        ("reservation in a group", {"kind": "on-demand", "reservation": CR}, "cluster", False, None),
        ("reservation_group", {"kind": "on-demand", "reservation_group": GROUP}, None, False, None),
        ("capacity_block", {"kind": "capacity-block", "reservation": CR}, None, True, timedelta(minutes=30)),
    ],
)
def test_each_variant_has_its_terms(
    variant: str, market: dict[str, str], placement: str | None, fixed: bool, drain: timedelta | None
) -> None:
    variant_terms = decided(variant)
    assert variant_terms.market.model_dump(exclude_none=True) == market
    assert (variant_terms.placement, variant_terms.fixed_size, variant_terms.drain) == (placement, fixed, drain)
    assert variant_terms.placement_group == ("own" if variant == "reservation in a group" else None)


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name not in ("on_demand", "spot")])
def test_reserved_capacity_ignores_the_placement_of_the_pool(variant: str) -> None:
    plain = decided(variant)
    assert decided(variant, placement="cluster", placement_group="mine") == plain


def test_on_demand_and_spot_use_the_placement_of_the_pool() -> None:
    assert decided("on_demand", placement="none").placement is None
    assert decided("spot", placement="spread").placement == "spread"
    grouped = decided("on_demand", placement_group="mine")
    assert (grouped.placement, grouped.placement_group) == ("cluster", "mine")
    assert decided("on_demand", instance="t3.large").placement is None, "t3 can be in no cluster group"


def test_a_capacity_block_has_a_fixed_size_and_other_capacity_min_and_max_nodes() -> None:
    block = pool({**VARIANTS["capacity_block"], "count": 8}, max_nodes=8, min_nodes=2)
    assert terms(block, block.capacity[0]).bounds(block) == (8, 8)
    reserved = pool({**VARIANTS["reservation, targeted"], "count": 3}, min_nodes=2)
    assert terms(reserved, reserved.capacity[0]).bounds(reserved) == (2, 3)
    free = pool(VARIANTS["on_demand"], min_nodes=1)
    assert terms(free, free.capacity[0]).bounds(free) == (1, 4)


def test_jobs_end_before_aws_ends_a_capacity_block() -> None:
    window = {"starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T11:30:00Z"}
    block_pool = pool({**VARIANTS["capacity_block"], **window})
    assert terms(block_pool, block_pool.capacity[0]).leave_by == datetime(2026, 12, 8, 11, 0, tzinfo=UTC)
    rack = pool({**VARIANTS["capacity_block"], **window}, instance="p6e-gb200.36xlarge")
    assert terms(rack, rack.capacity[0]).leave_by == datetime(2026, 12, 8, 10, 30, tzinfo=UTC)
    assert decided("capacity_block").leave_by is None


def test_fallbacks_keep_their_sequence_and_may_have_another_type() -> None:
    mixed = pool(
        {**VARIANTS["capacity_block"], "count": 2},
        {"kind": "on_demand", "zones": ["use1-az6"], "instance": "p5en.48xlarge"},
        {"kind": "spot"},
    )
    first, second, third = fallbacks(mixed, REGION)
    assert (first.kind, first.zones) == ("capacity_block", ("use1-az4",))
    assert (second.instance, second.zones) == ("p5en.48xlarge", ("use1-az6",))
    assert third.kind == "spot" and len(third.zones) > 1
    plan = pool_args(
        environment({("aws", "pools", 0, "capacity"): [c.model_dump(mode="json") for c in mixed.capacity]}), mixed
    )
    assert plan.zones == ("use1-az4", "use1-az6", *(z for z in third.zones if z not in ("use1-az4", "use1-az6")))
    assert [other.instance_type for other in plan.fallbacks] == ["p5en.48xlarge", "p5.48xlarge"]
    assert len(plan.fallbacks[0].interfaces) == 17
    assert not plan.has_one_capacity, "each launch sets its market: a market in the launch template cannot be removed"
    assert plan.placement == "cluster" and "use1-az6" in plan.placement_zones


def test_a_pool_with_one_capacity_has_its_market_in_its_template() -> None:
    plan = pool_args(environment({}), environment({}).aws.pools[0])
    assert plan.has_one_capacity
    assert plan.placement_zones == plan.zones == ("use1-az4",)


def test_zones_of_capacity_blocks_and_reservations_get_no_placement_group() -> None:
    capacities = [
        VARIANTS["capacity_block"],
        {"kind": "on_demand", "zones": ["use1-az6"]},
        VARIANTS["reservation in a group"],
    ]
    changes: dict[Any, Any] = {("aws", "pools", 0, "capacity"): capacities}
    plan = pool_args(environment(changes), environment(changes).aws.pools[0])
    assert plan.zones == ("use1-az4", "use1-az6") and plan.placement_zones == ("use1-az6",)
    assert plan.own_placement_group is None


def test_all_nodes_of_a_capacity_block_are_kept_running() -> None:
    assert kept_nodes(pool({**VARIANTS["capacity_block"], "count": 3}), REGION) == 3
    assert kept_nodes(pool({"kind": "on_demand"}, min_nodes=2), REGION) == 2
    assert kept_nodes(pool({"kind": "on_demand"}), REGION) == 0


@given(pools())
def test_every_pool_has_terms_for_every_capacity(data: dict[str, Any]) -> None:
    any_pool = environment({("aws", "pools", 0): data}).aws.pools[0]
    all_terms = fallbacks(any_pool, REGION)
    assert [entry.kind for entry in all_terms] == [capacity.kind for capacity in any_pool.capacity]
    for entry in all_terms:
        least, most = entry.bounds(any_pool)
        assert 0 <= least <= most
        assert entry.fixed_size == (entry.market.kind == "capacity-block")
        assert not (entry.placement is not None and (entry.fixed_size or entry.market.reservation_group))
        assert (least == most) or not entry.fixed_size


def test_the_documentation_has_the_table_of_the_code() -> None:
    page = (ROOT / "docs" / "explanation" / "capacity.md").read_text()
    assert table() in page, f"docs/explanation/capacity.md needs this table:\n{table()}"


def table() -> str:
    """Return the decisions of each capacity variant as a table in Markdown."""
    rows = [
        "| capacity | market | refers to | placement group | kept running | end |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for variant in VARIANTS:
        variant_terms = decided(variant)
        names = (
            "its reservation"
            if variant_terms.market.reservation
            else "its group"
            if variant_terms.market.reservation_group
            else ""
        )
        names += " (preference: open)" if variant_terms.market.preference else ""
        group = (
            "no group"
            if variant_terms.placement is None
            else "its own group"
            if variant_terms.placement_group
            else "a cluster group"
        )
        kept_nodes_text = "all of it (min = max)" if variant_terms.fixed_size else "`min_nodes`"
        leave = (
            f"{variant_terms.drain.seconds // 60} minutes before its end"
            if variant_terms.drain and variant_terms.fixed_size
            else ""
        )
        leave = leave or (
            f"{variant_terms.drain.seconds // 60} minutes after the notice" if variant_terms.drain else ""
        )
        rows.append(f"| {variant} | {variant_terms.market.kind} | {names} | {group} | {kept_nodes_text} | {leave} |")
    return "\n".join(rows) + "\n"
