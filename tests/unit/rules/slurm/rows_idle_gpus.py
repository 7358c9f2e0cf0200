"""Mistakes with the policy for idle GPUs."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

IDLE: DataPath = ("scheduler", "idle_gpus")

ROWS = [
    Row("unknown-in-idle-gpus", "a misspelt account of the policy for idle GPUs", {IDLE: {"accounts": {"visoin": "nothing"}}}, (*IDLE, "accounts", "visoin"), "vision"),
    Row("unknown-in-idle-gpus", "an unknown workload class of the policy for idle GPUs", {IDLE: {"classes": {"training": "cancel"}}}, (*IDLE, "classes", "training"), "burst"),
    Row("unknown-in-idle-gpus", "an unknown partition of the policy for idle GPUs", {IDLE: {"partitions": {"debug": "cancel"}}}, (*IDLE, "partitions", "debug"), "onprem"),
]  # fmt: skip
