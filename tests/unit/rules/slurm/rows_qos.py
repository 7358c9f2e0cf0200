"""Mistakes with qualities of service."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

QOS: DataPath = ("scheduler", "qos")
VISION: DataPath = ("scheduler", "accounts", "vision", "qos")
URGENT = {"urgent": {"priority": 1000, "preempts": ["normal"]}}

ROWS = [
    Row("unknown-qos", "a misspelt quality of service of an account", {QOS: URGENT, VISION: ["normal", "urgetn"]}, (*VISION, 1), '"urgent"'),
    Row("unknown-qos", "a quality of service that preempts an unknown one", {QOS: {"urgent": {"preempts": ["batch"]}}, VISION: ["urgent"]}, (*QOS, "urgent", "preempts", 0), "batch"),
    Row("qos-preempts-back", "two qualities of service that preempt each other", {QOS: {"a": {"preempts": ["b"]}, "b": {}, "c": {"preempts": ["b"]}} | {"b": {"preempts": ["a"]}}, VISION: ["a", "b", "c"]}, (*QOS, "a", "preempts", 0), "preempt those of a"),
    Row("qos-preempts-back", "a quality of service that preempts itself", {QOS: {"urgent": {"preempts": ["urgent"]}}, VISION: ["urgent"]}, (*QOS, "urgent", "preempts", 0), "urgent"),
    Row("qos-without-accounts", "a quality of service without accounts", {QOS: URGENT}, (*QOS, "urgent"), "no account"),
]  # fmt: skip
