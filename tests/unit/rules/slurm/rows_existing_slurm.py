"""Mistakes with a Slurm that runs already."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

EXISTING: DataPath = ("onprem", "existing_slurm")
#: The valid environment with a Slurm that runs already.
RUNNING: dict[DataPath, Any] = {
    EXISTING: {"cluster": "old"},
    ("onprem", "nodes"): [],
    ("storage", "home"): {"kind": "external_nfs", "host": "filer.example.org", "export": "/home"},
}
BLOCK = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4", "starts": "2026-12-01T11:30:00Z", "ends": "2026-12-08T11:30:00Z"}  # fmt: skip

ROWS = [
    Row("existing-slurm-nodes", "nodes of a Slurm that runs already", {EXISTING: {"cluster": "old"}}, ("onprem", "nodes"), "onprem.addresses"),
    Row("existing-slurm-nodes", "an NFS server beside a Slurm that runs already", {**RUNNING, ("storage", "home"): {"kind": "nfs"}}, ("storage", "home"), "external_nfs"),
    Row("existing-slurm-inert", "QOS of a Slurm that runs already", {**RUNNING, ("scheduler", "qos"): {"urgent": {}}}, ("scheduler", "qos"), "no effect"),
    Row("existing-slurm-inert", "a wait before bursting, in a Slurm that runs already", {**RUNNING, ("burst",): {"wait_minutes": 5}}, ("burst", "wait_minutes"), "no effect"),
    Row("existing-slurm-blocks", "a Capacity Block in a Slurm that runs already", {**RUNNING, ("aws", "pools", 0, "capacity"): [BLOCK]}, ("aws", "pools", 0, "capacity"), "scontrol"),
]  # fmt: skip
