"""File systems: valid sizes and throughputs of AWS, settings that exclude each other, and zones."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from landbridge.catalog import storage as facts
from landbridge.environment import Efs, FsxLustre, FsxOpenZfs
from landbridge.plan.storage import Share, addresses, pools_elsewhere, ports, resolve, storage_violations, zone, zones
from tests.unit.core.samples import environment

_ADAPTER: TypeAdapter[FsxLustre | FsxOpenZfs | Efs] = TypeAdapter(FsxLustre | FsxOpenZfs | Efs)


def share(kind: str = "fsx_lustre", **keys: Any) -> Share:
    return _ADAPTER.validate_python({"kind": kind, **keys}, strict=False)


def lustre(**keys: Any) -> Share:
    return share("fsx_lustre", **keys)


def refused(file_system: Share, region: str | None = None) -> list[str]:
    return [fault.key for fault in storage_violations(file_system, region)]


DRA = [{"folder": "/data", "data_class": "internal"}]
MANY = [{"folder": f"/d{number}", "bucket": f"s3://bucket-{number}"} for number in range(9)]


@pytest.mark.parametrize(
    ("keys", "key", "says"),
    [
        ({"capacity_gib": 2000}, "capacity_gib", "no size of 2000"),
        ({"capacity_gib": 3600}, "capacity_gib", "the next size is 4800"),
        ({"capacity_gib": None}, "capacity_gib", "needs a size"),
        ({"throughput": 200}, "throughput", "125, 250, 500, 1000"),
        ({"deployment": "persistent_1", "throughput": 250}, "throughput", "50, 100, 200"),
        ({"deployment": "scratch_2", "throughput": 250}, "throughput", "leaves no choice"),
        ({"deployment": "scratch_2", "storage_type": "hdd"}, "storage_type", "no hdd"),
        ({"storage_type": "hdd"}, "storage_type", "no hdd"),
        (
            {"deployment": "persistent_1", "storage_type": "hdd", "throughput": 12, "capacity_gib": 7200},
            "capacity_gib",
            "the next size is 12000",
        ),
        (
            {"deployment": "persistent_1", "storage_type": "hdd", "throughput": 40, "capacity_gib": 4800},
            "capacity_gib",
            "the next size is 5400",
        ),
        ({"storage_type": "intelligent_tiering", "capacity_gib": 4800}, "capacity_gib", "has no size"),
        ({"storage_type": "intelligent_tiering", "throughput": 5000}, "throughput", "throughput: 8000"),
        ({"storage_type": "intelligent_tiering", "deployment": "scratch_2"}, "deployment", "persistent_2"),
        # EFA has a minimum for each throughput, and goes in steps of it.
        ({"efa": True, "throughput": 250, "capacity_gib": 4800}, "capacity_gib", "capacity_gib: 19200"),
        ({"efa": True, "throughput": 250, "capacity_gib": 21600}, "capacity_gib", "capacity_gib: 38400"),
        ({"efa": True, "throughput": 1000, "capacity_gib": 2400}, "capacity_gib", "capacity_gib: 4800"),
        ({"efa": True, "throughput": 250, "capacity_gib": 9600}, "capacity_gib", "9600 at throughput 500"),
        ({"efa": True, "deployment": "scratch_2"}, "efa", "needs persistent_2"),
        ({"repositories": MANY}, "repositories", "has 8 at most"),
        ({"repositories": DRA, "deployment": "scratch_1"}, "repositories", "scratch_1 cannot"),
        ({"repositories": DRA, "import_path": "s3://bucket/x"}, "import_path", "exclude each other"),
        ({"repositories": [*DRA, {"folder": "/data/in", "bucket": "s3://bucket"}]}, "repositories", "inside the other"),
        ({"repositories": [{"folder": "/data"}]}, "repositories", "neither a data class nor a bucket"),
        ({"repositories": [{**DRA[0], "bucket": "s3://bucket"}]}, "repositories", "both"),
        ({"repositories": DRA, "backup_days": 7}, "backup_days", "no backups"),
        ({"deployment": "scratch_2", "backup_days": 7}, "backup_days", "has no backups"),
        ({"backup_days": 91}, "backup_days", "0 to 90"),
        ({"export_path": "s3://bucket/out"}, "export_path", "needs import_path"),
        ({"import_path": "s3://one", "export_path": "s3://two"}, "export_path", "import_path's bucket"),
    ],
)
def test_a_lustre_that_fsx_refuses_has_a_violation(keys: dict[str, Any], key: str, says: str) -> None:
    violations = [fault for fault in storage_violations(lustre(**keys)) if fault.key == key]
    assert violations, storage_violations(lustre(**keys))
    assert says in f"{violations[0].message}; {violations[0].fix}"


@pytest.mark.parametrize(
    ("kind", "keys", "key", "says"),
    [
        ("fsx_openzfs", {"capacity_gib": 32}, "capacity_gib", "capacity_gib: 64"),
        ("fsx_openzfs", {"throughput": 64}, "throughput", "160"),
        ("fsx_openzfs", {"deployment": "single_az_1", "throughput": 160}, "throughput", "64, 128"),
        ("fsx_openzfs", {"capacity_gib": 1000, "iops": 2000}, "iops", "include 3000"),
        ("fsx_openzfs", {"backup_days": 100}, "backup_days", "0 to 90"),
        ("efs", {"performance": "max_io"}, "performance", "exclude each other"),
        ("efs", {"throughput": "provisioned"}, "throughput", "needs provisioned_mibps"),
        ("efs", {"provisioned_mibps": 100}, "provisioned_mibps", "no effect"),
    ],
)
def test_an_openzfs_or_efs_that_aws_refuses_has_a_violation(
    kind: str, keys: dict[str, Any], key: str, says: str
) -> None:
    (violation,) = storage_violations(share(kind, **keys))
    assert violation.key == key and says in f"{violation.message}; {violation.fix}"


@pytest.mark.parametrize(
    "file_system",
    [
        lustre(),
        lustre(capacity_gib=1200),
        lustre(deployment="scratch_1", capacity_gib=3600),
        lustre(deployment="persistent_1", storage_type="hdd", throughput=12, capacity_gib=6000),
        lustre(deployment="persistent_1", storage_type="hdd", throughput=40, capacity_gib=1800),
        lustre(storage_type="intelligent_tiering"),
        lustre(storage_type="intelligent_tiering", throughput=8000),
        lustre(efa=True, capacity_gib=19200),
        lustre(efa=True, throughput=1000, capacity_gib=4800),
        lustre(deployment="scratch_2", repositories=DRA),
        lustre(import_path="s3://bucket/in", export_path="s3://bucket/out"),
        share("fsx_openzfs"),
        share("efs"),
        share("efs", throughput="provisioned", provisioned_mibps=256),
    ],
)
def test_a_valid_file_system_has_no_violation(file_system: Share) -> None:
    assert storage_violations(file_system, "us-east-1") == ()


@given(st.data())
def test_the_size_that_a_fix_proposes_is_valid(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(facts().fsx_lustre.deployments))
    rate = data.draw(st.sampled_from(row.throughput)) if row.throughput else None
    size = data.draw(st.integers(1, 200_000))
    keys = {"deployment": row.deployment, "storage_type": row.storage, "throughput": rate}
    violations = [
        fault for fault in storage_violations(lustre(**keys, capacity_gib=size)) if fault.key == "capacity_gib"
    ]
    if violations:
        better = int(str(violations[0].fix).rsplit(" ", 1)[1])
        assert better > size
        assert storage_violations(lustre(**keys, capacity_gib=better)) == ()


def test_a_deployment_that_the_region_lacks_has_a_violation() -> None:
    assert refused(share("fsx_openzfs"), "us-east-1") == []
    (violation,) = storage_violations(share("fsx_openzfs"), "ap-east-1")
    assert violation.key == "deployment" and "single_az_ha_1" in str(violation.fix)
    assert refused(share("fsx_openzfs", deployment="single_az_1"), "ap-east-1") == []
    assert refused(share("fsx_openzfs"), "mars-north-1") == [], "an unknown region has no facts"


def test_missing_settings_get_the_defaults_of_the_deployment() -> None:
    assert resolve(lustre()).throughput == 250
    assert resolve(lustre(deployment="persistent_1")).throughput == 200
    assert resolve(lustre(deployment="scratch_2")).throughput is None
    elastic = resolve(lustre(storage_type="intelligent_tiering"))
    assert (elastic.capacity_gib, elastic.throughput) == (None, 4000)
    assert resolve(share("fsx_openzfs")).throughput == 160
    assert resolve(share("efs")).capacity_gib is None


def test_each_kind_of_file_system_has_its_ports() -> None:
    assert [(rule.first, rule.last) for rule in ports(lustre())] == [(988, 988), (1018, 1023)]
    assert {rule.protocol for rule in ports(share("fsx_openzfs"))} == {"tcp", "udp"}
    assert [(rule.first, rule.last) for rule in ports(share("efs"))] == [(2049, 2049)]


def test_a_file_system_is_in_one_zone_and_pools_in_other_zones_are_listed() -> None:
    capacity = [{"kind": "on_demand", "zones": ["use1-az4", "use1-az6"]}]
    site = environment(
        {("aws", "pools", 0, "capacity"): capacity, ("storage",): {"cloud_scratch": {"kind": "fsx_lustre"}}}
    )
    scratch = site.storage.cloud_scratch
    assert scratch is not None
    assert zone(site, scratch) == "use1-az4"
    assert pools_elsewhere(site, scratch) == {"p5": ("use1-az6",)}
    assert zone(site, share("efs")) is None
    assert zones(site, share("efs")) == ("use1-az4", "use1-az6")
    assert pools_elsewhere(site, share("efs")) == {}


def test_every_file_server_needs_an_address() -> None:
    small = environment({("storage",): {"cloud_scratch": {"kind": "fsx_lustre", "capacity_gib": 2400}}})
    large = environment({("storage",): {"cloud_scratch": {"kind": "fsx_lustre", "capacity_gib": 48000}}})
    assert (addresses(small), addresses(large)) == ({"use1-az4": 2}, {"use1-az4": 21})
