"""Capacity: what each variant alone decides, and that the page that explains it says the same."""

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
#: The shortest way to write each variant.
VARIANTS: dict[str, dict[str, Any]] = {
    "on_demand": {"kind": "on_demand"},
    "spot": {"kind": "spot"},
    "reservation, targeted": {"kind": "reservation", "reservation": CR, "zone": "use1-az4"},
    "reservation, open": {"kind": "reservation", "reservation": CR, "zone": "use1-az4", "match": "open"},
    "reservation in a group": {"kind": "reservation", "reservation": CR, "zone": "use1-az4", "placement_group": "own"},
    "reservation_group": {"kind": "reservation_group", "group": GROUP, "zones": ["use1-az4", "use1-az6"]},
    "capacity_block": {"kind": "capacity_block", "reservation": CR, "zone": "use1-az4"},
}


def pool(*capacity: dict[str, Any], **more: Any) -> PoolSettings:
    data = {"name": "p5", "instance": "p5.48xlarge", "max_nodes": 4, "capacity": capacity, **more}
    changes: dict[Any, Any] = {("aws", "pools", 0): data}
    return environment(changes).aws.pools[0]


def decided(variant: str, **more: Any) -> Terms:
    own = pool(VARIANTS[variant], **more)
    return terms(own, own.capacity[0], REGION)


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
def test_what_the_variant_decides(
    variant: str, market: dict[str, str], placement: str | None, fixed: bool, drain: timedelta | None
) -> None:
    own = decided(variant)
    assert own.market.model_dump(exclude_none=True) == market
    assert (own.placement, own.fixed_size, own.drain) == (placement, fixed, drain)
    assert own.placement_group == ("own" if variant == "reservation in a group" else None)


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name not in ("on_demand", "spot")])
def test_nothing_else_in_the_file_talks_reserved_capacity_into_a_placement_group(variant: str) -> None:
    plain = decided(variant)
    assert decided(variant, placement="cluster", placement_group="mine") == plain


def test_where_there_is_a_choice_the_pool_has_it() -> None:
    assert decided("on_demand", placement="none").placement is None
    assert decided("spot", placement="spread").placement == "spread"
    own = decided("on_demand", placement_group="mine")
    assert (own.placement, own.placement_group) == ("cluster", "mine")
    assert decided("on_demand", instance="t3.large").placement is None, "t3 can be in no cluster group"


def test_a_block_keeps_all_it_has_and_other_capacity_what_it_is_asked_to() -> None:
    block = pool({**VARIANTS["capacity_block"], "count": 8}, max_nodes=8, min_nodes=2)
    assert terms(block, block.capacity[0]).bounds(block) == (8, 8)
    reserved = pool({**VARIANTS["reservation, targeted"], "count": 3}, min_nodes=2)
    assert terms(reserved, reserved.capacity[0]).bounds(reserved) == (2, 3)
    free = pool(VARIANTS["on_demand"], min_nodes=1)
    assert terms(free, free.capacity[0]).bounds(free) == (1, 4)


def test_jobs_leave_a_block_before_aws_takes_it_back() -> None:
    window = {"starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T11:30:00Z"}
    own = pool({**VARIANTS["capacity_block"], **window})
    assert terms(own, own.capacity[0]).leave_by == datetime(2026, 12, 8, 11, 0, tzinfo=UTC)
    rack = pool({**VARIANTS["capacity_block"], **window}, instance="p6e-gb200.36xlarge")
    assert terms(rack, rack.capacity[0]).leave_by == datetime(2026, 12, 8, 10, 30, tzinfo=UTC)
    assert decided("capacity_block").leave_by is None


