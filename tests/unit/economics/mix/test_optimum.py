"""The cheapest mix against an enumeration of all purchases, and the newsvendor rule against all numbers of owned nodes."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, time
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from landbridge.economics.mix import BlockRules, Mix, MixPrices, cheapest, with_owned
from landbridge.economics.mix.interval_cover import Interval, cheapest_cover
from landbridge.economics.mix.levels import levels_of
from landbridge.economics.mix.optimum import newsvendor, without
from landbridge.trace import Demand, TraceJob, demand_of, read
from tests.thorough import examples
from tests.unit.core.samples import ROOT

PHILLY = ROOT.parent / "shared" / "data" / "philly.csv"
DAY, HOUR = 86_400.0, 3600.0
START = datetime(2026, 11, 2, 11, 30, tzinfo=UTC).timestamp()
#: Blocks of one or three days, and half an hour at the end of each in which its instances are terminated.
RULES = BlockRules((1, 3), time(11, 30), 1800, 8, 64, 256)
#: Only blocks of two days: neighbours overlap, and the levels cannot be decided one by one.
PAIRS = BlockRules((2,), time(11, 30), 1800, 8, 64, 256)
PRICES = (
    MixPrices(10.0, owned=4.0),
    MixPrices(10.0, owned=6.0, block=5.0),
    MixPrices(10.0, block=7.0, committed=5.0, committed_max=1),
    MixPrices(10.0, owned=3.0, owned_max=1, block=6.0, spot=4.0, interruptions=0.1, lost_hours=2.0),
    MixPrices(10.0, owned=12.0, spot=9.5, interruptions=0.2, lost_hours=1.0, block=9.0),
)


def jobs_of(generator: random.Random, days: int, peak: int) -> list[TraceJob]:
    """Return jobs of whole half hours whose sum is at most `peak` GPUs."""
    slots, jobs = days * 48, list[TraceJob]()
    free = [peak] * slots
    for _ in range(generator.randint(1, 8)):
        begin = generator.randrange(slots)
        length = min(generator.choice((1, 5, 20, 47, 48, 70, 96, 140)), slots - begin)
        gpus = min(generator.randint(1, peak), *free[begin : begin + length])
        if gpus:
            jobs.append(
                TraceJob(START + 1800.0 * begin, 1800.0 * length, gpus, kind=generator.choice(("firm", "spot")))
            )
            free[begin : begin + length] = [count - gpus for count in free[begin : begin + length]]
    return jobs


def enumerated(jobs: list[TraceJob], end: float, prices: MixPrices, rules: BlockRules, peak: int) -> float:
    """Return the least cost over all numbers of owned units, commitments and blocks, priced half hour by half hour."""
    first_at = min(job.submitted for job in jobs)
    first_day = rules.day_of(first_at)
    days = max(int(-(-(end - first_day) // DAY)), 1)
    halves = [first_day + 1800.0 * number for number in range(48 * days)]
    used = [[sum(j.gpus for j in jobs if j.submitted <= at < j.submitted + j.seconds and j.kind in kinds) if at < end
             else 0 for at in halves] for kinds in (("firm", "spot"), ("firm",))]  # fmt: skip
    spot = min(prices.spot_finished, prices.on_demand)
    hours = (end - first_at) / HOUR

    def usage(cover: list[int]) -> float:
        total = 0.0
        for all_jobs, firm, covered in zip(used[0], used[1], cover, strict=True):
            rest = max(all_jobs - covered, 0)
            on_demand = max(firm - covered, 0)
            total += 0.5 * (on_demand * prices.on_demand + (rest - on_demand) * spot)
        return total

    intervals = [(first, count) for first in range(days) for count in rules.days if first + count <= days]
    if prices.block is None:
        intervals = []
    owned_range = range((min(prices.owned_max or peak, peak) if prices.owned is not None else 0) + 1)
    committed_range = range((min(prices.committed_max or peak, peak) if prices.committed is not None else 0) + 1)
    best = float("inf")
    for counts in product(range(peak + 1), repeat=len(intervals)):
        cover, paid = [0] * len(halves), 0.0
        for (first, length), units in zip(intervals, counts, strict=True):
            paid += units * length * 24 * (prices.block or 0.0)
            for half in range(48 * first, 48 * (first + length) - 1):
                cover[half] += units
        if paid >= best:
            continue
        for owned, committed in product(owned_range, committed_range):
            always = (owned * (prices.owned or 0.0) + committed * (prices.committed or 0.0)) * hours
            if paid + always < best:
                best = min(best, paid + always + usage([count + owned + committed for count in cover]))
    return best


def priced(mix: Mix, prices: MixPrices) -> float:
    """Return the cost of a mix from its hours and the prices."""
    usd = {
        "owned": prices.owned, "committed": prices.committed, "capacity_block": prices.block,
        "on_demand": prices.on_demand, "spot": prices.spot,
    }  # fmt: skip
    return sum(use.hours * (usd[use.instrument] or 0.0) for use in mix.uses)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("number", range(len(PRICES)))
def test_the_cheapest_mix_is_that_of_an_enumeration(seed: int, number: int) -> None:
    """Check 200 random traces: 40 at each of five vectors of prices, with two sets of rules for blocks."""
    generator = random.Random(1000 * number + seed)
    rules, days, peak = generator.choice(((RULES, 3, 2), (PAIRS, 3, 3), (PAIRS, 4, 2)))
    jobs = jobs_of(generator, days, peak)
    end = max(job.submitted + job.seconds for job in jobs)
    firm = [job for job in jobs if job.kind == "firm"]
    demand = demand_of(jobs, end)
    fixed = Demand((demand.times[0], end), (0,))
    if firm:
        part = demand_of(firm, end)
        fixed = Demand((demand.times[0], *part.times), (0, *part.gpus))
    mix = cheapest(levels_of(demand, 1, rules, fixed), PRICES[number], rules)
    assert mix.usd == pytest.approx(enumerated(jobs, end, PRICES[number], rules, demand.peak), abs=1e-6)
    assert mix.usd == pytest.approx(priced(mix, PRICES[number]))
    assert sum(use.used_hours for use in mix.uses) == pytest.approx(mix.work_hours)


def test_a_decision_level_by_level_is_not_the_cheapest() -> None:
    """Two blocks that overlap serve a demand of one, two, one units. Each level on its own would need three blocks."""
    costs = [[10, 0], [10, 10], [10, 0]]
    intervals = [Interval(0, 2, 8), Interval(1, 3, 8)]
    assert cover_cost(costs, intervals, cheapest_cover(costs, intervals)) == 16
    by_level = [[[slot[level]] for slot in costs] for level in (0, 1)]
    assert sum(cover_cost(level, intervals, cheapest_cover(level, intervals)) for level in by_level) == 24


def brute(costs: list[list[int]], intervals: list[Interval]) -> int:
    levels = len(costs[0])
    best = None
    for counts in product(range(levels + 1), repeat=len(intervals)):
        if any(i.limit is not None and n > i.limit for i, n in zip(intervals, counts, strict=True)):
            continue
        usd = sum(n * i.cost for i, n in zip(intervals, counts, strict=True))
        for slot, by_level in enumerate(costs):
            covered = sum(n for i, n in zip(intervals, counts, strict=True) if i.start <= slot < i.end)
            usd += sum(by_level[covered:])
        best = usd if best is None else min(best, usd)
    assert best is not None
    return best


def cover_cost(costs: list[list[int]], intervals: list[Interval], counts: list[int]) -> int:
    usd = sum(n * i.cost for i, n in zip(intervals, counts, strict=True))
    for slot, by_level in enumerate(costs):
        usd += sum(by_level[sum(n for i, n in zip(intervals, counts, strict=True) if i.start <= slot < i.end) :])
    return usd


def test_an_interval_that_was_best_for_the_highest_level_is_given_back() -> None:
    """The highest level alone buys the short interval in the middle; with the next one, two that overlap are cheaper."""
    costs = [[100, 0], [100, 60], [100, 0]]
    intervals = [Interval(0, 2, 50), Interval(1, 3, 50), Interval(1, 2, 40)]
    assert cheapest_cover([slot[1:] for slot in costs], intervals) == [0, 0, 1]
    assert cheapest_cover(costs, intervals) == [1, 1, 0]


def test_the_use_of_the_highest_level_is_saved_where_two_intervals_overlap() -> None:
    costs = [[100, 0], [100, 9], [100, 0]]
    intervals = [Interval(0, 2, 50), Interval(1, 3, 50), Interval(0, 3, 95)]
    assert cheapest_cover(costs, intervals) == [1, 1, 0], "100, and not 95 + 9"


@some.composite
def covers(draw: some.DrawFn) -> tuple[list[list[int]], list[Interval]]:
    """Generate few slots with large differences between the levels, and intervals that overlap at similar costs."""
    slots, levels = draw(some.integers(2, 4)), draw(some.integers(1, 3))
    level_costs = some.lists(some.sampled_from((0, 1, 5, 6, 10, 30)), min_size=levels, max_size=levels)
    costs = [sorted(draw(level_costs), reverse=True) for _ in range(slots)]
    spans = some.tuples(
        some.integers(0, slots - 1), some.integers(1, 3), some.integers(0, 12), some.sampled_from((None, None, None, 1))
    )
    rows = draw(some.lists(spans, min_size=1, max_size=5 if levels < 3 else 4))
    return costs, [Interval(start, min(start + size, slots), cost * size, limit) for start, size, cost, limit in rows]


@settings(max_examples=examples(100, 300), deadline=None)
@given(covers())
def test_the_flow_finds_the_cheapest_cover_of_any_levels(cover: tuple[list[list[int]], list[Interval]]) -> None:
    costs, intervals = cover
    bought = cheapest_cover(costs, intervals)
    assert all(i.limit is None or n <= i.limit for i, n in zip(intervals, bought, strict=True))
    assert cover_cost(costs, intervals, bought) == brute(costs, intervals)


def demands() -> Iterator[Demand]:
    generator = random.Random(5)
    for _ in range(30):
        yield demand_of(jobs_of(generator, days=4, peak=6))


@pytest.mark.parametrize("owned", [0.5, 3.0, 7.0, 9.9, 10.0, 12.0])
def test_the_newsvendor_rule_is_the_best_number_of_owned_units(owned: float) -> None:
    prices = MixPrices(10.0, owned=owned)
    for demand in demands():
        if not demand.gpus:
            continue
        levels = levels_of(demand, 1, RULES)
        costs = [with_owned(levels, prices, RULES, count).usd for count in range(levels.units + 1)]
        best = newsvendor(levels, owned, 10.0)
        assert costs[best] == pytest.approx(min(costs)) == pytest.approx(cheapest(levels, prices, RULES).usd)


def test_owned_units_stay_owned() -> None:
    levels = levels_of(Demand((START, START + DAY), (2,)), 1, RULES)
    mix = cheapest(levels, MixPrices(10.0, owned=20.0), RULES, owned=3)
    assert [(use.instrument, use.units, use.hours, use.used_hours) for use in mix.uses] == [("owned", 3, 72.0, 48.0)]


def test_a_block_is_bought_for_days_that_cost_less_than_on_demand() -> None:
    """Eight instances for two days and an hour: a block of two days, with the last half hour on demand."""
    levels = levels_of(Demand((START, START + 2 * DAY + HOUR), (64,)), 8, RULES)
    mix = cheapest(levels, MixPrices(55.04, block=47.76), BlockRules.of_catalogue())
    (block,) = mix.blocks
    assert (block.start, block.days, block.units, block.usd) == (START, 2, 8, pytest.approx(8 * 48 * 47.76))
    assert mix.use_of("on_demand").hours == pytest.approx(8 * 1.5)
    assert mix.use_of("capacity_block").used_hours == pytest.approx(8 * 47.5)
    assert cheapest(levels, MixPrices(55.04, block=54.93), RULES).blocks == ()


def test_large_blocks_are_split_and_the_rules_are_those_of_the_catalogue() -> None:
    rules = BlockRules.of_catalogue()
    assert rules.days[:14] == tuple(range(1, 15)) and rules.days[14:] == tuple(range(21, 183, 7))
    levels = levels_of(Demand((START, START + DAY), (100 * 8,)), 8, rules)
    assert [block.units for block in cheapest(levels, MixPrices(50.0, block=20.0), rules).blocks] == [64, 36]


def test_spot_serves_only_jobs_that_may_be_interrupted() -> None:
    demand, firm = Demand((START, START + DAY), (5,)), Demand((START, START + DAY), (2,))
    levels = levels_of(demand, 1, RULES, firm)
    prices = MixPrices(10.0, spot=4.0, interruptions=0.1, lost_hours=2.0)
    mix = cheapest(levels, prices, RULES)
    assert mix.use_of("on_demand").hours == 48.0 and mix.use_of("spot").hours == pytest.approx(72 / 0.8)
    # Work that is lost faster than it is done never finishes.
    assert not MixPrices(10.0, spot=0.1, interruptions=1.0, lost_hours=1.0).is_spot_cheaper
    assert without(prices, "spot").spot is None


def test_the_philly_trace_agrees_with_all_numbers_of_owned_nodes() -> None:
    if not PHILLY.is_file():
        pytest.skip(f"{PHILLY} does not exist: it is not part of the checkout")
    rules = BlockRules.of_catalogue()
    levels = levels_of(demand_of(read(PHILLY).jobs), 8, rules)
    prices = MixPrices(55.04, owned=21.85)
    costs = [with_owned(levels, prices, rules, count).usd for count in range(levels.units + 1)]
    mix = cheapest(levels, prices, rules)
    assert mix.use_of("owned").units == newsvendor(levels, 21.85, 55.04) == costs.index(min(costs)) == 61
    assert mix.usd == pytest.approx(min(costs), abs=0.01)
    # Blocks below the on-demand price replace owned nodes too, and the cost falls.
    blocks = cheapest(levels, MixPrices(55.04, owned=21.85, block=40.0), rules)
    assert blocks.usd < mix.usd and blocks.use_of("owned").units < 61
