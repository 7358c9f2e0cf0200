"""Mistakes with UltraServers."""

from tests.unit.rules.parts import BLOCK, CAPACITY, POOL
from tests.unit.rules.row import Row

GB200 = {(*POOL, "instance"): "p6e-gb200.36xlarge"}
LARGE = "u-p6e-gb200x72"
NAME = (*CAPACITY, "ultraserver")

ROWS = [
    Row("whole-ultraservers", "half an UltraServer", {**GB200, CAPACITY: {**BLOCK, "count": 4}}, (*CAPACITY, "count"), "u-p6e-gb200x36 has 9"),
    Row("whole-ultraservers", "half a large UltraServer", {**GB200, CAPACITY: {**BLOCK, "count": 9, "ultraserver": LARGE}}, (*CAPACITY, "count"), "multiple of 18"),
    Row("unknown-ultraserver", "misspelt UltraServer", {**GB200, CAPACITY: {**BLOCK, "count": 18, "ultraserver": "u-p6e-gb200x27"}}, NAME, LARGE),
    Row("unknown-ultraserver", "an UltraServer of a type that is sold alone", {CAPACITY: {**BLOCK, "ultraserver": LARGE}}, NAME, "not sold in UltraServers"),
    Row("nvlink-domain-of-pool", "a pool over two UltraServers", {**GB200, (*POOL, "max_nodes"): 18, CAPACITY: {**BLOCK, "count": 18, "ultraserver": "u-p6e-gb200x36"}}, (*POOL, "capacity"), "several UltraServers"),
    Row("nvlink-domain-of-pool", "a block of an unknown UltraServer", {**GB200, (*POOL, "max_nodes"): 18, CAPACITY: {**BLOCK, "count": 18}}, (*POOL, "capacity"), "several UltraServers"),
    Row("imex-in-aws", "jobs over several instances with NVLink", {**GB200, CAPACITY: {**BLOCK, "count": 18, "ultraserver": LARGE}}, (*POOL, "instance"), "IMEX"),
]  # fmt: skip
