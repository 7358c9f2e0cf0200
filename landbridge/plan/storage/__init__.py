"""Shared file systems in AWS: what is made of what the file says, where they are, and what AWS would refuse."""

from landbridge.plan.storage.chosen import (
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
from landbridge.plan.storage.refused import StorageFault, faults

__all__ = [
    "Resolved",
    "Share",
    "StorageFault",
    "addresses",
    "capacity",
    "cloud_mounts",
    "faults",
    "pools_elsewhere",
    "ports",
    "resolve",
    "throughput",
    "zone",
    "zones",
    "zones_needed",
]
