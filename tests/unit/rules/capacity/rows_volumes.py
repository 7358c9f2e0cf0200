"""Mistakes with a node's disks and with other settings of its launch template."""

from tests.unit.rules.parts import CAPACITY, ON_DEMAND, POOL
from tests.unit.rules.row import Row

SIZE, IOPS, RATE = (*POOL, "root_volume_gib"), (*POOL, "root_volume_iops"), (*POOL, "root_volume_throughput")
HOPS, LOCAL, TYPE = (*POOL, "imds_hop_limit"), (*POOL, "local_scratch"), (*POOL, "instance")

ROWS = [
    Row("root-volume-limits", "more IOPS than gp3 has", {IOPS: 100_000}, IOPS, "80000"),
    Row("root-volume-limits", "fewer IOPS than gp3 starts with", {IOPS: 1000}, IOPS, "root_volume_iops: 3000"),
    Row("root-volume-limits", "more throughput than gp3 has", {RATE: 4000, IOPS: 16_000}, RATE, "2000"),
    Row("root-volume-limits", "more IOPS than the size allows", {SIZE: 20, IOPS: 16_000}, IOPS, "root_volume_gib: 32"),
    Row("root-volume-limits", "more throughput than the IOPS allow", {RATE: 1000}, RATE, "root_volume_iops: 4000"),
    Row("root-volume-past-instance", "more IOPS than the instance carries", {CAPACITY: ON_DEMAND, TYPE: "g6e.xlarge", IOPS: 40_000}, IOPS, "20000"),
    Row("root-volume-past-instance", "more throughput than the instance carries", {CAPACITY: ON_DEMAND, TYPE: "g6e.xlarge", RATE: 750}, RATE, "596"),
    Row("root-volume-small", "a root volume without room for CUDA", {SIZE: 30}, SIZE, "root_volume_gib: 200"),
    Row("local-scratch-without-disk", "local scratch without a local disk", {CAPACITY: ON_DEMAND, TYPE: "m7i.large", LOCAL: "/local"}, LOCAL, "no NVMe disk"),
    Row("metadata-hop-limit", "credentials four hops behind the node", {HOPS: 4}, HOPS, "4 hops"),
    Row("metadata-hop-limit", "credentials for containers", {HOPS: 2}, HOPS, "containers"),
    Row("detailed-monitoring-cost", "metrics every minute", {(*POOL, "detailed_monitoring"): True}, (*POOL, "detailed_monitoring"), "detailed monitoring of 4 nodes is billed"),
]  # fmt: skip
