"""Mistakes with Slurm's queues and node names."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

POOL: DataPath = ("aws", "pools", 0)
NODES: DataPath = ("onprem", "nodes")
NODE = {"hosts": "smc[01-02]", "platform": "dgx-a100", "address": "10.20.1.31"}

ROWS = [
    Row("no-nodes", "no nodes at all", {("onprem", "nodes"): [], ("aws", "pools"): []}, ("onprem", "nodes"), "neither"),
    Row("node-name-clash", "a cloud node named like an on-prem host", {(*POOL, "name"): "n", (*NODES, 1): {**NODE, "hosts": "n-[1-2]"}}, (*POOL, "name"), "n-1"),
    Row("unknown-node", "a queue of nodes that are not there", {("scheduler", "partitions"): {"x": {"nodes": ["dgx[02-03]"]}}}, ("scheduler", "partitions", "x", "nodes", 0), "dgx03"),
    Row("unknown-node", "a queue without nodes", {("scheduler", "partitions"): {"x": {}}}, ("scheduler", "partitions", "x"), "no nodes"),
    Row("two-defaults", "two default queues", {("scheduler", "partitions"): {"gpu": {"default": True}, "p5": {"default": True}}}, ("scheduler", "partitions", "p5", "default"), "gpu"),
    Row("protected-setting", "overriding what follows from the file", {("scheduler", "overrides"): {"slurm_conf": {"clusterName": "x"}}}, ("scheduler", "overrides", "slurm_conf", "clusterName"), "the environment's name"),
]  # fmt: skip
