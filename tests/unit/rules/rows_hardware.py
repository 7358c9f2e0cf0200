"""Mistakes with on-prem machines and the packages that run on them."""

from landbridge.findings import DataPath
from tests.unit.rules.parts import POOL
from tests.unit.rules.row import Row

NODES: DataPath = ("onprem", "nodes")

ROWS = [
    Row("unknown-platform", "misspelt platform", {(*NODES, 0, "platform"): "dgx-h10"}, (*NODES, 0, "platform"), '"dgx-h100"'),
    Row("subnet-too-small", "more nodes than addresses", {("aws", "cidr"): "10.60.0.0/22", (*POOL, "max_nodes"): 200}, (*POOL, "max_nodes"), "123"),
    Row("subnet-too-small", "EFA interfaces that take an address each", {("aws", "cidr"): "10.60.0.0/22", (*POOL, "nics"): "legacy"}, (*POOL, "max_nodes"), "128"),
    Row("slurm-without-packages", "a Slurm version without packages", {("scheduler", "slurm"): {"version": "25.11"}}, ("scheduler", "slurm", "version"), "26.05"),
]  # fmt: skip
