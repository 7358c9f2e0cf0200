"""Cheapest mix for the levels of a demand, and the cost of a given number of owned units."""

import math
from collections import Counter
from dataclasses import replace
from typing import Literal

from landbridge.economics.mix.interval_cover import Interval, cheapest_cover
from landbridge.economics.mix.levels import Levels
from landbridge.economics.mix.prices import BlockRules, MixPrices
from landbridge.economics.mix.result import INSTRUMENTS, BlockPurchase, InstrumentUse, Mix

#: Costs of the flow are whole numbers of this part of a dollar.
_PER_USD = 1_000_000_000
_OWNED, _COMMITTED, _BLOCK, _ON_DEMAND, _SPOT = INSTRUMENTS


def cheapest(levels: Levels, prices: MixPrices, rules: BlockRules, owned: int = 0) -> Mix:
    """Return the mix that serves the demand at least cost; `owned` units are owned already and stay so.

    It is exact under these assumptions: the demand is known, every job starts at once, jobs fit on whole units in any
    order (a unit that is free serves the next job), units of all instruments are equally fast, and a price does not
    depend on the amount. Blocks start and end with the days of `rules`; one that begins after the period or ends more
    than a day after it is not considered. `rules.instances_all` is not a constraint: compare it with the result.
    """
    above = levels.above(owned)
    costs = _costs(above, prices)
    intervals = _intervals(above, prices, rules)
    bought = cheapest_cover(costs, [interval for _, interval in intervals])
    always = Counter({_OWNED: owned})
    blocks = Counter[tuple[int, int]]()  # (first slot, end slot) -> units
    for (instrument, interval), units in zip(intervals, bought, strict=True):
        if instrument == _BLOCK:
            blocks[interval.start, interval.end] += units
        else:
            always[instrument] += units
    return _mix(levels, prices, rules, always[_OWNED], always[_COMMITTED], blocks)


def with_owned(levels: Levels, prices: MixPrices, rules: BlockRules, owned: int) -> Mix:
    """Return the mix of `owned` units with the cheaper of on-demand and spot instances above them."""
    return _mix(levels, prices, rules, owned, 0, Counter())


def newsvendor(levels: Levels, owned_usd: float, rented_usd: float) -> int:
    """Return the number of units to own if the alternative is rented by the hour: the quantile of the demand at level
    1 - owned / rented. A level is owned if it is in use for more than that share of the period; at equal cost it is not.

    It equals the optimum of `cheapest` without other instruments, and is an independent test of it.
    """
    if owned_usd >= rented_usd:
        return 0
    bound = owned_usd * levels.hours / rented_usd
    return sum(levels.used_hours(level) > bound for level in range(1, levels.units + 1))


def _costs(levels: Levels, prices: MixPrices) -> list[list[int]]:
    """Return the cost of the use of each level in each slot, without capacity that is paid in advance.

    Spot instances serve the uncovered levels first that only jobs use which may be interrupted: level k costs the
    on-demand price while the other jobs need k units, else the spot price.
    """
    low = min(prices.on_demand, prices.spot_finished) * _PER_USD / 3600
    extra = prices.on_demand * _PER_USD / 3600 - low
    if not extra:
        return [[round(seconds * low) for seconds in slot] for slot in levels.used]
    return [
        [round(seconds * low + fixed * extra) for seconds, fixed in zip(slot, firm, strict=True)]
        for slot, firm in zip(levels.used, levels.firm, strict=True)
    ]


def _intervals(levels: Levels, prices: MixPrices, rules: BlockRules) -> list[tuple[str, Interval]]:
    slots = 2 * levels.days
    intervals = [
        (instrument, Interval(0, slots, round(usd * levels.hours * _PER_USD), limit))
        for instrument, usd, limit in (
            (_OWNED, prices.owned, prices.owned_max),
            (_COMMITTED, prices.committed, prices.committed_max),
        )
        if usd is not None
    ]
    if prices.block is not None:
        day = prices.block * 24 * _PER_USD
        intervals += [
            (_BLOCK, Interval(2 * first, 2 * (first + days) - 1, round(day * days)))
            for first in range(levels.days)
            for days in rules.days
            if first + days <= levels.days
        ]
    return intervals


