"""Shared file systems in AWS: resolved settings, zones, and the limits of FSx and EFS."""

from landbridge.plan.storage.existing import existing_zones, pools_apart
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
    "existing_zones",
    "pools_apart",
    "pools_elsewhere",
    "ports",
    "resolve",
    "storage_violations",
    "throughput",
    "zone",
    "zones",
    "zones_needed",
]
