"""Mistakes that the catalogue knows of."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

POOL: DataPath = ("aws", "pools", 0)
CAPACITY: DataPath = ("aws", "pools", 0, "capacity", 0)
NODES: DataPath = ("onprem", "nodes")
BLOCK = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4"}

ROWS = [
    Row("unknown-platform", "misspelt platform", {(*NODES, 0, "platform"): "dgx-h10"}, (*NODES, 0, "platform"), '"dgx-h100"'),
    Row("unknown-instance-type", "misspelt instance type", {(*POOL, "instance"): "p5.49xlarge"}, (*POOL, "instance"), "p5.49xlarge"),
    Row("unknown-zone", "a zone of another region", {(*CAPACITY, "zones"): ["use1-az4", "usw2-az1"]}, (*CAPACITY, "zones", 1), "us-east-1"),
    Row("unknown-zone", "a block in another region's zone", {CAPACITY: {**BLOCK, "zone": "usw2-az1"}}, (*CAPACITY, "zone"), "usw2-az1"),
    Row("type-not-in-zone", "the type is not in the zone", {(*POOL, "instance"): "p5en.48xlarge"}, (*CAPACITY, "zones", 0), "use1-az6"),
    Row("type-not-in-zone", "the type is not in the region", {(*POOL, "instance"): "p5e.48xlarge"}, (*POOL, "instance"), "us-east-2"),
    Row("subnet-too-small", "more nodes than addresses", {("aws", "cidr"): "10.60.0.0/22", (*POOL, "max_nodes"): 200}, (*POOL, "max_nodes"), "123"),
    Row("subnet-too-small", "EFA interfaces that take an address each", {("aws", "cidr"): "10.60.0.0/22", (*POOL, "nics"): "legacy"}, (*POOL, "max_nodes"), "128"),
    Row("slurm-without-packages", "a Slurm version without packages", {("scheduler", "slurm"): {"version": "25.11"}}, ("scheduler", "slurm", "version"), "26.05"),
]  # fmt: skip
