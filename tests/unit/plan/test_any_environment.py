"""Plan functions accept any environment that parses, because rules call them on environments with other errors."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from landbridge.plan.aws.images import pool_image
from landbridge.plan.cost import spend
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.instances.network_interfaces import pool_interfaces
from landbridge.plan.network.addresses import ip_budget, outside, overlaps
from landbridge.plan.network.endpoints import endpoint_services, unreachable
from landbridge.plan.storage import pools_elsewhere, ports, resolve, storage_violations, zones
from landbridge.plan.zones import common_zones, pool_zones, storage_zone
from tests.unit.core.samples import GOOD
from tests.unit.plan.estates import built

CR = "cr-0123456789abcdef0"
_region = st.sampled_from(["us-east-1", "us-gov-west-1", "cn-north-1", "mars-north-1"])
_type = st.sampled_from(["p5.48xlarge", "p6e-gb200.36xlarge", "t3.large", "p9.huge", "nonsense", "p5"])
_zone = st.sampled_from(["use1-az4", "use1-az9", "cnn1-az1", "xyz9-az0", "use1-az12"])
_cidr = st.sampled_from(["10.60.0.0/16", "10.60.0.0/25", "10.60.0.0/30", "10.60.0.0/32", "0.0.0.0/0", "10.20.0.0/16"])
_capacity = st.one_of(
    st.fixed_dictionaries({"kind": st.just("on_demand")}, optional={"zones": st.lists(_zone, max_size=2)}),
    st.fixed_dictionaries(
        {"kind": st.just("spot")}, optional={"instance": _type, "max_price_usd": st.floats(0.001, 1e6)}
    ),
    st.fixed_dictionaries({"kind": st.just("reservation"), "reservation": st.just(CR), "zone": _zone}),
    st.fixed_dictionaries(
        {"kind": st.just("capacity_block"), "reservation": st.just(CR), "zone": _zone},
        optional={
            "count": st.integers(1, 1024),
            "starts": st.sampled_from(["2026-12-01T11:30:00Z", "2026-12-01T11:30:00"]),
            "ends": st.sampled_from(["2026-12-08T11:30:00Z", "2026-11-01T11:30:00", "2026-11-30T11:30:00+09:00"]),
            "instance": _type,
        },
    ),
)
_pool = st.fixed_dictionaries(
    {"name": st.just("p"), "instance": _type, "max_nodes": st.integers(1, 1024)},
    optional={
        "capacity": st.lists(_capacity, min_size=1, max_size=3),
        "min_nodes": st.integers(0, 1024),
        "interfaces": st.just([{"card": 63, "device": 63, "type": "efa-only"}]),
        "efa": st.booleans(),
        "image": st.sampled_from(["ami-0123456789abcdef0", "unknown"]),
        "placement": st.sampled_from(["none", "spread", "cluster"]),
    },
)
_share = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just("fsx_lustre")},
        optional={
            "deployment": st.sampled_from(["scratch_1", "scratch_2", "persistent_1", "persistent_2"]),
            "storage_type": st.sampled_from(["ssd", "hdd", "intelligent_tiering"]),
            "capacity_gib": st.one_of(st.none(), st.integers(1, 10**7)),
            "throughput": st.integers(1, 10**7),
            "efa": st.booleans(),
            "zone": _zone,
            "import_path": st.just("s3://bucket"),
            "export_path": st.just("s3://other"),
            "repositories": st.just([{"folder": "/"}, {"folder": "/a", "data_class": "internal"}]),
        },
    ),
    st.fixed_dictionaries(
        {"kind": st.just("fsx_openzfs")},
        optional={"capacity_gib": st.integers(1, 10**7), "throughput": st.integers(1, 10**5), "zone": _zone},
    ),
    st.fixed_dictionaries(
        {"kind": st.just("efs")},
        optional={"zones": st.lists(_zone, max_size=2), "provisioned_mibps": st.integers(1, 10**5)},
    ),
)
_aws = st.fixed_dictionaries(
    {"cidr": _cidr, "pools": st.lists(_pool, max_size=3)},
    optional={
        "nat": st.sampled_from(["none", "single", "per_zone"]),
        "secondary_cidrs": st.lists(_cidr, max_size=2),
        "subnets": st.dictionaries(_zone, _cidr, max_size=2),
        "vpc_endpoints": st.sampled_from(["derived", "gateway"]),
        "vpc": st.just(
            {
                "id": "vpc-0123456789abcdef0",
                "subnets": {"use1-az4": {"id": "subnet-0123456789abcdef0", "cidr": "10.60.0.0/24"}},
            }
        ),
    },
)


@given(_region, _aws, st.dictionaries(st.sampled_from(["a", "b"]), _share, max_size=2))
def test_plan_functions_raise_nothing_for_any_environment(
    region: str, aws: dict[str, Any], shares: dict[str, Any]
) -> None:
    site = built({**GOOD, "aws": aws, "storage": {"cloud_shares": shares}}, region)
    for pool in site.aws.pools:
        for terms in fallbacks(pool, region):
            assert terms.bounds(pool)[0] <= terms.bounds(pool)[1]
            assert terms.leave_by is None or terms.ends is not None
            assert pool_interfaces(pool, terms.instance)
        assert pool_image(site, pool).reference
        assert isinstance(pool_zones(pool, region), tuple)
    common = common_zones(site.aws.pools, region)
    assert set(common.zones).isdisjoint(common.absent)
    assert storage_zone(site) is None or site.aws.pools
    for budget in ip_budget(site):
        assert budget.needed >= 0
    assert all(overlap.first != overlap.second for overlap in overlaps(site))
    assert all(item.kind == "subnet" for item in outside(site))
    assert {endpoint.kind for endpoint in endpoint_services(site)} <= {"gateway", "interface"}
    assert all(endpoint.why for endpoint in unreachable(site))
    for share in site.storage.in_aws().values():
        assert all(fault.message for fault in storage_violations(share, region))
        assert resolve(share).servers >= 1 and ports(share)
        assert set(pools_elsewhere(site, share)) <= {pool.name for pool in site.aws.pools}
        assert isinstance(zones(site, share), tuple)
    total = spend(site)
    assert all(line.usd_hour >= 0 and line.fixed_month >= 0 for line in total.lines)
