"""Zones: intersections of what is offered, and where pools and storage can be together."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.catalog import instances, zones
from landbridge.plan.zones import common_zones, environment_zones, offered_zones, pool_zones, storage_zone
from tests.unit.core.samples import environment
from tests.unit.plan.estates import REGION, TYPES, ZONES, bodies, built

POOLS = ("aws", "pools")


@given(st.lists(st.sampled_from(TYPES), max_size=4), st.sampled_from(["us-east-1", "us-west-2", "eu-north-1"]))
def test_types_meet_where_each_is_offered(types: list[str], region: str) -> None:
    found = offered_zones(types, region)
    assert set(found) == {zone for zone in zones(region) if all(zone in instances()[name].zones for name in types)}
    assert list(found) == [zone for zone in zones(region) if zone in found], "in the region's order"


def test_a_type_nobody_knows_is_offered_nowhere() -> None:
    assert offered_zones(["p5.48xlarge", "p9.huge"], REGION) == ()
    assert offered_zones(["p5.48xlarge"], "mars-north-1") == ()


def two(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> Any:
    base = {"instance": "p5.48xlarge", "max_nodes": 2}
    return environment({POOLS: [{"name": "a", **base, "capacity": first}, {"name": "b", **base, "capacity": second}]})


def od(*named: str, **more: Any) -> dict[str, Any]:
    return {"kind": "on_demand", "zones": list(named), **more}


def test_zones_are_in_the_order_in_which_capacities_name_them() -> None:
    block = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az6"}
    own = two([block, od("use1-az2", "use1-az6")], [od()])
    assert pool_zones(own.aws.pools[0], REGION) == ("use1-az6", "use1-az2")
    assert pool_zones(own.aws.pools[1], REGION) == offered_zones(["p5.48xlarge"], REGION)


def test_an_equivalent_type_is_offered_where_it_is_offered() -> None:
    own = two([od(instance="p4de.24xlarge")], [od()])
    assert pool_zones(own.aws.pools[0], REGION) == offered_zones(["p4de.24xlarge"], REGION)


def test_pools_meet_or_it_says_who_is_missing_where() -> None:
    own = two([od("use1-az2", "use1-az4")], [od("use1-az4", "use1-az6")])
    found = common_zones(own.aws.pools, REGION)
    assert found.zones == ("use1-az4",)
    assert found.absent == {"use1-az2": ("b",), "use1-az6": ("a",)}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([od("use1-az2", "use1-az4")], [od("use1-az4")], "use1-az4"),
        ([od("use1-az2")], [od("use1-az4")], "use1-az2"),
    ],
)
def test_storage_is_where_all_pools_can_be_else_where_the_first_is(first: Any, second: Any, expected: str) -> None:
    assert storage_zone(two(first, second)) == expected
    assert storage_zone(two(first, second), "use1-az1") == "use1-az1"


def test_without_pools_there_is_no_zone() -> None:
    assert storage_zone(environment({POOLS: []})) is None


@given(bodies())
def test_storage_is_in_a_zone_of_the_pools(body: dict[str, Any]) -> None:
    own = built(body)
    every = environment_zones(own)
    assert set(every) <= set(ZONES) and list(every) == sorted(every)
    where = storage_zone(own)
    assert (where in every) if every else where is None
