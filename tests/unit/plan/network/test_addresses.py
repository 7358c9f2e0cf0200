"""Address plan: no overlap, stable subnets, and the detection of a subnet that is too small before AWS refuses it."""

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
    return [(overlap.first.name, overlap.second.name) for overlap in overlaps(environment(changes))]


def budget(changes: dict[DataPath, Any], zone: str = "use1-az4", tier: str = "private") -> SubnetBudget:
    return next(entry for entry in ip_budget(environment(changes)) if (entry.zone, entry.tier) == (zone, tier))


def test_the_valid_environment_has_no_overlap() -> None:
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
def test_overlapping_ranges_are_found(changes: dict[DataPath, Any], first: str, second: str) -> None:
    assert (first, second) in clashes(changes)


def test_ranges_of_one_purpose_may_overlap() -> None:
    changes: dict[DataPath, Any] = {
        ("aws", "secondary_cidrs"): ["100.64.0.0/16"],
        ("onprem", "container_cidrs"): {"docker": "172.17.0.0/16", "podman": "172.17.0.0/16"},
    }
    assert clashes(changes) == []


def test_a_subnet_outside_the_vpc_is_found() -> None:
    site = environment({("aws", "subnets"): {"use1-az4": "10.61.0.0/24"}})
    assert [subnet.path for subnet in outside(site)] == [("aws", "subnets", "use1-az4")]
    inside = environment(
        {("aws", "subnets"): {"use1-az4": "10.61.0.0/24"}, ("aws", "secondary_cidrs"): ["10.61.0.0/20"]}
    )
    assert outside(inside) == ()


def test_an_existing_vpc_has_only_its_listed_subnets() -> None:
    site = environment({("aws", "vpc"): VPC, ("aws", "nat"): "per_zone"})
    assert [(subnet.zone, subnet.tier, str(subnet.cidr), subnet.id) for subnet in subnets(site)] == [
        ("use1-az4", "private", "10.60.7.0/24", "subnet-0123456789abcdef0")
    ]


# Address budget.


def test_p5_with_legacy_interfaces_needs_32_addresses_per_node() -> None:
    plain, legacy = budget({}), budget({("aws", "pools", 0, "nics"): "legacy"})
    assert (plain.nodes, legacy.nodes) == (4, 128)
    assert legacy.per_pool == {"p5": 128}


def test_legacy_p5_does_not_fit_a_subnet_for_one_address_per_node() -> None:
    small: dict[DataPath, Any] = {("aws", "cidr"): "10.60.0.0/22", ("aws", "pools", 0, "max_nodes"): 16}
    assert budget(small).free >= 0
    assert budget({**small, ("aws", "pools", 0, "nics"): "legacy"}).free < 0


def test_file_systems_link_and_endpoints_of_a_subnet_are_counted() -> None:
    shares = {"home": {"kind": "fsx_openzfs", "deployment": "single_az_1"}, "misc": {"kind": "efs"}}
    private = budget(
        {("storage",): {"cloud_scratch": {"kind": "fsx_lustre", "capacity_gib": 4800}, "cloud_shares": shares}}
    )
    assert private.file_systems == 3 + 1 + 1, "two servers and a metadata server, one server, one mount target"
    assert private.link == 1
    assert private.endpoints > 5
    assert budget({("aws", "vpc_endpoints"): "gateway"}).endpoints == 0


def test_a_zone_counts_no_more_nodes_than_its_capacities() -> None:
    block = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az6", "count": 2}
    changes: dict[DataPath, Any] = {
        ("aws", "pools", 0, "capacity"): [block, {"kind": "on_demand", "zones": ["use1-az4"]}],
        ("aws", "pools", 0, "max_nodes"): 16,
    }
    assert budget(changes).nodes == 16
    assert budget(changes, "use1-az6").nodes == 2


def test_the_type_with_most_addresses_counts() -> None:
    wide = {"kind": "on_demand", "zones": ["use1-az4"], "instance": "p4d.24xlarge"}
    changes: dict[DataPath, Any] = {
        ("aws", "pools", 0, "nics"): "legacy",
        ("aws", "pools", 0, "instance"): "g6.48xlarge",
        ("aws", "pools", 0, "capacity", 1): wide,
    }
    assert budget(changes).nodes == 4 * 4


def test_a_network_without_enough_addresses_is_refused() -> None:
    with pytest.raises(ValueError, match="use1-az4"):
        network_args(environment({("aws", "cidr"): "10.60.0.0/26"}))


# Properties of any environment.


@given(bodies())
def test_subnets_never_overlap_and_are_inside_the_vpc(body: dict[str, Any]) -> None:
    site = built(body)
    planned = subnets(site)
    for first, second in combinations(planned, 2):
        assert not first.cidr.overlaps(second.cidr)
    assert all(subnet.cidr.subnet_of(site.aws.cidr) for subnet in planned)
    assert overlaps(site) == () and outside(site) == ()


@given(bodies(least=1), st.data())
def test_adding_a_zone_or_a_pool_moves_no_subnet(body: dict[str, Any], data: st.DataObject) -> None:
    before = {(subnet.zone, subnet.tier): subnet.cidr for subnet in subnets(built(body))}
    more = {"name": "more", "instance": "g5.xlarge", "max_nodes": 3}
    more["capacity"] = [
        {"kind": "on_demand", "zones": data.draw(st.lists(st.sampled_from(ZONES), min_size=1, unique=True))}
    ]
    after = {
        (subnet.zone, subnet.tier): subnet.cidr for subnet in subnets(with_pools(body, [*body["aws"]["pools"], more]))
    }
    common = {key: cidr for key, cidr in before.items() if key in after}
    assert {key: after[key] for key in common} == common
    lost = set(before) - set(after)
    assert all(tier == "public" and body["aws"]["nat"] == "single" for _, tier in lost), "the one gateway may move"


@given(bodies(least=1), st.integers(1, 50))
def test_more_nodes_never_need_fewer_addresses(body: dict[str, Any], more: int) -> None:
    first, *others = body["aws"]["pools"]
    grown = [{**first, "max_nodes": first["max_nodes"] + more}, *others]
    assume(grown[0]["max_nodes"] <= 1024)
    before = {(entry.zone, entry.tier): entry for entry in ip_budget(built(body))}
    after = {(entry.zone, entry.tier): entry for entry in ip_budget(with_pools(body, grown))}
    assert set(before) == set(after)
    for key, entry in before.items():
        assert after[key].needed >= entry.needed and after[key].free <= entry.free
        assert entry.free == entry.addresses - entry.needed
        assert sum(entry.per_pool.values()) == entry.nodes


@given(st.sampled_from(ZONES), st.integers(16, 25), st.integers(0, 2**16 - 1))
def test_a_zone_has_its_own_eighth_of_any_range(zone: str, prefix: int, at: int) -> None:
    cidr = IPv4Network((at << 16 & ~((1 << (32 - prefix)) - 1) & 0xFFFFFFFF, prefix))
    capacity = {"kind": "on_demand", "zones": [zone]}
    site = environment({("aws", "cidr"): str(cidr), ("aws", "pools", 0, "capacity", 0): capacity})
    (subnet,) = subnets(site)
    assert subnet.cidr == list(cidr.subnets(3))[zone_number(zone)]
