"""Mistakes with placement groups."""

from tests.unit.rules.parts import BLOCK, CAPACITY, FALLBACK, ON_DEMAND, POOL, SECOND, pool
from tests.unit.rules.row import Row

PLACEMENT = (*POOL, "placement")
NAMED = (*POOL, "placement_group")

ROWS = [
    Row("placement-not-supported", "a cluster group of burstable instances", {(*POOL, "instance"): "t3.large", PLACEMENT: "cluster"}, PLACEMENT, "partition, spread"),
    Row("placement-not-supported", "a named group for burstable instances", {(*POOL, "instance"): "t3.large", NAMED: "mine"}, NAMED, "placement: none"),
    Row("block-in-group", "a Capacity Block in a named group", {CAPACITY: BLOCK, NAMED: "mine"}, NAMED, "no placement group"),
    Row("block-in-group", "a Capacity Block in a cluster group", {CAPACITY: BLOCK, PLACEMENT: "cluster"}, PLACEMENT, "impossible"),
    Row("block-in-group", "a cluster group beside a Capacity Block", {CAPACITY: BLOCK, FALLBACK: ON_DEMAND, PLACEMENT: "cluster"}, PLACEMENT, "a Capacity Block is launched into no"),
    Row("group-without-placement", "a named group that is not used", {NAMED: "mine", PLACEMENT: "none"}, NAMED, "placement_group mine has no effect with placement"),
    Row("spread-limit", "eight spread nodes in a zone", {PLACEMENT: "spread", (*POOL, "max_nodes"): 8}, (*POOL, "max_nodes"), "max_nodes: 7"),
    Row("efa-without-cluster-group", "EFA nodes spread over racks", {PLACEMENT: "spread"}, PLACEMENT, "spread placement group"),
    Row("efa-without-cluster-group", "EFA nodes in partitions", {PLACEMENT: "partition"}, PLACEMENT, "partition placement group"),
    Row("efa-without-cluster-group", "EFA nodes without a placement group", {PLACEMENT: "none"}, PLACEMENT, "in no placement group"),
    Row("named-group-zone", "one cluster group for two zones", {NAMED: "mine", (*CAPACITY, "zones"): ["use1-az4", "use1-az6"]}, NAMED, "is in one zone"),
    Row("shared-group", "one group with two strategies", {NAMED: "mine", SECOND: pool(placement_group="mine", placement="partition")}, (*SECOND, "placement_group"), "partition"),
    Row("shared-group", "one cluster group in two zones", {NAMED: "mine", SECOND: pool(placement_group="mine", capacity=[{**ON_DEMAND, "zones": ["use1-az6"]}])}, (*SECOND, "placement_group"), "other zones"),
    Row("shared-group", "one group of two types", {NAMED: "mine", SECOND: pool(placement_group="mine", instance="p4d.24xlarge")}, (*SECOND, "placement_group"), "p4d.24xlarge"),
]  # fmt: skip
