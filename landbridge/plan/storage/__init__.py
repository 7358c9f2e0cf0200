"""Shared file systems in AWS: what is made of what the file says, where they are, and what AWS would refuse."""

from landbridge.plan.storage.resolved import (
    Resolved,
    Share,
    addresses,
    capacity,
    cloud_mounts,
    pools_elsewhere,
    ports,
    resolve,
    throughput,
    zone,
    zones,
    zones_needed,
)
from landbridge.plan.storage.violations import StorageViolation, storage_violations

__all__ = [
    "Resolved",
    "Share",
    "StorageViolation",
    "addresses",
    "capacity",
    "cloud_mounts",
    "pools_elsewhere",
    "ports",
    "resolve",
    "storage_violations",
    "throughput",
    "zone",
    "zones",
    "zones_needed",
]
