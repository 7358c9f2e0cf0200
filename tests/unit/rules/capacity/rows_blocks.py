"""Mistakes with Capacity Blocks."""

from tests.unit.rules.parts import BLOCK, CAPACITY, FALLBACK, ON_DEMAND, OTHER_BLOCK, POOL, SECOND, pool
from tests.unit.rules.row import Row

MIN = (*POOL, "min_nodes")
MANY = {
    ("aws", "pools", number): pool(
        name=f"b{number}", max_nodes=64, min_nodes=64, capacity=[{**BLOCK, "reservation": f"cr-0123456789abcde{number:02}", "count": 64}]
    )
    for number in range(5)
}  # fmt: skip

ROWS = [
    Row("block-count", "a block of more instances than AWS sells", {(*POOL, "max_nodes"): 100, CAPACITY: {**BLOCK, "count": 100}}, (*CAPACITY, "count"), "at most 64"),
    Row("block-count", "more instances in blocks than an account may have", MANY, ("aws", "pools", 4, "capacity", 0, "count"), "at most 256"),
    Row("block-size", "a block whose nodes are switched off", {CAPACITY: BLOCK}, CAPACITY, "min_nodes: 4"),
    Row("block-size", "a block that scales from none", {CAPACITY: BLOCK, MIN: 0}, MIN, "min_nodes: 4"),
    Row("block-size", "a block with half its nodes in min_nodes", {CAPACITY: BLOCK, MIN: 2}, MIN, "min_nodes: 4"),
    Row("min-nodes-after-block", "on-demand nodes kept after the block's end", {CAPACITY: BLOCK, FALLBACK: ON_DEMAND, MIN: 4}, MIN, "220.16 USD an hour"),
    Row("blocks-in-different-zones", "blocks of one pool in two zones", {CAPACITY: BLOCK, FALLBACK: {**OTHER_BLOCK, "zone": "use1-az6"}}, (*FALLBACK, "zone"), "use1-az6"),
    Row("no-blocks-in-region", "blocks in a region that sells none", {CAPACITY: {**BLOCK, "zone": "euc1-az1"}}, (*CAPACITY, "kind"), "us-east-1", region="eu-central-1"),
    Row("duplicate-reservation", "one block for two pools", {CAPACITY: BLOCK, SECOND: pool(capacity=[BLOCK])}, (*SECOND, "capacity", 0), "cr-0123456789abcdef0 is shared with the pool p5"),
]  # fmt: skip
