"""Zones: intersections of offered zones, and common zones of pools and storage."""

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
def test_common_zones_of_types_are_those_that_offer_each(types: list[str], region: str) -> None:
    common = offered_zones(types, region)
    assert set(common) == {zone for zone in zones(region) if all(zone in instances()[name].zones for name in types)}
    assert list(common) == [zone for zone in zones(region) if zone in common], "in the sequence of the region"


def test_an_unknown_type_is_offered_in_no_zone() -> None:
    assert offered_zones(["p5.48xlarge", "p9.huge"], REGION) == ()
    assert offered_zones(["p5.48xlarge"], "mars-north-1") == ()


def two(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> Any:
    base = {"instance": "p5.48xlarge", "max_nodes": 2}
    return environment({POOLS: [{"name": "a", **base, "capacity": first}, {"name": "b", **base, "capacity": second}]})


def od(*named: str, **settings: Any) -> dict[str, Any]:
    return {"kind": "on_demand", "zones": list(named), **settings}


def test_zones_are_in_the_sequence_of_the_capacities() -> None:
    block = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az6"}
    site = two([block, od("use1-az2", "use1-az6")], [od()])
    assert pool_zones(site.aws.pools[0], REGION) == ("use1-az6", "use1-az2")
    assert pool_zones(site.aws.pools[1], REGION) == offered_zones(["p5.48xlarge"], REGION)


def test_zones_of_a_capacity_are_those_of_its_instance_type() -> None:
    site = two([od(instance="p4de.24xlarge")], [od()])
    assert pool_zones(site.aws.pools[0], REGION) == offered_zones(["p4de.24xlarge"], REGION)


def test_common_zones_list_the_pools_absent_from_other_zones() -> None:
    site = two([od("use1-az2", "use1-az4")], [od("use1-az4", "use1-az6")])
    common = common_zones(site.aws.pools, REGION)
    assert common.zones == ("use1-az4",)
    assert common.absent == {"use1-az2": ("b",), "use1-az6": ("a",)}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([od("use1-az2", "use1-az4")], [od("use1-az4")], "use1-az4"),
        ([od("use1-az2")], [od("use1-az4")], "use1-az2"),
    ],
)
def test_storage_is_in_a_common_zone_of_the_pools_or_in_the_first_pools_zone(
    first: Any, second: Any, expected: str
) -> None:
    assert storage_zone(two(first, second)) == expected
    assert storage_zone(two(first, second), "use1-az1") == "use1-az1"


def test_without_pools_there_is_no_zone() -> None:
    assert storage_zone(environment({POOLS: []})) is None


@given(bodies())
def test_storage_is_in_a_zone_of_the_pools(body: dict[str, Any]) -> None:
    site = built(body)
    every = environment_zones(site)
    assert set(every) <= set(ZONES) and list(every) == sorted(every)
    chosen = storage_zone(site)
    assert (chosen in every) if every else chosen is None
