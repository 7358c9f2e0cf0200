"""Mistakes with pools and how their capacity is bought."""

from landbridge.findings import DataPath
from tests.unit.core.samples import GOOD
from tests.unit.rules.row import Row

POOL: DataPath = ("aws", "pools", 0)
CAPACITY: DataPath = ("aws", "pools", 0, "capacity", 0)
BLOCK = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4"}
LEASED = {"kind": "direct_connect", "connection": "dxcon-abcd1234", "vlan": 100, "gateway_address": "10.99.0.1"}

ROWS = [
    Row("duplicate-pool", "two pools with one name", {("aws", "pools", 1): {**GOOD["aws"]["pools"][0]}}, ("aws", "pools", 1, "name"), "p5"),
    Row("duplicate-pool", "a pool named like Slurm's own queue", {(*POOL, "name"): "gpu"}, (*POOL, "name"), "Landbridge"),
    Row("purchase-not-offered", "no Capacity Blocks of this type", {(*POOL, "instance"): "g5.48xlarge", CAPACITY: BLOCK}, (*CAPACITY, "kind"), "spot"),
    Row("block-order", "on-demand before a paid block", {(*POOL, "capacity", 1): BLOCK}, (*POOL, "capacity", 1), "paid for"),
    Row("block-window", "a window that ends before it starts", {CAPACITY: {**BLOCK, "starts": "2026-12-02T00:00:00Z", "ends": "2026-12-01T00:00:00Z"}}, (*CAPACITY, "ends"), "before"),
    Row("block-window", "a window without a time zone", {CAPACITY: {**BLOCK, "starts": "2026-12-02T00:00:00", "ends": "2026-12-03T00:00:00"}}, (*CAPACITY, "ends"), "time zone"),
    Row("spot-alone", "spot capacity alone", {CAPACITY: {"kind": "spot"}}, (*POOL, "capacity"), "spot"),
    Row("lustre-size", "FSx for Lustre in a size there is not", {("storage", "cloud_scratch"): {"kind": "fsx_lustre", "capacity_gib": 3000}}, ("storage", "cloud_scratch", "capacity_gib"), "4800"),
    Row("not-built-yet", "something that is planned only", {("mlops", "registry"): {}}, ("mlops", "registry"), "registry"),
    Row("not-built-yet", "a link that is planned only", {("link",): LEASED}, ("link", "kind"), "Direct Connect"),
]  # fmt: skip
