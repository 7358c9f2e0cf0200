"""Mistakes with changes of the health checks."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

HEALTH: DataPath = ("onprem", "nodes", 0, "health")


def _row(title: str, change: dict[str, Any], path: DataPath, text: str, rule: str = "health-change") -> Row:
    return Row(rule, title, {HEALTH: [{"reason": "ticket 42", **change}]}, (*HEALTH, 0, *path), text)


ROWS = [
    _row("misspelt health check", {"check": "thermals", "skip": "all"}, ("check",), '"thermal"'),
    _row("a change of a health check without an effect", {"check": "thermal"}, (), "write skip, add or limit"),
    _row("two effects of one change", {"check": "service", "skip": "all", "add": ["nfs.service"]}, ("add",), "write a change for each"),
    _row("a limit of a check that has none", {"check": "thermal", "limit": 90}, ("limit",), "checks with a limit: memory, pcie"),
    _row("more NVLinks than a GPU has", {"check": "nvlink", "limit": 36}, ("limit",), "write 1 to 18 (NVLinks of a GPU)"),
    _row("part of a check without parts", {"check": "port", "skip": ["mlx5_0"]}, ("skip",), "write skip: all"),
    _row("an Xid that is not a number", {"check": "xid", "add": ["fallen"]}, ("add", 0), "write Xid numbers"),
    _row("no check that the checks run", {"check": "stale", "skip": "all"}, ("skip",), "cannot be changed"),
    Row("missing-key", "a skipped health check without a reason", {HEALTH: [{"check": "thermal", "skip": "all"}]}, (*HEALTH, 0, "reason"), "no default"),
    Row("failure-budget-of-all-nodes", "a failure budget of all nodes", {("onprem", "max_drained_percent"): 100}, ("onprem", "max_drained_percent"), "write 90 or less"),
]  # fmt: skip
