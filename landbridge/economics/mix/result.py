"""Result of an optimisation: what is bought, the hours paid and used, and USD, by instrument."""

from dataclasses import dataclass
from typing import Any

from landbridge.timestamps import iso

#: Instruments of a mix, in the order in which they serve the levels of a demand. `committed` is a reserved instance or a
#: Savings Plan.
INSTRUMENTS = ("owned", "committed", "capacity_block", "on_demand", "spot")


@dataclass(frozen=True, slots=True)
class BlockPurchase:
    """Capacity Block to buy: `units` instances for `days` days from `start`, in seconds since 1970; `usd` in advance."""

    start: float
    days: int
    units: int
    usd: float

    @property
    def end(self) -> float:
        """Return the end of the block."""
        return self.start + 86_400.0 * self.days

    def as_data(self) -> dict[str, Any]:
        """Return the purchase as plain data."""
        return {
            "start": iso(self.start), "end": iso(self.end), "days": self.days, "units": self.units, "usd": self.usd,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class InstrumentUse:
    """Use of one instrument: the largest number of units at once, unit-hours paid and in use, and USD."""

    instrument: str
    units: int
    hours: float
    used_hours: float
    usd: float


@dataclass(frozen=True, slots=True)
class Mix:
    """Mix of instruments that serves a demand over its period. `hours`: length of the period; `work_hours`: unit-hours
    of the demand; `unit`: GPUs of a unit."""

    uses: tuple[InstrumentUse, ...]
    blocks: tuple[BlockPurchase, ...]
    hours: float
    work_hours: float
    unit: int

    @property
    def usd(self) -> float:
        """Return the cost of the period."""
        return sum(use.usd for use in self.uses)

    @property
    def usd_gpu_hour(self) -> float:
        """Return the cost of one GPU-hour of the demand, in whole units."""
        return self.usd / (self.work_hours * self.unit) if self.work_hours else 0.0

    def use_of(self, instrument: str) -> InstrumentUse:
        """Return the use of an instrument; zeros if the mix has none of it."""
        return next((use for use in self.uses if use.instrument == instrument), InstrumentUse(instrument, 0, 0, 0, 0))
