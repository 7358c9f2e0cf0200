"""The address plan: nothing clashes, nothing moves, and a subnet that is too small is known before AWS says so."""

from ipaddress import IPv4Network
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from landbridge.findings import DataPath
from landbridge.plan.network.addresses import SubnetBudget, ip_budget, outside, overlaps
from landbridge.plan.network.network import network_args
from landbridge.plan.network.subnets import subnets, zone_number
from tests.unit.core.samples import environment
from tests.unit.plan.estates import ZONES, bodies, built, with_pools

AWS = ("aws",)
VPC = {
    "id": "vpc-0123456789abcdef0",
    "subnets": {"use1-az4": {"id": "subnet-0123456789abcdef0", "cidr": "10.60.7.0/24"}},
}


def clashes(changes: dict[DataPath, Any]) -> list[tuple[str, str]]:
    return [(found.first.name, found.second.name) for found in overlaps(environment(changes))]


def budget(changes: dict[DataPath, Any], zone: str = "use1-az4", tier: str = "private") -> SubnetBudget:
    return next(own for own in ip_budget(environment(changes)) if (own.zone, own.tier) == (zone, tier))


def test_the_good_environment_has_no_clash() -> None:
    assert clashes({}) == []


@pytest.mark.parametrize(
    ("changes", "first", "second"),
    [
        ({("aws", "cidr"): "10.20.0.0/17"}, "the on-prem range", "the AWS range"),
        ({("aws", "secondary_cidrs"): ["10.20.8.0/24"]}, "the on-prem range", "the VPC's secondary range"),
        ({("aws", "secondary_cidrs"): ["10.60.8.0/24"]}, "the AWS range", "the VPC's secondary range"),
        ({("onprem", "cidr"): "172.17.0.0/24"}, "the on-prem range", "the container range docker"),
        ({("onprem", "container_cidrs"): {"podman": "10.60.0.0/24"}}, "the container range podman", "the AWS range"),
        (
            {("aws", "kubernetes"): {"version": "1.34", "service_cidr": "10.20.0.0/20"}},
            "the on-prem range",
            "the services' range",
        ),
        (
            {("aws", "kubernetes"): {"version": "1.34", "pod_cidr": "10.20.128.0/17"}},
            "the on-prem range",
            "the pods' range",
        ),
        (
            {("aws", "kubernetes"): {"version": "1.34", "pod_cidr": "10.60.128.0/20"}},
            "the private subnet of use1-az4",
            "the pods' range",
        ),
        (
            {("aws", "kubernetes"): {"version": "1.34", "pod_cidr": "172.20.0.0/17"}},
            "the pods' range",
            "the services' range",
        ),
        (
            {("aws", "subnets"): {"use1-az4": "10.60.16.0/20"}, ("aws", "nat"): "single"},
            "the private subnet of use1-az4",
            "the public subnet of use1-az4",
        ),
        (
            {("aws", "pools", 0, "capacity", 0, "zones"): ["use1-az4", "use1-az6"]}
            | {("aws", "subnets"): {"use1-az4": "10.60.1.0/24", "use1-az6": "10.60.1.128/25"}},
            "the private subnet of use1-az4",
            "the private subnet of use1-az6",
        ),
    ],
)
def test_ranges_that_clash(changes: dict[DataPath, Any], first: str, second: str) -> None:
    assert (first, second) in clashes(changes)


def test_what_belongs_together_may_overlap() -> None:
    kubernetes = {"version": "1.34", "pod_cidr": "100.64.0.0/16", "service_cidr": "172.20.0.0/16"}
    changes: dict[DataPath, Any] = {
        ("aws", "kubernetes"): kubernetes,
        ("aws", "secondary_cidrs"): ["100.64.0.0/16"],
        ("onprem", "container_cidrs"): {"docker": "172.17.0.0/16", "podman": "172.17.0.0/16"},
    }
    assert clashes(changes) == []


def test_a_subnet_outside_the_vpc_is_known() -> None:
    own = environment({("aws", "subnets"): {"use1-az4": "10.61.0.0/24"}})
    assert [found.path for found in outside(own)] == [("aws", "subnets", "use1-az4")]
    inside = environment(
        {("aws", "subnets"): {"use1-az4": "10.61.0.0/24"}, ("aws", "secondary_cidrs"): ["10.61.0.0/20"]}
    )
    assert outside(inside) == ()


def test_an_existing_vpc_brings_its_subnets_and_no_others() -> None:
    own = environment({("aws", "vpc"): VPC, ("aws", "nat"): "per_zone"})
    assert [(found.zone, found.tier, str(found.cidr), found.id) for found in subnets(own)] == [
        ("use1-az4", "private", "10.60.7.0/24", "subnet-0123456789abcdef0")
    ]


# --- the budget


def test_p5_with_legacy_interfaces_takes_32_addresses_a_node() -> None:
    plain, legacy = budget({}), budget({("aws", "pools", 0, "nics"): "legacy"})
    assert (plain.nodes, legacy.nodes) == (4, 128)
    assert legacy.per_pool == {"p5": 128}


def test_legacy_p5_does_not_fit_where_one_address_a_node_does() -> None:
    small: dict[DataPath, Any] = {("aws", "cidr"): "10.60.0.0/22", ("aws", "pools", 0, "max_nodes"): 16}
    assert budget(small).free >= 0
    assert budget({**small, ("aws", "pools", 0, "nics"): "legacy"}).free < 0


