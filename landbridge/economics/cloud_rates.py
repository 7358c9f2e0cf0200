"""Dated prices of rented GPUs, of the instance type that is compared with an owned node."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

from landbridge.catalog import Price, instances, price_of, prices
from landbridge.environment import Environment
from landbridge.plan.cost.owned_inputs import OwnedGroup

#: Purchase options of instances, as `what` of the catalogue's prices.
Instrument = Literal["on_demand", "capacity_block", "spot"]
INSTRUMENTS: tuple[Instrument, ...] = get_args(Instrument)
_WORDS: dict[Instrument, str] = {"on_demand": "on demand", "capacity_block": "Capacity Block", "spot": "spot"}


@dataclass(frozen=True, slots=True)
class CloudRate:
    """Price of renting the GPUs of one owned node for an hour, in USD. `end` is the end of a range of prices."""

    instrument: Instrument
    end: Literal["lowest", "highest"] | None
    instance: str
    region: str
    usd_hour: float
    as_of: date
    source: str
    confidence: str

    @property
    def name(self) -> str:
        """Purchase option in words, with the end of a range."""
        return _WORDS[self.instrument] + (f", {self.end}" if self.end else "")


def instance_for(environment: Environment, group: OwnedGroup) -> str | None:
    """Return the instance type to compare with a group: one of a pool with the same GPUs, else one of the catalogue with
    the same number of them; None if there is none.
    """
    pools = [pool.instance for pool in environment.aws.pools if _gpus(pool.instance)[0] == group.gpu_type]
    same = [name for name in instances() if _gpus(name) == (group.gpu_type, group.gpus)]
    priced = [name for name in same if price_of("on_demand", name, environment.region) is not None]
    return next(iter([*pools, *priced, *same]), None)


def current_rates(instance: str, region: str, gpus: int) -> tuple[CloudRate, ...]:
    """Return the newest price of each purchase option in a region for `gpus` GPUs; those without a price are missing."""
    rates: list[CloudRate] = []
    for instrument in INSTRUMENTS:
        price = price_of(instrument, instance, region)
        if price is not None:
            common = (price.as_of, price.source, price.confidence)
            ends = price.usd if isinstance(price, Price) else (price.low, price.high)
            rates += _rates(instrument, instance, region, ends, gpus, common)
    return tuple(rates)


def dated_rates(instance: str, gpus: int) -> tuple[CloudRate, ...]:
    """Return every price of an instance type in the catalogue, of all regions and days, the highest first."""
    rates: list[CloudRate] = []
    table = prices()
    for row in table.rows:
        if row.kind in INSTRUMENTS and instance in row.usd:
            source = table.sources[row.source]
            common = (source.date, source.title, source.confidence)
            for region in row.regions:
                rates += _rates(row.kind, instance, region, row.usd[instance], gpus, common)
    return tuple(sorted(rates, key=lambda rate: (-rate.usd_hour, rate.region, rate.as_of)))


def _rates(
    instrument: Instrument,
    instance: str,
    region: str,
    usd: float | tuple[float, float],
    gpus: int,
    common: tuple[date, str, str],
) -> Iterator[CloudRate]:
    count = _gpus(instance)[1] or 1
    if isinstance(usd, tuple):
        yield CloudRate(instrument, "lowest", instance, region, usd[0] * gpus / count, *common)
        yield CloudRate(instrument, "highest", instance, region, usd[1] * gpus / count, *common)
    else:
        yield CloudRate(instrument, None, instance, region, usd * gpus / count, *common)


def _gpus(instance: str) -> tuple[str, int]:
    """Return type and number of an instance's GPUs; empty and 0 for an unknown type or one without GPUs."""
    kind = instances().get(instance)
    accelerators = kind.accelerators if kind is not None else None
    return (accelerators.type, accelerators.count) if accelerators is not None else ("", 0)
