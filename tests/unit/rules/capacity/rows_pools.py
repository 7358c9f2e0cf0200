"""Mistakes with pools and the order in which capacity is tried."""

from landbridge.findings import DataPath
from tests.unit.core.samples import GOOD
from tests.unit.rules.parts import BLOCK, CAPACITY, FALLBACK, ON_DEMAND, POOL, RESERVED, SECOND, SPOT, pool
from tests.unit.rules.row import Row

MANY = [pool(name=f"p{number}", max_nodes=1024) for number in range(65)]
MIN: DataPath = (*POOL, "min_nodes")

ROWS = [
    Row("duplicate-pool", "two pools with one name", {SECOND: {**GOOD["aws"]["pools"][0]}}, (*SECOND, "name"), "p5"),
    Row("duplicate-pool", "a pool with the name of a derived partition", {(*POOL, "name"): "gpu"}, (*POOL, "name"), 'the name "gpu" is reserved'),
    Row("pool-size", "min_nodes above max_nodes", {MIN: 5}, MIN, "min_nodes: 4"),
    Row("purchase-not-offered", "no Capacity Blocks of this type", {(*POOL, "instance"): "g5.48xlarge", CAPACITY: BLOCK}, (*CAPACITY, "kind"), "spot"),
    Row("purchase-not-offered", "no spot of this type", {(*POOL, "instance"): "p6e-gb200.36xlarge", CAPACITY: SPOT}, (*CAPACITY, "kind"), "capacity_block"),
    Row("prepaid-capacity-order", "on-demand before a paid block", {FALLBACK: BLOCK}, FALLBACK, "paid for"),
    Row("prepaid-capacity-order", "spot before a reservation", {CAPACITY: SPOT, FALLBACK: RESERVED}, FALLBACK, "paid for"),
    Row("duplicate-fallback", "the same capacity twice", {FALLBACK: {**ON_DEMAND, "zones": ["use1-az4"]}}, FALLBACK, "capacity[0] already has the same on-demand"),
    Row("duplicate-fallback", "a fallback inside capacity that was tried before", {CAPACITY: ON_DEMAND, FALLBACK: {**ON_DEMAND, "zones": ["use1-az6"]}}, FALLBACK, "capacity[0] already has the same on-demand"),
    Row("duplicate-fallback", "a second, cheaper spot request", {CAPACITY: {**SPOT, "max_price_usd": 20.0}, FALLBACK: {**SPOT, "max_price_usd": 18.0}}, FALLBACK, "spot"),
    Row("min-nodes-on-demand", "nodes that run all month", {MIN: 2}, MIN, "80,358 USD a month"),
    Row("prepaid-idle-pool", "reserved nodes that are switched off", {CAPACITY: {**RESERVED, "count": 4}}, (*POOL, "capacity"), "min_nodes: 4"),
    Row("slurm-nodes", "more nodes than Slurm permits", {("aws", "pools"): MANY}, ("aws", "pools"), "66562"),
    Row("boot-time", "less time than a GPU node needs to boot", {(*POOL, "resume_timeout"): 300}, (*POOL, "resume_timeout"), "600 s"),
    Row("idle-time", "nodes terminated after a minute", {(*POOL, "suspend_after"): 60}, (*POOL, "suspend_after"), "boot again"),
    Row("idle-time", "idle nodes kept for a day", {(*POOL, "suspend_after"): 86400}, (*POOL, "suspend_after"), "1,321 USD"),
]  # fmt: skip