def test_what_else_lives_in_a_subnet_is_counted() -> None:
    shares = {"home": {"kind": "fsx_openzfs", "deployment": "single_az_1"}, "misc": {"kind": "efs"}}
    own = budget(
        {("storage",): {"cloud_scratch": {"kind": "fsx_lustre", "capacity_gib": 4800}, "cloud_shares": shares}}
    )
    assert own.file_systems == 3 + 1 + 1, "two servers and a metadata server, one server, one mount target"
    assert own.link == 1
    assert own.endpoints > 5
    assert budget({("aws", "vpc_endpoints"): "gateway"}).endpoints == 0


def test_pods_take_addresses_of_the_nodes_subnet_unless_they_have_their_own() -> None:
    kubernetes = {"version": "1.34", "pools": ["p5"], "pods_per_node": 50}
    shared = budget({("aws", "kubernetes"): kubernetes})
    assert (shared.nodes, shared.pods) == (4, 200)
    own: dict[DataPath, Any] = {("aws", "kubernetes"): {**kubernetes, "pod_cidr": "100.64.0.0/16"}}
    assert budget(own).pods == 0
    assert budget(own, tier="pods").pods == 200 and budget(own, tier="pods").nodes == 0
    assert budget({("aws", "kubernetes"): {**kubernetes, "pools": []}}).pods == 0


def test_a_zone_holds_no_more_nodes_than_can_come_there() -> None:
    block = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az6", "count": 2}
    changes: dict[DataPath, Any] = {
        ("aws", "pools", 0, "capacity"): [block, {"kind": "on_demand", "zones": ["use1-az4"]}],
        ("aws", "pools", 0, "max_nodes"): 16,
    }
    assert budget(changes).nodes == 16
    assert budget(changes, "use1-az6").nodes == 2


def test_the_widest_of_equivalent_types_counts() -> None:
    wide = {"kind": "on_demand", "zones": ["use1-az4"], "instance": "p4d.24xlarge"}
    changes: dict[DataPath, Any] = {
        ("aws", "pools", 0, "nics"): "legacy",
        ("aws", "pools", 0, "instance"): "g6.48xlarge",
        ("aws", "pools", 0, "capacity", 1): wide,
    }
    assert budget(changes).nodes == 4 * 4


def test_a_network_without_room_is_refused_before_anything_is_built() -> None:
    with pytest.raises(ValueError, match="use1-az4"):
        network_args(environment({("aws", "cidr"): "10.60.0.0/26"}))


# --- whatever the environment


@given(bodies())
def test_subnets_never_overlap_and_stay_inside(body: dict[str, Any]) -> None:
    own = built(body)
    found = subnets(own)
    for one, other in combinations(found, 2):
        assert not one.cidr.overlaps(other.cidr)
    assert all(subnet.cidr.subnet_of(own.aws.cidr) for subnet in found)
    assert overlaps(own) == () and outside(own) == ()


@given(bodies(least=1), st.data())
def test_adding_a_zone_or_a_pool_moves_no_subnet(body: dict[str, Any], data: st.DataObject) -> None:
    before = {(own.zone, own.tier): own.cidr for own in subnets(built(body))}
    more = {"name": "more", "instance": "g5.xlarge", "max_nodes": 3}
    more["capacity"] = [
        {"kind": "on_demand", "zones": data.draw(st.lists(st.sampled_from(ZONES), min_size=1, unique=True))}
    ]
    after = {(own.zone, own.tier): own.cidr for own in subnets(with_pools(body, [*body["aws"]["pools"], more]))}
    kept = {key: cidr for key, cidr in before.items() if key in after}
    assert {key: after[key] for key in kept} == kept
    lost = set(before) - set(after)
    assert all(tier == "public" and body["aws"]["nat"] == "single" for _, tier in lost), "the one gateway may move"


@given(bodies(least=1), st.integers(1, 50))
def test_more_nodes_never_need_fewer_addresses(body: dict[str, Any], more: int) -> None:
    first, *rest = body["aws"]["pools"]
    grown = [{**first, "max_nodes": first["max_nodes"] + more}, *rest]
    assume(grown[0]["max_nodes"] <= 1024)
    before = {(own.zone, own.tier): own for own in ip_budget(built(body))}
    after = {(own.zone, own.tier): own for own in ip_budget(with_pools(body, grown))}
    assert set(before) == set(after)
    for key, own in before.items():
        assert after[key].needed >= own.needed and after[key].free <= own.free
        assert own.free == own.addresses - own.needed
        assert sum(own.per_pool.values()) == own.nodes + own.pods


@given(st.sampled_from(ZONES), st.integers(16, 25), st.integers(0, 2**16 - 1))
def test_a_zone_has_its_own_eighth_of_any_range(zone: str, prefix: int, at: int) -> None:
    cidr = IPv4Network((at << 16 & ~((1 << (32 - prefix)) - 1) & 0xFFFFFFFF, prefix))
    capacity = {"kind": "on_demand", "zones": [zone]}
    own = environment({("aws", "cidr"): str(cidr), ("aws", "pools", 0, "capacity", 0): capacity})
    (subnet,) = subnets(own)
    assert subnet.cidr == list(cidr.subnets(3))[zone_number(zone)]
