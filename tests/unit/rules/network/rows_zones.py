"""Mistakes with regions and zones."""

from tests.unit.rules.parts import BLOCK, CAPACITY, FALLBACK, GROUP, ON_DEMAND, POOL, SCRATCH, SHARES
from tests.unit.rules.row import Row

TYPE = (*POOL, "instance")

ROWS = [
    Row("unknown-region", "misspelt region", {}, ("region",), '"us-east-1"', region="us-east-01"),
    Row("unknown-zone", "a zone of another region", {(*CAPACITY, "zones"): ["use1-az4", "usw2-az1"]}, (*CAPACITY, "zones", 1), "us-east-1"),
    Row("unknown-zone", "a block in another region's zone", {CAPACITY: {**BLOCK, "zone": "usw2-az1"}}, (*CAPACITY, "zone"), "usw2-az1"),
    Row("unknown-zone", "an unknown zone number", {(*CAPACITY, "zones"): ["use1-az9"]}, (*CAPACITY, "zones", 0), "use1-az9"),
    Row("unknown-zone", "a file system in another region's zone", {SCRATCH: {"kind": "fsx_lustre", "zone": "euw1-az1"}}, (*SCRATCH, "zone"), "euw1-az1"),
    Row("unknown-zone", "a mount target in another region's zone", {(*SHARES, "efs"): {"kind": "efs", "zones": ["use2-az1"]}}, (*SHARES, "efs", "zones", 0), "use2-az1"),
    Row("repeated-zone", "a zone named twice", {(*CAPACITY, "zones"): ["use1-az4", "use1-az4"]}, (*CAPACITY, "zones", 1), "the zone use1-az4 is repeated"),
    Row("type-not-in-zone", "the type is not in the zone", {TYPE: "p5en.48xlarge"}, (*CAPACITY, "zones", 0), "use1-az6"),
    Row("type-not-in-zone", "the block's zone has no such type", {TYPE: "p6-b200.48xlarge", CAPACITY: {**BLOCK, "zone": "use1-az1"}}, (*CAPACITY, "zone"), "p6-b200.48xlarge"),
    Row("type-not-in-region", "the type is not in the region", {TYPE: "p5e.48xlarge"}, TYPE, "us-east-2"),
    Row("type-not-in-region", "a fallback type that is not in the region", {FALLBACK: {**ON_DEMAND, "instance": "p5e.48xlarge"}}, (*FALLBACK, "instance"), "us-east-2"),
    Row("gang-over-zones", "EFA nodes in two zones", {(*CAPACITY, "zones"): ["use1-az4", "use1-az6"]}, (*CAPACITY, "zones"), "one zone only"),
    Row("no-common-zone", "fallbacks without a common zone", {FALLBACK: {**ON_DEMAND, "zones": ["use1-az6"]}}, (*POOL, "capacity"), "no zone in common"),
    Row("group-over-zones", "reservations of one group in two zones", {CAPACITY: {**GROUP, "zones": ["use1-az4", "use1-az6"]}}, (*CAPACITY, "zones"), "EFA"),
]  # fmt: skip
