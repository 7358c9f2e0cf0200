"""Rules about Capacity Blocks: sizes, zones and fallbacks."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from landbridge.catalog import Price, price_of
from landbridge.catalog.aws.limits import limits
from landbridge.environment import CapacityBlock, Environment, OnDemand, Spot
from landbridge.findings import Finding, Severity, error, warning
from landbridge.rules.environment_paths import REGION, CapacityAt, capacities, pool_capacities, pools, usd
from landbridge.rules.registry import rule


def blocks(environment: Environment) -> Iterator[tuple[CapacityAt, CapacityBlock]]:
    """Yield every Capacity Block in the order of the file."""
    for at in capacities(environment):
        if isinstance(at.capacity, CapacityBlock):
            yield at, at.capacity


def length(block: CapacityBlock) -> timedelta | None:
    """Return the length of a block's window; None if it is unknown or invalid."""
    if block.starts is None or block.ends is None:
        return None
    if block.starts.utcoffset() is None or block.ends.utcoffset() is None or block.ends <= block.starts:
        return None
    return block.ends - block.starts


@rule
def block_count(environment: Environment) -> Iterator[Finding]:
    """A block has at most 64 instances, and all blocks of an account on one day 256.

    Source: EC2 User Guide, "Find and purchase Capacity Blocks" (landbridge/catalog/limits.yaml).
    """
    block_limits = limits().capacity_blocks
    blocks_by_reservation: dict[str, tuple[CapacityAt, CapacityBlock]] = {}
    for at, block in blocks(environment):
        if block.count is not None and block.count > block_limits.instances:
            message = f"a Capacity Block has at most {block_limits.instances} instances, not {block.count}"
            yield error(at.at("count"), message, fix="write each block with its own count")
        if block.count is not None:
            blocks_by_reservation.setdefault(block.reservation, (at, block))
    # The greatest sum is reached at the start of a window.
    edges: list[tuple[datetime, int, int]] = []
    always = 0
    for number, (_, block) in enumerate(blocks_by_reservation.values()):
        count = block.count or 0
        if length(block) is None or block.starts is None or block.ends is None:
            always += count
        else:
            edges += [(block.ends, -count, number), (block.starts, count, number)]
    instances, last = always, -1
    for _, change, number in sorted(edges):
        instances += change
        last = number if change > 0 else last
        if instances > block_limits.instances_all:
            break
    if instances > block_limits.instances_all:
        at = list(blocks_by_reservation.values())[last][0]
        message = (
            f"{instances} instances in Capacity Blocks at one time; an account has at most {block_limits.instances_all}"
        )
        yield error(
            at.at("count"),
            message,
            fix="correct the counts from aws ec2 describe-capacity-reservations",
            related=(("aws", "pools"),),
        )


@rule
def block_size(environment: Environment) -> Iterator[Finding]:
    """A pool in a Capacity Block runs all its nodes: min_nodes is the size of the block.

    The whole window is billed in advance, so a stopped node is billed too, and each start takes minutes of the window.
    Source: ParallelCluster ComputeResourceSizeValidator (MinCount == MaxCount > 0); EC2 User Guide, "Capacity Blocks
    pricing and billing".
    """
    for owner in pools(environment):
        pool_blocks = [at for at in pool_capacities(owner) if isinstance(at.capacity, CapacityBlock)]
        if not pool_blocks:
            continue
        pool = owner.pool
        counts = [at.capacity.count for at in pool_blocks if isinstance(at.capacity, CapacityBlock)]
        # Blocks that follow each other count as the largest of them; without counts the pool's max_nodes is used.
        size = max((count for count in counts if count is not None), default=pool.max_nodes)
        node_count = min(size, pool.max_nodes)
        related = (owner.at("max_nodes"), owner.at("capacity"))
        if 0 < pool.min_nodes < node_count:
            message = f"min_nodes is {pool.min_nodes}, and all {node_count} nodes of the block are paid for"
            yield error(owner.at("min_nodes"), message, fix=f"write min_nodes: {node_count}", related=related)
        elif pool.min_nodes == 0:
            message = f"min_nodes is 0, and all {node_count} nodes of the block are paid for whether they run or not"
            path = owner.at("min_nodes") if "min_nodes" in pool.model_fields_set else pool_blocks[0].path
            severity = Severity.ERROR if "min_nodes" in pool.model_fields_set else Severity.WARNING
            yield Finding("block-size", message, path, f"write min_nodes: {node_count}", severity, related)


@rule
def min_nodes_after_block(environment: Environment) -> Iterator[Finding]:
    """A pool with min_nodes and a Capacity Block has no on-demand or spot fallback.

    When the window ends, all nodes of min_nodes are launched in the fallback and run there all the time.
    Source: EC2 on-demand prices, as dated in landbridge/catalog/prices.yaml.
    """
    for owner in pools(environment):
        bought = list(pool_capacities(owner))
        block = next((at for at in bought if isinstance(at.capacity, CapacityBlock)), None)
        fallback = next((at for at in bought if isinstance(at.capacity, (OnDemand, Spot))), None)
        if block is None or fallback is None or owner.pool.min_nodes == 0:
            continue
        price = price_of("on_demand", fallback.instance, environment.region)
        cost = (
            f", {usd(price.usd * owner.pool.min_nodes)} an hour as of {price.as_of}" if isinstance(price, Price) else ""
        )
        kind = fallback.capacity.kind
        message = f"after the block ends, the {owner.pool.min_nodes} nodes of min_nodes run as {kind}{cost}"
        fix = "move the fallback to a separate pool with min_nodes: 0"
        related = (fallback.path, block.path)
        yield warning(owner.at("min_nodes"), message, fix=fix, related=related)


@rule
def blocks_in_different_zones(environment: Environment) -> Iterator[Finding]:
    """The blocks of one pool are in one zone: nodes of two zones have no EFA between them, and storage is in one.

    Source: EC2 User Guide, "Elastic Fabric Adapter", limitations; "Capacity Blocks for ML": one zone each.
    """
    for owner in pools(environment):
        blocks = [(at, at.capacity) for at in pool_capacities(owner) if isinstance(at.capacity, CapacityBlock)]
        for at, block in blocks[1:]:
            first, other = blocks[0]
            if block.zone != other.zone and not never_overlap(other, block):
                message = f"the block is in {block.zone}, and {other.reservation} of the same pool is in {other.zone}"
                fix = "write one pool for each block"
                yield warning(at.at("zone"), message, fix=fix, related=(first.at("zone"),))


@rule
def no_blocks_in_region(environment: Environment) -> Iterator[Finding]:
    """The region offers Capacity Blocks of the type.

    A warning, because the list grows; types whose regions are not recorded are not checked.
    Source: EC2 User Guide, "Capacity Blocks for ML", supported Regions (landbridge/catalog/limits.yaml).
    """
    block_regions = limits().capacity_blocks.regions
    for at, _ in blocks(environment):
        regions = block_regions.get(at.instance)
        if regions is not None and environment.region not in regions:
            message = f"the catalogue has no Capacity Blocks of {at.instance} in {environment.region}"
            fix = f"use one of {', '.join(sorted(regions))}"
            related = (REGION, at.instance_path)
            yield warning(at.at("kind"), message, fix=fix, related=related)


def never_overlap(first: CapacityBlock, other: CapacityBlock) -> bool:
    """Return true for two windows that are known not to overlap."""
    if first.starts is None or first.ends is None or other.starts is None or other.ends is None:
        return False
    if length(first) is None or length(other) is None:
        return False
    return first.ends <= other.starts or other.ends <= first.starts
