"""Mistakes with the network ports of on-prem machines."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

GROUP: DataPath = ("onprem", "nodes", 0)
HARDWARE: DataPath = (*GROUP, "hardware")
FABRIC = {"use": "fabric", "kind": "infiniband", "gbps": 400, "count": 8}

ROWS = [
    Row("unknown-wiring", "misspelt wiring", {HARDWARE: {"wiring": "base-pod"}}, (*HARDWARE, "wiring"), '"basepod"'),
    Row("unknown-wiring", "a wiring of another platform", {(*GROUP, "platform"): "pcie-h100", HARDWARE: {"wiring": "basepod"}}, (*HARDWARE, "wiring"), "write adapters instead"),
    Row("unknown-wiring", "a wiring and adapters", {HARDWARE: {"wiring": "basepod", "adapters": [FABRIC]}}, (*HARDWARE, "wiring"), "stated twice"),
    Row("adapter-ports", "adapters without a number", {HARDWARE: {"adapters": [{"use": "fabric", "kind": "infiniband", "gbps": 400}]}}, (*HARDWARE, "adapters", 0), "neither count nor devices"),
    Row("adapter-ports", "another number than devices", {HARDWARE: {"adapters": [{**FABRIC, "devices": ["mlx5_0", "mlx5_1"]}]}}, (*HARDWARE, "adapters", 0, "count"), "count is 8, and there are 2 devices"),
    Row("adapter-ports", "a bond of InfiniBand ports", {HARDWARE: {"adapters": [{**FABRIC, "bond": "bond0"}]}}, (*HARDWARE, "adapters", 0, "bond"), "carry no RDMA"),
    Row("adapter-ports", "a device in two adapters", {HARDWARE: {"adapters": [{"use": use, "kind": "infiniband", "gbps": 400, "devices": ["mlx5_0"]} for use in ("fabric", "storage")]}}, (*HARDWARE, "adapters", 1, "devices", 0), "mlx5_0 is written twice"),
    Row("fabric-not-stated", "HGX servers without adapters", {(*GROUP, "platform"): "hgx-h100"}, (*GROUP, "platform"), "hardware: {adapters:"),
    Row("fabric-not-stated", "a fabric of either kind", {(*GROUP, "platform"): "dgx-b300"}, (*GROUP, "platform"), "superpod, spectrum-x"),
]  # fmt: skip