def _mix(
    levels: Levels,
    prices: MixPrices,
    rules: BlockRules,
    owned: int,
    committed: int,
    blocks: Counter[tuple[int, int]],
) -> Mix:
    """Return the mix with hours and cost of each instrument. Owned units serve the lowest levels, then commitments,
    then blocks."""
    slots = 2 * levels.days
    in_blocks = [0] * slots
    for (start, end), units in blocks.items():
        for slot in range(start, end):
            in_blocks[slot] += units
    used = dict.fromkeys(INSTRUMENTS, 0.0)
    peaks = dict.fromkeys((_ON_DEMAND, _SPOT), 0)
    is_spot = prices.is_spot_cheaper
    for slot, (seconds, firm) in enumerate(zip(levels.used, levels.firm, strict=True)):
        base, covered = owned + committed, owned + committed + in_blocks[slot]
        used[_OWNED] += sum(seconds[:owned])
        used[_COMMITTED] += sum(seconds[owned:base])
        used[_BLOCK] += sum(seconds[base:covered])
        rest = sum(seconds[covered:])
        fixed = sum(firm[covered:]) if is_spot else rest
        used[_ON_DEMAND] += fixed
        used[_SPOT] += rest - fixed
        peaks[_ON_DEMAND] = max(peaks[_ON_DEMAND], _in_use(firm if is_spot else seconds) - covered)
        if rest - fixed > 0:
            peaks[_SPOT] = max(peaks[_SPOT], _in_use(seconds) - covered)
    hours = {instrument: value / 3600 for instrument, value in used.items()}
    purchases = _purchases(levels, prices, rules, blocks)
    block_hours = 24.0 * sum(purchase.days * purchase.units for purchase in purchases)
    period = levels.hours
    spot_hours = hours[_SPOT] / (1 - prices.interruptions * prices.lost_hours) if hours[_SPOT] else 0.0
    uses = (
        InstrumentUse(_OWNED, owned, owned * period, hours[_OWNED], owned * period * (prices.owned or 0.0)),
        InstrumentUse(
            _COMMITTED, committed, committed * period, hours[_COMMITTED], committed * period * (prices.committed or 0.0)
        ),
        InstrumentUse(
            _BLOCK,
            max(in_blocks, default=0),
            block_hours,
            hours[_BLOCK],
            sum(purchase.usd for purchase in purchases),
        ),
        InstrumentUse(
            _ON_DEMAND,
            max(peaks[_ON_DEMAND], 0),
            hours[_ON_DEMAND],
            hours[_ON_DEMAND],
            hours[_ON_DEMAND] * prices.on_demand,
        ),
        InstrumentUse(_SPOT, peaks[_SPOT], spot_hours, hours[_SPOT], spot_hours * (prices.spot or 0.0)),
    )
    work = sum(sum(slot) for slot in levels.used) / 3600
    return Mix(tuple(use for use in uses if use.hours), purchases, period, work, levels.unit)


def _in_use(seconds: tuple[float, ...]) -> int:
    """Return the number of levels that are in use in a slot."""
    return sum(value > 0 for value in seconds)


def _purchases(
    levels: Levels, prices: MixPrices, rules: BlockRules, blocks: Counter[tuple[int, int]]
) -> tuple[BlockPurchase, ...]:
    """Return the blocks to buy in the order of their start; larger ones are split at the limit of one block."""
    purchases = []
    for (start, end), units in sorted(blocks.items()):
        days = (end + 1 - start) // 2
        for part in range(math.ceil(units / rules.instances)):
            size = min(rules.instances, units - part * rules.instances)
            usd = (prices.block or 0.0) * 24 * days * size
            purchases.append(BlockPurchase(levels.first_day + 43_200.0 * start, days, size, usd))
    return tuple(purchases)


def without(prices: MixPrices, *instruments: Literal["owned", "committed", "block", "spot"]) -> MixPrices:
    """Return the prices without these instruments."""
    return replace(
        prices,
        owned=None if "owned" in instruments else prices.owned,
        committed=None if "committed" in instruments else prices.committed,
        block=None if "block" in instruments else prices.block,
        spot=None if "spot" in instruments else prices.spot,
    )
