"""What an environment costs by the hour and the month, from dated prices: known before anything runs."""

from dataclasses import dataclass
from datetime import date

from landbridge.environment import Environment

#: AWS's own month in its price examples: 365 days of 24 hours, in twelve parts.
HOURS_A_MONTH = 730


@dataclass(frozen=True, slots=True)
class SpendLine:
    """One thing that is paid for.

    `usd_hour` and `usd_month` with everything running, `usd_whole` what is paid at once (a Capacity Block's bill). `fixed`:
    billed whatever runs.
    """

    what: str
    pool: str | None
    data_class: str | None
    usd_hour: float
    usd_month: float
    usd_whole: float | None
    fixed: bool
    as_of: date
    source: str
    confidence: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Unpriced:
    """Something that costs money of which the catalogue knows no price there."""

    what: str
    pool: str | None
    data_class: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Spend:
    """Every line, and what has no price."""

    lines: tuple[SpendLine, ...]
    unpriced: tuple[Unpriced, ...]


def spend(environment: Environment) -> Spend:
    """What the environment costs."""
    return Spend((), ())
