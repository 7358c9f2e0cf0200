"""Mistakes with the hub's buckets."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

CLASSES: DataPath = ("storage", "data_hub", "classes")
SITES: DataPath = ("data_classes", "internal", "sites")


def of(name: str = "internal", **keys: Any) -> dict[DataPath, Any]:
    return {CLASSES: {name: keys}}


LOCK = {"days": 30, "mode": "compliance"}

ROWS = [
    Row("hub-class", "a class that nobody has", of("internl"), (*CLASSES, "internl"), "internal"),
    Row("hub-class", "a class that must stay on-prem", of("restricted", expire_days=3), (*CLASSES, "restricted"), "no bucket"),
    Row("hub-replica", "a copy where the original is", of(replica_region="us-east-1"), (*CLASSES, "internal", "replica_region"), "us-east-1 is the region of the bucket"),
    Row("hub-replica", "a copy in no region", of(replica_region="us-east-9"), (*CLASSES, "internal", "replica_region"), "unknown region"),
    Row("hub-replica", "a copy in China", of(replica_region="cn-north-1"), (*CLASSES, "internal", "replica_region"), "partition"),
    Row("hub-replica", "a copy where the law does not let it be", {("data_classes", "internal", "regime"): "gdpr", **of(replica_region="us-west-2")}, (*CLASSES, "internal", "replica_region"), "may not be in us-west-2"),
    Row("hub-lock", "a lock for ever on what is thrown away", {("aws", "protect"): False, **of(object_lock=LOCK)}, (*CLASSES, "internal", "object_lock", "mode"), "governance"),
    Row("hub-expiry", "an end before the lock's", of(object_lock={"days": 30}, expire_days=7), (*CLASSES, "internal", "expire_days"), "30"),
]  # fmt: skip
