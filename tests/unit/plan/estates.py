"""Hypothesis strategies of environments: any pools, capacities and zones of a region in the catalogue."""

from typing import Any

from hypothesis import strategies as st

from landbridge.catalog import instances, zones
from landbridge.environment import Environment, environment_from_config
from tests.unit.core.samples import GOOD

REGION = "us-east-1"
ZONES = zones(REGION)
TYPES = tuple(instances())
BLOCK = "cr-0123456789abcdef0"

_some_zones = st.lists(st.sampled_from(ZONES), max_size=3, unique=True)
capacities = st.one_of(
    st.fixed_dictionaries({"kind": st.just("on_demand"), "zones": _some_zones}),
    st.fixed_dictionaries(
        {"kind": st.just("spot"), "zones": _some_zones}, optional={"max_price_usd": st.floats(1, 90)}
    ),
    st.fixed_dictionaries(
        {"kind": st.just("reservation"), "reservation": st.just(BLOCK), "zone": st.sampled_from(ZONES)},
        optional={"count": st.integers(1, 64), "match": st.sampled_from(["open", "targeted"])},
    ),
    st.fixed_dictionaries(
        {"kind": st.just("capacity_block"), "reservation": st.just(BLOCK), "zone": st.sampled_from(ZONES)},
        optional={"count": st.integers(1, 64), "instance": st.sampled_from(TYPES)},
    ),
)


@st.composite
def pools(draw: st.DrawFn, name: str = "pool") -> dict[str, Any]:
    """Generate one pool of any type."""
    max_nodes = draw(st.integers(1, 200))
    return {
        "name": name,
        "instance": draw(st.sampled_from(TYPES)),
        "max_nodes": max_nodes,
        "min_nodes": draw(st.integers(0, max_nodes)),
        "nics": draw(st.sampled_from(["ip_optimised", "bandwidth", "legacy"])),
        "capacity": draw(st.lists(capacities, min_size=1, max_size=3)),
    }


@st.composite
def bodies(draw: st.DrawFn, *, least: int = 0) -> dict[str, Any]:
    """Generate the data of an environment with up to four pools."""
    count = draw(st.integers(least, 4))
    pool_list = [draw(pools(f"p{index}")) for index in range(count)]
    aws: dict[str, Any] = {
        "cidr": draw(st.sampled_from(["10.60.0.0/16", "10.64.0.0/18", "10.80.0.0/20"])),
        "nat": draw(st.sampled_from(["none", "single", "per_zone"])),
        "vpc_endpoints": draw(st.sampled_from(["derived", "gateway", None])),
        "pools": pool_list,
    }
    storage: dict[str, Any] = {}
    if draw(st.booleans()):
        storage["cloud_scratch"] = {"kind": "fsx_lustre", "capacity_gib": draw(st.sampled_from([1200, 4800, 48000]))}
    if draw(st.booleans()):
        storage["cloud_shares"] = {"home": {"kind": "fsx_openzfs"}, "misc": {"kind": "efs"}}
    return {**GOOD, "aws": aws, "storage": storage}


def built(body: dict[str, Any], region: str = REGION) -> Environment:
    """Return the environment of plain data."""
    return environment_from_config("test", region, body)


def with_pools(body: dict[str, Any], pool_list: list[dict[str, Any]]) -> Environment:
    """Return the environment with other pools."""
    return built({**body, "aws": {**body["aws"], "pools": pool_list}})
