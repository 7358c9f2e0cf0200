"""Mistakes with bursting: accounts, waiting time and budgets."""

from landbridge.findings import DataPath
from tests.unit.core.samples import REMOVED
from tests.unit.rules.parts import BLOCK, CAPACITY, POOL
from tests.unit.rules.row import Row

BURST: DataPath = ("burst",)
WAIT: DataPath = (*BURST, "wait_minutes")
PARTITIONS: DataPath = ("scheduler", "partitions")
ACCOUNTS: DataPath = ("scheduler", "accounts")
BUDGET: DataPath = ("budget",)
WEEK = {**BLOCK, "count": 4, "starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T11:30:00Z"}
NO_PRICE = {(*POOL, "instance"): "p5en.48xlarge", CAPACITY: {"kind": "on_demand", "zones": ["aps1-az1"]}}

ROWS = [
    Row("burst-without-accounts", "pools that no account's jobs may use", {ACCOUNTS: REMOVED}, ACCOUNTS, "no job ever starts"),
    Row("burst-without-accounts", "restricted data alone, and pools for it", {(*ACCOUNTS, "vision", "data_class"): "restricted"}, ACCOUNTS, "may be in AWS"),
    Row("burst-wait", "waiting for nodes in a site without nodes", {BURST: {"wait_minutes": 10}, ("onprem", "nodes"): []}, WAIT, "no on-prem nodes"),
    Row("burst-wait", "waiting without a pool to use afterwards", {BURST: {"wait_minutes": 10}, ("aws", "pools"): []}, WAIT, "no pool has the site's accelerators, so"),
    Row("burst-wait-bypassed", "a partition that waits and has a pool's nodes", {BURST: {"wait_minutes": 10}, PARTITIONS: {"gpu": {"nodes": ["onprem", "p5"]}}}, (*PARTITIONS, "gpu", "nodes", 1), "at once"),
    Row("burst-wait-bypassed", "a default partition over both sites beside one that waits", {BURST: {"wait_minutes": 10}, PARTITIONS: {"all": {"nodes": ["dgx01", "p5-[1-2]"], "default": True}}}, (*PARTITIONS, "all", "nodes", 1), "jobs of all take nodes of p5-[1-2]"),
    Row("burst-partition-closed", "a pool's partition with a shorter time limit than the partition of its jobs", {BURST: {"wait_minutes": 10}, PARTITIONS: {"p5": {"max_time": "4:00:00"}}}, (*PARTITIONS, "p5", "max_time"), "never start there"),
    Row("burst-partition-closed", "a pool's partition with a shorter time limit than another partition's own", {BURST: {"wait_minutes": 10}, PARTITIONS: {"p5": {"max_time": "1-0"}, "gpu": {"max_time": "2-0"}}}, (*PARTITIONS, "p5", "max_time"), "same max_time"),
    Row("burst-partition-closed", "a pool's partition that starts no jobs", {BURST: {"wait_minutes": 10}, PARTITIONS: {"p5": {"settings": {"State": "DRAIN"}}}}, (*PARTITIONS, "p5", "settings", "State"), "State of p5 may reject jobs that"),
    Row("budget-unknown-pool", "a budget for a misspelt pool", {BUDGET: {"pools": {"p6": 9000}}}, (*BUDGET, "pools", "p6"), "known: p5"),
    Row("hard-budget-without-price", "a hard budget over capacity without a price", {**NO_PRICE, BUDGET: {"accounts": {"vision": {"monthly_usd": 9000, "hard": True}}}}, CAPACITY, "prices: {p5en.48xlarge", region="ap-south-1"),
    Row("budget-below-one-job", "a hard budget that one job does not fit into", {BUDGET: {"accounts": {"vision": {"monthly_usd": 20, "hard": True}}}}, (*BUDGET, "accounts", "vision", "monthly_usd"), "one node for one hour"),
    Row("budget-below-one-job", "a pool's budget below one job", {BUDGET: {"pools": {"p5": 30}}}, (*BUDGET, "pools", "p5"), "one node for one hour"),
    Row("block-shorter-than-jobs", "a block shorter than its partition's longest job", {CAPACITY: WEEK, (*POOL, "min_nodes"): 4}, (*CAPACITY, "ends"), "--time"),
]  # fmt: skip
