"""UltraServers of pools: whether NVLink connects all nodes of a pool."""

from landbridge.catalog import limits
from landbridge.environment import CapacityBlock, Environment, PoolSettings


def block_sizes(block: CapacityBlock, instance: str) -> tuple[int, ...]:
    """Return the instances that one UltraServer of a block may have, in ascending order; empty: no UltraServer type."""
    servers = limits().ultraservers
    return tuple(
        sorted(
            server.instances
            for name, server in servers.items()
            if server.instance == instance and block.ultraserver in (None, name)
        )
    )


def is_one_nvlink_domain(environment: Environment, pool: PoolSettings) -> bool:
    """Return true if every node of the pool is certainly in the same UltraServer: the pool has one Capacity Block, and
    the block is one UltraServer.

    The instances of two UltraServers in one block cannot be told apart before they run: a launch into a block names no
    UltraServer.
    Source: EC2 User Guide, "Capacity Blocks for ML" (UltraServers) and "Amazon EC2 topology" (2026-11-25).
    """
    if len(pool.capacity) != 1 or any(pool.name in region.pools for region in environment.aws.other_regions.values()):
        return False
    (block,) = pool.capacity
    if not isinstance(block, CapacityBlock) or block.count is None or pool.max_nodes > block.count:
        return False
    sizes = block_sizes(block, block.instance or pool.instance)
    return bool(sizes) and block.count == sizes[0]
