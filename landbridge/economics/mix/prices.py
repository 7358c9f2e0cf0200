"""Prices of the instruments of a mix, and the booking rules of Capacity Blocks."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from landbridge.catalog import limits


@dataclass(frozen=True, slots=True)
class BlockRules:
    """Booking rules of Capacity Blocks: permitted lengths in days, time of day (UTC) at which a block starts and ends,
    seconds before the end from which instances are terminated, how far ahead a block can be bought, and the largest
    number of instances in one block and in all."""

    days: tuple[int, ...]
    ends_at: time
    lost_seconds: int
    weeks_ahead: int
    instances: int
    instances_all: int

    @classmethod
    def of_catalogue(cls, ultraserver: bool = False) -> "BlockRules":
        """Return the rules of limits.yaml (EC2 User Guide, "Capacity Blocks for ML")."""
        block = limits().capacity_blocks
        weekly = range(block.days + block.long_step_days - block.days % block.long_step_days, block.long_days + 1)
        return cls(
            (*range(1, block.days + 1), *weekly[:: block.long_step_days]),
            block.ends_at,
            60 * (block.reclaim_minutes_ultraserver if ultraserver else block.reclaim_minutes),
            block.weeks_ahead,
            block.instances,
            block.instances_all,
        )

    def day_of(self, at: float) -> float:
        """Return the last time at or before `at` at which blocks start and end."""
        moment = datetime.fromtimestamp(at, UTC)
        start = datetime.combine(moment.date(), self.ends_at, UTC)
        return (start if start <= moment else start - timedelta(days=1)).timestamp()


@dataclass(frozen=True, slots=True)
class MixPrices:
    """Prices of one unit for one hour in USD; None: the instrument is not available. A unit is one instance, or as many
    owned GPUs as it has.

    `owned` and `committed` (a reserved instance or a Savings Plan) are paid for the whole period, used or not;
    `block` for whole blocks, in advance; `on_demand` and `spot` for use. `interruptions` is the number of interruptions
    of an instance's job in one hour, `lost_hours` the work that one of them costs: half of the time between
    checkpoints, and the restart.
    """

    on_demand: float
    owned: float | None = None
    committed: float | None = None
    block: float | None = None
    spot: float | None = None
    interruptions: float = 0.0
    lost_hours: float = 0.0
    owned_max: int | None = None
    committed_max: int | None = None

    @property
    def spot_finished(self) -> float:
        """Cost of one hour of finished work on a spot instance in USD: of each hour, `interruptions * lost_hours` are
        repeated. Infinity if no work would finish or there is no spot price."""
        lost = self.interruptions * self.lost_hours
        return self.spot / (1 - lost) if self.spot is not None and lost < 1 else math.inf

    @property
    def is_spot_cheaper(self) -> bool:
        """True if finished work costs less on spot instances than on demand."""
        return self.spot_finished < self.on_demand
