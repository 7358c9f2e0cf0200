"""Cost of owned nodes over a period: the share of each job, and the idle rest, of every second of every node."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from landbridge.economics.job_costs.lines import Amounts, LineAmounts, LineKey, Use, use_of
from landbridge.economics.job_costs.nodes import NodeRate, RatedNodes
from landbridge.timestamps import day_end, day_of
from landbridge.trace.allocations import Allocation, NodeEvent


@dataclass(frozen=True, slots=True)
class AllocatedShare:
    """Units that an allocation has on one node."""

    allocation: Allocation
    units: Fraction


def shares_by_node(
    allocations: Iterable[Allocation], groups: Iterable[RatedNodes]
) -> tuple[dict[str, list[AllocatedShare]], dict[str, list[Allocation]]]:
    """Return the shares of the allocations by node, and the allocations on nodes that are in no group.

    Accounting has the sum of a job's GPUs, not those of each node: they are divided by the nodes' units, which Slurm does
    on equal nodes unless the job asked for a number of GPUs without a number by node. A job without GPUs has all of them if
    it has all CPUs of its nodes: nobody else could use them.
    """
    group_of = {name: group for group in groups for name in group.names}
    by_node: dict[str, list[AllocatedShare]] = defaultdict(list)
    unknown: dict[str, list[Allocation]] = defaultdict(list)
    for allocation in allocations:
        known = [name for name in allocation.nodes if name in group_of]
        for name in set(allocation.nodes) - set(known):
            unknown[name].append(allocation)
        units = {name: group_of[name].units for name in known}
        # A node that is not known any more has as many GPUs as the others.
        whole = Fraction(sum(units.values()) * len(allocation.nodes), len(known) or 1)
        cpus = sum(group_of[name].cpus for name in known)
        is_whole = not allocation.gpus and len(known) == len(allocation.nodes) and 0 < cpus <= allocation.cpus
        for name in known:
            has = whole if is_whole else group_of[name].units_of(allocation.gpus, allocation.cpus)
            by_node[name].append(AllocatedShare(allocation, Fraction(has * units[name]) / whole))
    return dict(by_node), dict(unknown)


def owned_amounts(
    groups: Iterable[RatedNodes],
    shares: Mapping[str, Sequence[AllocatedShare]],
    events: Iterable[NodeEvent],
    start: int,
    end: int,
) -> tuple[LineAmounts, Fraction]:
    """Return the amounts of the owned nodes with a price from `start` to `end`, and their bill.

    A job pays its share of the rate with load, and the idle rest of a node costs the rate without jobs. The bill is all
    hours of all nodes without jobs, and the electricity that jobs add.
    """
    down: dict[str, list[NodeEvent]] = defaultdict(list)
    for event in events:
        down[event.node].append(event)
    amounts: LineAmounts = defaultdict(Amounts)
    bill = Fraction(0)
    for group in groups:
        if group.rate is None:
            continue
        bill += len(group.names) * Fraction(end - start, 3600) * group.rate.idle
        for node in group.names:
            on_node = [share for share in shares.get(node, ()) if share.allocation.seconds(start, end)]
            bill += _node(group, group.rate, on_node, down[node], start, end, amounts)
    return dict(amounts), bill


def _node(
    group: RatedNodes,
    rate: NodeRate,
    shares: Sequence[AllocatedShare],
    down: Sequence[NodeEvent],
    start: int,
    end: int,
    amounts: LineAmounts,
) -> Fraction:
    """Add the amounts of one node; return the electricity that its jobs add."""
    added = Fraction(0)
    waiting = sorted(shares, key=lambda share: share.allocation.start, reverse=True)
    running: list[AllocatedShare] = []
    for first, last in _segments(shares, down, start, end):
        while waiting and waiting[-1].allocation.start <= first:
            running.append(waiting.pop())
        running = [share for share in running if share.allocation.seconds(first, last)]
        hours = Fraction(last - first, 3600)
        units = max(Fraction(group.units), sum((share.units for share in running), Fraction(0)))
        day, rest = day_of(first), Fraction(1)
        for share in running:
            part = share.units / units
            rest -= part
            added += part * hours * (rate.load - rate.idle)
            key = job_key(share.allocation, day, group)
            amounts[key].add(*_part(group, part, hours, rate.load, group.load_kw))
        if rest:
            is_down = not running and any(_covers(event, first, last) for event in down)
            key = LineKey(day, group.site, group.resource, group.instrument, Use.NODE_DOWN if is_down else Use.IDLE)
            amounts[key].add(*_part(group, rest, hours, rate.idle, group.idle_kw))
    return added


def job_key(allocation: Allocation, day: str, group: RatedNodes, account: str | None = None) -> LineKey:
    """Return the key of a job's line; `account`: the account that pays, if it is not the allocation's account."""
    return LineKey(
        day,
        group.site,
        group.resource,
        group.instrument,
        use_of(allocation.state),
        allocation.job,
        allocation.name,
        allocation.user,
        allocation.account if account is None else account,
    )


def _part(
    group: RatedNodes, part: Fraction, hours: Fraction, usd_hour: Fraction, kilowatts: Fraction | None
) -> tuple[Fraction, Fraction, Fraction, Fraction | None]:
    """Return dollars, GPU-seconds, node-seconds and kWh of a part of a node."""
    gpu_seconds = part * hours * 3600 * group.units if group.has_gpus else Fraction(0)
    energy = None if kilowatts is None else part * hours * kilowatts
    return part * hours * usd_hour, gpu_seconds, part * hours * 3600, energy


def _segments(
    shares: Sequence[AllocatedShare], down: Sequence[NodeEvent], start: int, end: int
) -> Iterator[tuple[int, int]]:
    """Yield the parts of the period between all starts, ends and midnights."""
    times = {start, end}
    for begun, ended in (
        *((share.allocation.start, share.allocation.end) for share in shares),
        *((event.start, event.end) for event in down),
    ):
        times |= {begun, end if ended is None else ended}
    midnight = int(day_end(start))
    times |= set(range(midnight, end, 86_400))
    inside = sorted(time for time in times if start <= time <= end)
    yield from pairwise(inside)


def _covers(event: NodeEvent, first: int, last: int) -> bool:
    return event.start <= first and (event.end is None or event.end >= last)
