"""Correct pools and file systems: no finding except on settings that are not built yet, costs and information. Users
turn off a check with false alarms."""

from datetime import date
from typing import Any

import pytest

from landbridge.catalog import instances, offered, regions
from landbridge.findings import DataPath, Severity
from landbridge.rules import check_report
from tests.unit.core.samples import loaded
from tests.unit.rules.parts import (
    BLOCK,
    CAPACITY,
    FALLBACK,
    GROUP,
    ON_DEMAND,
    POOL,
    RESERVED,
    SCRATCH,
    SHARES,
    SPOT,
    pool,
)

Changes = dict[DataPath, Any]
#: An image of another source, which contains Lustre's client.
CLIENT: Changes = {(*POOL, "image"): "ami-0123456789abcdef0"}
ZONED = {**ON_DEMAND, "zones": ["use1-az4"]}
KEPT: Changes = {(*POOL, "min_nodes"): 4}
WINDOW = {"count": 4, "starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T11:30:00Z"}
SHORT = {("scheduler", "partitions"): {"p5": {"max_time": "2-00:00:00"}}}

GOOD_ESTATES: dict[str, Changes] = {
    "a block for a week": {**KEPT, **SHORT, CAPACITY: {**BLOCK, **WINDOW}},
    "two blocks, one after the other": {
        **KEPT,
        CAPACITY: {**BLOCK, **WINDOW},
        FALLBACK: {
            **BLOCK,
            **WINDOW,
            "reservation": "cr-0123456789abcdef9",
            "starts": "2026-12-08T11:30:00Z",
            "ends": "2026-12-15T11:30:00Z",
        },
    },
    "a reservation that is kept busy": {**KEPT, CAPACITY: {**RESERVED, "count": 4}},
    "a reservation made in a group": {
        **KEPT,
        CAPACITY: {**RESERVED, "count": 4, "placement_group": "ml"},
        (*POOL, "placement_group"): "ml",
    },
    "a reservation, then on demand": {CAPACITY: {**RESERVED, "count": 2}, FALLBACK: ZONED},
    "a group of reservations": {CAPACITY: GROUP, FALLBACK: ZONED},
    "spot with on-demand after it": {(*POOL, "instance"): "g6e.4xlarge", CAPACITY: SPOT, FALLBACK: ON_DEMAND},
    "spot with a maximum price": {
        CAPACITY: {**SPOT, "zones": ["use1-az4"], "max_price_usd": 25.0},
        FALLBACK: ZONED,
    },
    "p5en": {
        (*POOL, "instance"): "p5en.48xlarge",
        CAPACITY: {**ON_DEMAND, "zones": ["use1-az6"]},
    },
    "addresses on every card that takes them": {(*POOL, "nics"): "bandwidth"},
    "own security groups": {(*POOL, "security_groups"): ["sg-0123456789abcdef0"]},
    "one small node": {(*POOL, "instance"): "g6.xlarge", (*POOL, "max_nodes"): 1, CAPACITY: ON_DEMAND},
    "Trainium": {(*POOL, "instance"): "trn1.32xlarge", CAPACITY: ON_DEMAND},
    "a named group in one zone": {(*POOL, "placement_group"): "ml"},
    "three spread nodes without EFA": {
        (*POOL, "instance"): "g6.4xlarge",
        (*POOL, "max_nodes"): 3,
        (*POOL, "placement"): "spread",
        CAPACITY: ON_DEMAND,
    },
    "a large, fast root volume": {
        (*POOL, "root_volume_gib"): 1000,
        (*POOL, "root_volume_iops"): 16_000,
        (*POOL, "root_volume_throughput"): 1000,
    },
    "local scratch": {(*POOL, "local_scratch"): "/local"},
    "room in every quota": {("aws", "quotas"): {"L-417A185B": 2304}},
    "an image by its id": {(*POOL, "image"): "ami-0123456789abcdef0"},
    "Lustre linked to the hub": {
        **CLIENT,
        SCRATCH: {"kind": "fsx_lustre", "repositories": [{"folder": "/data", "data_class": "internal"}]},
    },
    "scratch that exports": {
        **CLIENT,
        SCRATCH: {
            "kind": "fsx_lustre",
            "deployment": "scratch_2",
            "repositories": [{"folder": "/out", "bucket": "s3://results/run", "export": True}],
        },
    },
    "Lustre over EFA": {
        **CLIENT,
        SCRATCH: {"kind": "fsx_lustre", "efa": True, "capacity_gib": 19_200, "zone": "use1-az4"},
    },
    "Lustre with a mirror of its client": {
        ("storage", "lustre_client"): {"mirror": "https://mirror.example.org/lustre/"},
        SCRATCH: {"kind": "fsx_lustre"},
    },
    "Lustre that grows": {
        **CLIENT,
        SCRATCH: {"kind": "fsx_lustre", "storage_type": "intelligent_tiering", "throughput": 8000},
    },
    "OpenZFS and EFS": {
        (*SHARES, "projects"): {
            "kind": "fsx_openzfs",
            "throughput": 320,
            "mount": "/projects",
            "root_hosts": ["10.60.0.9/32"],
        },
        (*SHARES, "files"): {"kind": "efs", "mount": "/files"},
    },
    "a second pool in the same zone": {("aws", "pools", 1): pool(instance="g6e.xlarge", capacity=[ZONED])},
}


@pytest.mark.parametrize("changes", GOOD_ESTATES.values(), ids=GOOD_ESTATES.keys())
def test_a_good_estate(changes: Changes) -> None:
    findings = check_report(loaded(changes), date(2026, 11, 21)).findings
    serious = [
        finding for finding in findings if finding.severity is not Severity.INFO and finding.rule != "not-built-yet"
    ]
    assert serious == []


@pytest.mark.parametrize("family", instances().families)
def test_every_type_can_be_a_pool_in_a_region_that_offers_it(family: str) -> None:
    for name, kind in instances().family(family).items():
        region = next((candidate for candidate in ("us-east-1", *regions()) if offered(kind, candidate)), "us-east-1")
        kinds = {"on_demand": ON_DEMAND, "spot": SPOT, "capacity_block": {**BLOCK, "zone": regions()[region].zones[0]}}
        capacity = kinds[kind.purchase[0]]
        report = check_report(
            loaded({(*POOL, "instance"): name, CAPACITY: capacity}, region=region), date(2026, 11, 21)
        )
        assert [finding for finding in report.findings if finding.severity is Severity.ERROR] == [], (name, region)
