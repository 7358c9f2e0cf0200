"""Cheapest cover of nested levels by intervals of time: a flow of least cost along the time axis.

One unit of flow is one level. It goes from slot 0 to the last one, in each slot either through an interval that covers
it (an owned node, a commitment or a Capacity Block) or through the slot's arc of use, whose costs are those of the
levels, the cheapest first. Both are convex, so successive shortest paths with residual arcs give the optimum
(Ahuja, Magnanti, Orlin: Network Flows, 1993, sections 9.7 and 14.4). Costs are whole numbers: the result has no
rounding error.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Interval:
    """Interval of slots that a unit can be bought for: from `start` up to, not including, `end`; `limit` units at most,
    None: any number."""

    start: int
    end: int
    cost: int
    limit: int | None = None


@dataclass(slots=True)
class _Network:
    """Residual network. `used[slot]`: units of flow through the slot's arc of use; `bought`: units by interval."""

    costs: Sequence[Sequence[int]]  # [slot][level - 1], falling with the level
    intervals: Sequence[Interval]
    used: list[int]
    bought: list[int]
    potentials: list[int]
    starting: list[list[int]]
    ending: list[list[int]]

    def shortest(self) -> tuple[list[int], list[int]]:
        """Return the distances from slot 0, and by node the arc by which the shortest path enters it: an interval's
        number, -1 for the slot's use, -2 for its return, -3 for a slot covered twice, -4 - n for the return of n."""
        last, levels = len(self.costs), len(self.costs[0])
        infinity = 1 << 200
        distances, entered = [infinity] * (last + 1), [-9] * (last + 1)
        distances[0], heap, done = 0, [(0, 0)], [False] * (last + 1)
        potentials, used, bought, intervals = self.potentials, self.used, self.bought, self.intervals
        while heap:
            distance, node = heappop(heap)
            if done[node]:
                continue
            done[node] = True
            base = distance + potentials[node]
            if node < last:
                if used[node] < levels:
                    reach = base + self.costs[node][levels - 1 - used[node]] - potentials[node + 1]
                    if reach < distances[node + 1]:
                        distances[node + 1], entered[node + 1] = reach, -1
                        heappush(heap, (reach, node + 1))
                for number in self.starting[node]:
                    interval = intervals[number]
                    reach = base + interval.cost - potentials[interval.end]
                    if reach < distances[interval.end] and (interval.limit is None or bought[number] < interval.limit):
                        distances[interval.end], entered[interval.end] = reach, number
                        heappush(heap, (reach, interval.end))
            if node:
                before = node - 1
                saved = self.costs[before][levels - used[before]] if used[before] else 0
                reach = base - saved - potentials[before]
                if reach < distances[before]:
                    distances[before], entered[before] = reach, -2 if used[before] else -3
                    heappush(heap, (reach, before))
                for number in self.ending[node]:
                    if bought[number]:
                        interval = intervals[number]
                        reach = base - interval.cost - potentials[interval.start]
                        if reach < distances[interval.start]:
                            distances[interval.start], entered[interval.start] = reach, -4 - number
                            heappush(heap, (reach, interval.start))
        return distances, entered

    def push(self, entered: Sequence[int]) -> int | None:
        """Send one unit along the path; return the interval if the path is a single one, else None."""
        node, single = len(self.costs), None
        while node:
            arc = entered[node]
            if arc >= 0:
                interval = self.intervals[arc]
                self.bought[arc] += 1
                single = arc if (interval.start, node) == (0, len(self.costs)) else None
                node = interval.start
            elif arc == -1:
                node -= 1
                self.used[node] += 1
            elif arc in (-2, -3):
                self.used[node] -= arc == -2
                node += 1
            else:
                self.bought[-4 - arc] -= 1
                node = self.intervals[-4 - arc].end
        return single


def cheapest_cover(costs: Sequence[Sequence[int]], intervals: Sequence[Interval]) -> list[int]:
    """Return the units to buy of each interval, so that they and the use of the levels that they do not cover cost
    least. `costs[slot][k - 1]` is the cost of the use of level k in a slot, not negative and falling with k."""
    levels, slots = len(costs[0]) if costs else 0, len(costs)
    bought = [0] * len(intervals)
    if not levels:
        return bought
    starting: list[list[int]] = [[] for _ in range(slots + 1)]
    ending: list[list[int]] = [[] for _ in range(slots + 1)]
    for number, interval in enumerate(intervals):
        starting[interval.start].append(number)
        ending[interval.end].append(number)
    # The highest levels, for which no interval is worth its cost, need no paths.
    sent, potentials = _without_intervals(costs, intervals)
    network = _Network(costs, intervals, [sent] * slots, bought, potentials, starting, ending)
    while sent < levels:
        distances, entered = network.shortest()
        network.potentials = [
            potential + distance for potential, distance in zip(network.potentials, distances, strict=True)
        ]
        single = network.push(entered)
        sent += 1
        if single is not None and intervals[single].limit is None:
            # Paths never become cheaper, and this one remains: it takes all other units.
            bought[single] += levels - sent
            break
    return bought


def _without_intervals(costs: Sequence[Sequence[int]], intervals: Sequence[Interval]) -> tuple[int, list[int]]:
    """Return the largest number of units of which the optimum buys no interval, and the potentials of that flow.

    A flow of n units without intervals is optimal if and only if no interval costs less than the use of the n-th unit
    in it: that would be a cycle of negative cost in the residual network. The use grows with n, so n is bisected.
    """
    levels = len(costs[0])

    def sums(units: int) -> list[int]:
        return (
            list(accumulate((slot[levels - units] for slot in costs), initial=0)) if units else [0] * (len(costs) + 1)
        )

    def is_optimal(units: int) -> bool:
        use = sums(units)
        return all(interval.cost >= use[interval.end] - use[interval.start] for interval in intervals)

    units = bisect_left(range(1, levels + 1), True, key=lambda number: not is_optimal(number))
    return units, sums(units)
