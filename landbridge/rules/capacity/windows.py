"""Rules about the windows of Capacity Blocks."""

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from landbridge.catalog import Price, price_of
from landbridge.catalog.aws.limits import limits
from landbridge.environment import CapacityBlock, Environment
from landbridge.findings import DataPath, Finding, Severity, error, info, warning
from landbridge.plan.slurm.partitions import seconds
from landbridge.rules.capacity.blocks import blocks, length
from landbridge.rules.environment_paths import CapacityAt, PoolAt, pools, usd
from landbridge.rules.registry import dated_rule, rule

_DAY = timedelta(days=1)


@rule
def block_window(environment: Environment) -> Iterator[Finding]:
    """A window's times have a time zone, and it ends after it starts.

    Source: EC2 DescribeCapacityBlocks, StartDate and EndDate (UTC).
    """
    for at, block in blocks(environment):
        naive = [key for key in ("starts", "ends") if (time := getattr(block, key)) and time.utcoffset() is None]
        for key in naive:
            fix = "append Z or an offset such as +02:00"
            yield error(at.at(key), f"{key} has no time zone", fix=fix)
        if not naive and block.starts and block.ends and block.ends <= block.starts:
            message = f"the window ends at {_utc(block.ends)}, before it starts"
            yield error(at.at("ends"), message, fix="write the later time", related=(at.at("starts"),))


@rule
def block_without_window(environment: Environment) -> Iterator[Finding]:
    """A Capacity Block has its end: nodes are drained before it, because AWS terminates them from 30 minutes before.

    Source: EC2 User Guide, "Work with Capacity Blocks": AWS terminates instances from 30 minutes before the end.
    """
    for at, block in blocks(environment):
        if block.ends is None:
            message = f"{block.reservation} has no ends, so its nodes are not drained before AWS terminates them"
            fix = "add starts and ends; `aws ec2 describe-capacity-reservations` shows them"
            yield info(at.path, message, fix=fix)


@rule
def block_length(environment: Environment) -> Iterator[Finding]:
    """A window has a length that Capacity Blocks have: whole days up to 14, then whole weeks up to 182 days.

    All blocks end at 11:30 UTC, so one that starts at another hour is some hours shorter or longer. A warning, because
    a block can have been extended; a window longer than 182 days is an error.
    Source: EC2 User Guide, "Find and purchase Capacity Blocks" (landbridge/catalog/limits.yaml).
    """
    block_limits = limits().capacity_blocks
    for at, block in blocks(environment):
        window = length(block)
        if window is None:
            continue
        # A start at any hour makes the first day longer or shorter by less than half a day.
        days = max(1, round(window / _DAY))
        related = (at.at("starts"),)
        if days > block_limits.long_days:
            message = f"the window is {days} days long; Capacity Blocks have at most {block_limits.long_days}"
            yield error(at.at("ends"), message, fix="correct starts and ends", related=related)
        elif days > block_limits.days and days % block_limits.long_step_days:
            message = f"the window is {days} days long; over {block_limits.days} days Capacity Blocks have whole weeks"
            fix = "correct starts and ends, unless the block was extended"
            yield warning(at.at("ends"), message, fix=fix, related=related)


@rule
def block_end_time(environment: Environment) -> Iterator[Finding]:
    """A window ends at 11:30 UTC, as every Capacity Block does.

    With a later end, Slurm starts jobs that AWS then terminates; the usual reason is a local time written as UTC.
    Source: EC2 User Guide, "Find and purchase Capacity Blocks".
    """
    end = limits().capacity_blocks.ends_at
    for at, block in blocks(environment):
        if block.ends is None or block.ends.utcoffset() is None:
            continue
        end_time = block.ends.astimezone(UTC).time()
        if end_time != end:
            message = f"the window ends at {end_time:%H:%M} UTC; Capacity Blocks end at {end:%H:%M} UTC"
            yield warning(at.at("ends"), message, fix=f"write an end at {end:%H:%M}Z")


@dated_rule
def block_expired(environment: Environment, today: date) -> Iterator[Finding]:
    """A window has not ended: EC2 refuses launches into an expired block, and its pool has no nodes.

    Source: EC2 User Guide, "Work with Capacity Blocks".
    """
    for at, block in blocks(environment):
        if block.ends is not None and block.ends.date() < today:
            message = f"the Capacity Block {block.reservation} ended on {block.ends:%Y-%m-%d}"
            has_other_capacity = len(at.pool.capacity) > 1
            fix = "remove it" if has_other_capacity else "write a current block, or another kind of capacity"
            severity = Severity.WARNING if has_other_capacity else Severity.ERROR
            yield Finding("block-expired", message, at.at("ends"), fix, severity)


