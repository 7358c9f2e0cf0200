"""Mistakes with on-prem machines and the packages that run on them."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

NODES: DataPath = ("onprem", "nodes")

ROWS = [
    Row("unknown-platform", "misspelt platform", {(*NODES, 0, "platform"): "dgx-h10"}, (*NODES, 0, "platform"), '"dgx-h100"'),
    Row("slurm-without-packages", "a Slurm version without packages", {("scheduler", "slurm"): {"version": "25.11"}}, ("scheduler", "slurm", "version"), "26.05"),
]  # fmt: skip