def test_fallbacks_keep_their_order_and_may_be_of_another_type() -> None:
    own = pool(
        {**VARIANTS["capacity_block"], "count": 2},
        {"kind": "on_demand", "zones": ["use1-az6"], "instance": "p5en.48xlarge"},
        {"kind": "spot"},
    )
    first, second, third = fallbacks(own, REGION)
    assert (first.kind, first.zones) == ("capacity_block", ("use1-az4",))
    assert (second.instance, second.zones) == ("p5en.48xlarge", ("use1-az6",))
    assert third.kind == "spot" and len(third.zones) > 1
    plan = pool_args(
        environment({("aws", "pools", 0, "capacity"): [c.model_dump(mode="json") for c in own.capacity]}), own
    )
    assert plan.zones == ("use1-az4", "use1-az6", *(z for z in third.zones if z not in ("use1-az4", "use1-az6")))
    assert [other.instance_type for other in plan.fallbacks] == ["p5en.48xlarge", "p5.48xlarge"]
    assert len(plan.fallbacks[0].interfaces) == 17
    assert not plan.one_way, "each launch says how it is bought: a template's market cannot be unsaid"
    assert plan.template_interfaces == (), "33 interfaces of one type and 17 of the other: each launch names its own"
    assert plan.placement == "cluster" and "use1-az6" in plan.placement_zones


def test_a_pool_that_is_bought_in_one_way_has_it_all_in_its_template() -> None:
    plan = pool_args(environment({}), environment({}).aws.pools[0])
    assert plan.one_way and plan.template_interfaces == plan.interfaces
    assert plan.placement_zones == plan.zones == ("use1-az4",)


def test_a_blocks_own_zone_gets_no_group_and_a_reservations_group_is_not_the_pools() -> None:
    own = [VARIANTS["capacity_block"], {"kind": "on_demand", "zones": ["use1-az6"]}, VARIANTS["reservation in a group"]]
    changes: dict[Any, Any] = {("aws", "pools", 0, "capacity"): own}
    plan = pool_args(environment(changes), environment(changes).aws.pools[0])
    assert plan.zones == ("use1-az4", "use1-az6") and plan.placement_zones == ("use1-az6",)
    assert plan.own_placement_group is None


def test_what_is_paid_for_whole_is_kept_whole() -> None:
    assert kept_nodes(pool({**VARIANTS["capacity_block"], "count": 3}), REGION) == 3
    assert kept_nodes(pool({"kind": "on_demand"}, min_nodes=2), REGION) == 2
    assert kept_nodes(pool({"kind": "on_demand"}), REGION) == 0


@given(pools())
def test_every_pool_has_terms_for_every_capacity(data: dict[str, Any]) -> None:
    own = environment({("aws", "pools", 0): data}).aws.pools[0]
    found = fallbacks(own, REGION)
    assert [one.kind for one in found] == [capacity.kind for capacity in own.capacity]
    for one in found:
        least, most = one.bounds(own)
        assert 0 <= least <= most
        assert one.fixed_size == (one.market.kind == "capacity-block")
        assert not (one.placement is not None and (one.fixed_size or one.market.reservation_group))
        assert (least == most) or not one.fixed_size


def test_the_page_has_the_table_that_the_code_gives() -> None:
    page = (ROOT / "docs" / "explanation" / "capacity.md").read_text()
    assert table() in page, f"docs/explanation/capacity.md needs this table:\n{table()}"


def table() -> str:
    """Return the decisions of each capacity variant as a table in Markdown."""
    rows = [
        "| capacity | market | refers to | placement group | kept running | end |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for variant in VARIANTS:
        own = decided(variant)
        names = "its reservation" if own.market.reservation else "its group" if own.market.reservation_group else ""
        names += " (preference: open)" if own.market.preference else ""
        group = "no group" if own.placement is None else "its own group" if own.placement_group else "a cluster group"
        kept = "all of it (min = max)" if own.fixed_size else "`min_nodes`"
        leave = f"{own.drain.seconds // 60} minutes before its end" if own.drain and own.fixed_size else ""
        leave = leave or (f"{own.drain.seconds // 60} minutes after the notice" if own.drain else "")
        rows.append(f"| {variant} | {own.market.kind} | {names} | {group} | {kept} | {leave} |")
    return "\n".join(rows) + "\n"
