"""Levels of a demand: level k is in use while at least k units are in use."""

from dataclasses import dataclass

from landbridge.economics.mix.prices import BlockRules
from landbridge.trace import Demand

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Levels:
    """Use of each level in each slot of time. A day of Capacity Blocks has two slots: slot 2d is day d without the time
    in which the instances of an ending block are terminated, and slot 2d + 1 is that time.

    `used[slot][k - 1]` are the seconds of the slot with at least k units in use; `firm` the same without the jobs that
    may run on spot instances. Both fall with k. `start` and `end` are the period of the demand, `first_day` the start
    of slot 0, which is at most a day earlier.
    """

    unit: int  # GPUs
    start: float
    end: float
    first_day: float
    used: tuple[tuple[float, ...], ...]
    firm: tuple[tuple[float, ...], ...]

    @property
    def units(self) -> int:
        """Return the number of levels."""
        return len(self.used[0]) if self.used else 0

    @property
    def days(self) -> int:
        """Return the number of days of Capacity Blocks that the period touches."""
        return len(self.used) // 2

    @property
    def hours(self) -> float:
        """Return the length of the period in hours."""
        return (self.end - self.start) / 3600

    def used_hours(self, level: int) -> float:
        """Return the hours in which a level, counted from 1, is in use."""
        return sum(slot[level - 1] for slot in self.used) / 3600

    def above(self, units: int) -> "Levels":
        """Return the levels above the first `units` ones."""
        used, firm = tuple(slot[units:] for slot in self.used), tuple(slot[units:] for slot in self.firm)
        return Levels(self.unit, self.start, self.end, self.first_day, used, firm)


def levels_of(demand: Demand, unit: int, rules: BlockRules, firm: Demand | None = None) -> Levels:
    """Return the levels of a demand in units of `unit` GPUs, rounded up. `firm` is the part of the demand that cannot
    run on spot instances, over the same period; None: all of it."""
    start, end = demand.times[0], demand.times[-1]
    first = rules.day_of(start)
    days = max(int(-(-(end - first) // _DAY)), 1)
    units = -(-demand.peak // unit)
    used = _seconds(demand, unit, units, first, days, rules.lost_seconds)
    fixed = used if firm is None else _seconds(firm, unit, units, first, days, rules.lost_seconds)
    return Levels(unit, start, end, first, used, fixed)


def _seconds(
    demand: Demand, unit: int, units: int, first: float, days: int, lost: float
) -> tuple[tuple[float, ...], ...]:
    """Return the seconds of each level in each slot."""
    by_count = [[0.0] * (units + 1) for _ in range(2 * days)]  # seconds with exactly that number of units
    slot, slot_end = 0, first + _DAY - lost
    times = demand.times
    for at, gpus in enumerate(demand.gpus):
        begin, until, count = times[at], times[at + 1], -(-gpus // unit)
        while until > slot_end and slot + 1 < 2 * days:
            if begin < slot_end:
                by_count[slot][count] += slot_end - begin
                begin = slot_end
            slot += 1
            slot_end += _DAY - lost if slot % 2 == 0 else lost
        by_count[slot][count] += until - begin
    for seconds in by_count:
        for count in range(units - 1, 0, -1):
            seconds[count] += seconds[count + 1]
    return tuple(tuple(seconds[1:]) for seconds in by_count)
