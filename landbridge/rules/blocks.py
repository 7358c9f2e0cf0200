"""Rules about Capacity Blocks: their windows and what they may be combined with."""

from collections.abc import Iterator

from landbridge.environment import CapacityBlock, Environment
from landbridge.findings import Finding
from landbridge.rules.registry import rule
from landbridge.rules.walk import capacities


@rule
def block_window(environment: Environment) -> Iterator[Finding]:
    """A window's times name their time zone, and it ends after it starts.

    Source: EC2 DescribeCapacityBlocks: StartDate and EndDate are UTC.
    """
    for at in capacities(environment):
        block = at.capacity
        if not isinstance(block, CapacityBlock):
            continue
        naive = [key for key in ("starts", "ends") if (time := getattr(block, key)) and time.utcoffset() is None]
        for key in naive:
            fix = "end it with Z, or +02:00"
            yield Finding("block-window", "a window's times need their time zone", at.at(key), fix)
        if not naive and block.starts and block.ends and block.ends <= block.starts:
            message = f"the window ends at {block.ends.isoformat()}, before it starts"
            yield Finding("block-window", message, at.at("ends"), "write the later time", related=(at.at("starts"),))