@dated_rule
def block_far_ahead(environment: Environment, today: date) -> Iterator[Finding]:
    """A window starts within eight weeks, as Capacity Blocks do: a later start is usually a wrong year.

    Source: EC2 User Guide, "Capacity Blocks for ML": at most eight weeks ahead.
    """
    weeks = limits().capacity_blocks.weeks_ahead
    for at, block in blocks(environment):
        if block.starts is not None and block.starts.date() > today + timedelta(weeks=weeks, days=1):
            message = f"the window starts on {block.starts:%Y-%m-%d}; Capacity Blocks start at most {weeks} weeks ahead"
            yield warning(at.at("starts"), message, fix="check the year")


@rule
def block_in_maintenance(environment: Environment) -> Iterator[Finding]:
    """No maintenance window overlaps a Capacity Block.

    Source: aws-parallelcluster validates no such dates; EC2 User Guide, "Capacity Blocks pricing and billing".
    """
    outages = [
        (index, outage)
        for index, outage in enumerate(environment.maintenance)
        if "aws" in outage.sites and outage.starts.utcoffset() is not None and outage.ends.utcoffset() is not None
    ]
    for at, block in blocks(environment):
        if length(block) is None or block.starts is None or block.ends is None:
            continue
        for index, outage in outages:
            overlap = min(block.ends, outage.ends) - max(block.starts, outage.starts)
            if overlap <= timedelta(0):
                continue
            cost = _cost(environment, at, block, overlap)
            hours = math.ceil(overlap / timedelta(hours=1))
            message = f"{hours} hours of the Capacity Block {block.reservation} are lost to the maintenance of {outage.starts:%Y-%m-%d}{cost}"
            path: DataPath = ("maintenance", index)
            fix = "move the maintenance, or write sites: [onprem] if AWS is not affected"
            yield warning(path, message, fix=fix, related=(at.path,))


@rule
def jobs_longer_than_block(environment: Environment) -> Iterator[Finding]:
    """The max_time of a partition is shorter than its Capacity Block: longer jobs never start.

    Slurm does not start a job that would overlap a reservation or the end of its nodes; the job stays pending.
    Source: slurm.conf(5), MaxTime; ParallelCluster's documentation of Capacity Blocks.
    """
    lengths: dict[str, tuple[PoolAt, timedelta]] = {}
    for owner in pools(environment):
        if all(isinstance(capacity, CapacityBlock) for capacity in owner.pool.capacity):
            block_lengths = [
                length(capacity) for capacity in owner.pool.capacity if isinstance(capacity, CapacityBlock)
            ]
            if block_lengths and None not in block_lengths:
                longest = max(span for span in block_lengths if span is not None)
                lengths[owner.pool.name] = (owner, longest)
    for name, partition in environment.scheduler.partitions.items():
        tokens = partition.nodes or (name,)
        block_pools = [lengths[word] for word in tokens if word in lengths]
        if not block_pools or len(block_pools) < len(tokens):
            continue
        owner, longest = max(block_pools, key=lambda pair: pair[1])
        is_ultraserver = owner.type is not None and owner.type.ultraserver is not None
        block_limits = limits().capacity_blocks
        reclaim = timedelta(
            minutes=block_limits.reclaim_minutes_ultraserver if is_ultraserver else block_limits.reclaim_minutes
        )
        limit, window = seconds(partition.max_time), (longest - reclaim).total_seconds()
        if limit > window:
            hours = int(window // 3600)
            message = f"max_time is {partition.max_time}, and the Capacity Block leaves {hours} hours"
            written = "max_time" in partition.model_fields_set
            path: DataPath = ("scheduler", "partitions", name, *(["max_time"] if written else []))
            fix = f'write max_time: "{hours}:00:00"'
            yield warning(path, message, fix=fix, related=(owner.at("capacity"),))


def _cost(environment: Environment, at: CapacityAt, block: CapacityBlock, overlap: timedelta) -> str:
    price = price_of("capacity_block", at.instance, environment.region)
    if not isinstance(price, Price):
        return ""
    amount = price.usd * (block.count or at.pool.max_nodes) * (overlap / timedelta(hours=1))
    return f", {usd(amount)} as of {price.as_of}"


def _utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
