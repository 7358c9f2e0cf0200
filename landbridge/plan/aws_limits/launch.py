"""Limits of launch settings, except disks (volumes.py) and interfaces
(landbridge/plan/instances/network_interfaces.py).
"""

from collections.abc import Iterator

from landbridge.plan.aws_limits.violation import LimitViolation


def capacity_block_violations(group: str | None, placement: str | None) -> Iterator[LimitViolation]:
    """Yield settings that a launch into a Capacity Block cannot have. Keys: `group` and `placement`.

    Source: EC2 User Guide, "Capacity Blocks for ML", considerations; ParallelCluster PlacementGroupCapacityTypeValidator.
    """
    if group is not None:
        yield LimitViolation("group", f"a Capacity Block is launched into no placement group, and not into {group}")
    if placement not in (None, "none"):
        yield LimitViolation(
            "placement", f"a Capacity Block is launched into no placement group, so {placement} is impossible"
        )


def imds_hop_limit_violations(hops: float, maximum: int) -> Iterator[LimitViolation]:
    """Yield a violation if the IMDS hop limit is too high: the node itself is one hop, a container on it two.

    Source: EC2 User Guide, "Use the Instance Metadata Service", hop limit.
    """
    if hops > maximum:
        yield LimitViolation("hops", f"with {hops:g} hops everything behind the node gets the node's credentials")
