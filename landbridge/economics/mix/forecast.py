"""Capacity Blocks to buy now: the last weeks of a trace are the forecast of the weeks in which a block can start."""

from dataclasses import dataclass
from typing import Any

from landbridge.economics.mix.levels import levels_of
from landbridge.economics.mix.optimum import cheapest, with_owned, without
from landbridge.economics.mix.prices import BlockRules, MixPrices
from landbridge.economics.mix.result import BlockPurchase
from landbridge.timestamps import iso
from landbridge.trace import Demand

_WEEK = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """Blocks to buy from `start` on. The forecast until `end` is the demand `shift` seconds earlier, by whole weeks.
    `saved_usd`: compared with the same units without blocks. `again`: when to compute the plan again."""

    blocks: tuple[BlockPurchase, ...]
    start: float
    end: float
    shift: float
    saved_usd: float
    again: float

    @property
    def usd(self) -> float:
        """Return the amount to pay in advance."""
        return sum(block.usd for block in self.blocks)

    def as_data(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {
            "from": iso(self.start),
            "until": iso(self.end),
            "forecast_from": iso(self.start - self.shift),
            "forecast_until": iso(self.end - self.shift),
            "usd": self.usd,
            "saved_usd": self.saved_usd,
            "blocks": [block.as_data() for block in self.blocks],
            "look_again": iso(self.again),
        }


def block_plan(
    demand: Demand,
    firm: Demand | None,
    unit: int,
    prices: MixPrices,
    rules: BlockRules,
    base_units: int,
    now: float,
) -> BlockPlan | None:
    """Return the blocks to buy at `now` above `base_units` owned and committed units; None for a trace of less than a week.

    Blocks can start at most `rules.weeks_ahead` weeks ahead; the forecast is as long, or as long as the trace. It
    assumes that the demand of the trace's last weeks repeats, hour by hour of the week. A week later one more week can be
    booked, so the plan is computed again then.
    """
    first, last = demand.times[0], demand.times[-1]
    weeks = min(int((last - first) // _WEEK), rules.weeks_ahead + 1)
    if weeks < 1:
        return None
    # The shifted weeks begin at most a week before now.
    shift = _WEEK * ((now - (last - weeks * _WEEK)) // _WEEK)
    start = rules.day_of(now) + 86_400.0
    end = min(last + shift, start + rules.weeks_ahead * _WEEK)
    if end <= start:
        return None
    expected = shifted(demand.between(start - shift, end - shift), shift)
    expected_firm = None if firm is None else shifted(firm.between(start - shift, end - shift), shift)
    levels = levels_of(expected, unit, rules, expected_firm)
    above = without(prices, "owned", "committed")
    mix = cheapest(levels, above, rules, owned=base_units)
    saved = with_owned(levels, above, rules, base_units).usd - mix.usd
    return BlockPlan(mix.blocks, start, end, shift, saved, start + _WEEK)


def shifted(demand: Demand, seconds: float) -> Demand:
    """Return the same demand at a later time."""
    return Demand(tuple(at + seconds for at in demand.times), demand.gpus)
