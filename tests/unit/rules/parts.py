"""Paths and values that rows about pools and storage share."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.core.samples import GOOD

POOL: DataPath = ("aws", "pools", 0)
SECOND: DataPath = ("aws", "pools", 1)
CAPACITY: DataPath = ("aws", "pools", 0, "capacity", 0)
FALLBACK: DataPath = ("aws", "pools", 0, "capacity", 1)
SCRATCH: DataPath = ("storage", "cloud_scratch")
SHARES: DataPath = ("storage", "cloud_shares")

ON_DEMAND = {"kind": "on_demand"}
SPOT = {"kind": "spot"}
BLOCK = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4"}
OTHER_BLOCK = {**BLOCK, "reservation": "cr-0123456789abcdef1"}
RESERVED = {"kind": "reservation", "reservation": "cr-0123456789abcdef2", "zone": "use1-az4"}
GROUP = {
    "kind": "reservation_group",
    "group": "arn:aws:resource-groups:us-east-1:123456789012:group/ml",
    "zones": ["use1-az4"],
}


def pool(**keys: Any) -> dict[str, Any]:
    """Return the good environment's pool with another name and changed keys."""
    return {**GOOD["aws"]["pools"][0], "name": "other", **keys}
