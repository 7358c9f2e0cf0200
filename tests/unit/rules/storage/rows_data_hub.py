"""Mistakes with the data hub's buckets."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

CLASSES: DataPath = ("storage", "data_hub", "classes")
SITES: DataPath = ("data_classes", "internal", "sites")


def hub_class(name: str = "internal", **keys: Any) -> dict[DataPath, Any]:
    return {CLASSES: {name: keys}}


LOCK = {"days": 30, "mode": "compliance"}

ROWS = [
    Row("hub-class", "an unknown class in the hub", hub_class("internl"), (*CLASSES, "internl"), "internal"),
    Row("hub-class", "a class that must stay on-prem", hub_class("restricted", expire_days=3), (*CLASSES, "restricted"), "no bucket"),
    Row("hub-replica", "a replica in the bucket's region", hub_class(replica_region="us-east-1"), (*CLASSES, "internal", "replica_region"), "us-east-1 is the region of the bucket"),
    Row("hub-replica", "a replica in an unknown region", hub_class(replica_region="us-east-9"), (*CLASSES, "internal", "replica_region"), "unknown region"),
    Row("hub-replica", "a replica in China", hub_class(replica_region="cn-north-1"), (*CLASSES, "internal", "replica_region"), "partition"),
    Row("hub-replica", "a replica where the law forbids it", {("data_classes", "internal", "regime"): "gdpr", **hub_class(replica_region="us-west-2")}, (*CLASSES, "internal", "replica_region"), "may not be in us-west-2"),
    Row("hub-lock", "a compliance lock in an environment without protection", {("aws", "protect"): False, **hub_class(object_lock=LOCK)}, (*CLASSES, "internal", "object_lock", "mode"), "governance"),
    Row("hub-expiry", "an expiry before the lock's end", hub_class(object_lock={"days": 30}, expire_days=7), (*CLASSES, "internal", "expire_days"), "30"),
]  # fmt: skip
