"""What a launch says besides its disks and interfaces (those: landbridge/plan/aws/nics.py)."""

from collections.abc import Iterator

from landbridge.plan.aws_limits.fault import Fault


def block_faults(group: str | None, placement: str | None) -> Iterator[Fault]:
    """What a launch into a Capacity Block cannot say. Keys: `group` and `placement`.

    Source: EC2 User Guide, "Capacity Blocks for ML", considerations; ParallelCluster PlacementGroupCapacityTypeValidator.
    """
    if group is not None:
        yield Fault("group", f"a Capacity Block is launched into no placement group, and not into {group}")
    if placement not in (None, "none"):
        yield Fault("placement", f"a Capacity Block is launched into no placement group, so {placement} is impossible")


def hop_faults(hops: float, most: int) -> Iterator[Fault]:
    """Whether the metadata service answers further than it should: the node is one hop, a container on it two.

    Source: EC2 User Guide, "Use the Instance Metadata Service", hop limit.
    """
    if hops > most:
        yield Fault("hops", f"with {hops:g} hops everything behind the node gets the node's credentials")
