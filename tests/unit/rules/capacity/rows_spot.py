"""Mistakes with spot capacity."""

from tests.unit.rules.parts import CAPACITY, FALLBACK, ON_DEMAND, POOL, SPOT
from tests.unit.rules.row import Row

PRICE = (*CAPACITY, "max_price_usd")

ROWS = [
    Row("spot-alone", "spot capacity alone", {CAPACITY: SPOT}, (*POOL, "capacity"), "spot"),
    Row("min-nodes-on-spot", "spot for min_nodes", {CAPACITY: SPOT, FALLBACK: ON_DEMAND, (*POOL, "min_nodes"): 1}, (*POOL, "min_nodes"), "min_nodes of p5 is 1, and EC2"),
    Row("spot-for-gangs", "spot for a job over many nodes", {CAPACITY: SPOT, FALLBACK: ON_DEMAND}, (*CAPACITY, "kind"), "checkpoints"),
    Row("spot-price", "a spot price above on-demand", {CAPACITY: {**SPOT, "max_price_usd": 98.32}}, PRICE, "55.04"),
    Row("spot-price", "a spot price below every known price", {CAPACITY: {**SPOT, "max_price_usd": 3.5}}, PRICE, "as of"),
    Row("spot-price", "a spot price of a fraction of a cent", {CAPACITY: {**SPOT, "max_price_usd": 0.0005}}, PRICE, "0.001"),
    Row("unknown-key", "an allocation strategy, which one launch in one zone does not have", {CAPACITY: {**SPOT, "allocation": "lowest_price"}}, (*CAPACITY, "allocation"), "the order of capacities"),
    Row("spot-after-on-demand", "spot after on-demand", {FALLBACK: SPOT}, FALLBACK, "saves nothing"),
]  # fmt: skip
