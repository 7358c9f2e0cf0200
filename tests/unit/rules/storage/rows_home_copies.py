"""Mistakes with the copies of home directories."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

HOME: DataPath = ("storage", "home")
COPIES: DataPath = (*HOME, "copies")


def copies(**keys: Any) -> dict[DataPath, Any]:
    """Return the change for homes with these copies."""
    return {HOME: {"kind": "nfs", "copies": keys}}


ROWS = [
    Row("home-copies-place", "copies of homes without a place", copies(hours=4), COPIES, "need a place"),
    Row("home-copies-place", "copies of homes at two places", copies(data_class="internal", repository="/mnt/vault/homes"), COPIES, "two places"),
    Row("home-copies-residency", "copies of homes in an unknown class", copies(data_class="internl"), (*COPIES, "data_class"), "unknown data class"),
    Row("home-copies-residency", "copies in AWS of homes with data that stays on-prem", {**copies(data_class="internal"), ("scheduler", "accounts"): {"clinic": {"data_class": "restricted"}}}, (*COPIES, "data_class"), "homes may hold data of class restricted"),
]  # fmt: skip
