"""Lines of a statement: who used which nodes on a day, for what, and what it has cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from landbridge.economics.job_costs.money import CENT, MICRO_USD, apportion, decimal_of
from landbridge.environment.base import Site
from landbridge.findings import Finding


class Use(StrEnum):
    """Use of the paid time of a line. The first ones are of jobs, by their end."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    NODE_FAILED = "node_failed"
    PREEMPTED = "preempted"
    REQUEUED = "requeued"
    RUNNING = "running"
    UNKNOWN = "unknown"
    BOOT = "boot"
    IDLE = "idle"
    NODE_DOWN = "node_down"
    TRANSFER = "transfer"
    STORAGE = "storage"
    UNITEMIZED = "unitemized"


#: Source: sacct(1), JOB STATE CODES. Any other state that ends a job is a failure.
_USES = {
    "COMPLETED": Use.COMPLETED,
    "CANCELLED": Use.CANCELLED,
    "NODE_FAIL": Use.NODE_FAILED,
    "PREEMPTED": Use.PREEMPTED,
    "REQUEUED": Use.REQUEUED,
    "RUNNING": Use.RUNNING,
    "SUSPENDED": Use.RUNNING,
    "RESIZING": Use.RUNNING,
}


def use_of(state: str) -> Use:
    """Return the use of a job by its state in Slurm's accounting."""
    return _USES.get(state, Use.FAILED)


@dataclass(frozen=True, slots=True)
class LineKey:
    """Fields by which amounts are added up: the day in UTC, the site, the node group or pool, and who used it.

    `job` is 0 for time without a job; then `name` and `user` are empty. `instrument` is `owned`, or the purchase option in
    AWS. `name` of a transfer is its dataset.
    """

    day: str
    site: Site
    resource: str
    instrument: str
    use: Use
    job: int = 0
    name: str = ""
    user: str = ""
    account: str = ""


@dataclass(slots=True)
class Amounts:
    """Amounts of a line before they are rounded. `kwh` is None if the power of the nodes is not known."""

    usd: Fraction = Fraction(0)
    gpu_seconds: Fraction = Fraction(0)
    node_seconds: Fraction = Fraction(0)
    kwh: Fraction | None = Fraction(0)

    def add(self, usd: Fraction, gpu_seconds: Fraction, node_seconds: Fraction, kwh: Fraction | None) -> None:
        """Add a part."""
        self.usd += usd
        self.gpu_seconds += gpu_seconds
        self.node_seconds += node_seconds
        self.kwh = None if kwh is None or self.kwh is None else self.kwh + kwh


LineAmounts = dict[LineKey, Amounts]


@dataclass(frozen=True, slots=True)
class StatementLine:
    """Line of a statement. `usd` has six digits. `energy` says whether `kwh` was measured or modelled; None: not known."""

    key: LineKey
    usd: Decimal
    gpu_hours: float
    node_hours: float
    kwh: float | None
    energy: str
    co2e_kg: float | None


@dataclass(frozen=True, slots=True)
class MonthBill:
    """Bill of a month in USD: the owned nodes, the burst journal, and the ledger of transfers."""

    owned: Fraction = Fraction(0)
    journal: Fraction = Fraction(0)
    transfers: Fraction = Fraction(0)

    @property
    def usd(self) -> Fraction:
        """Sum of the three."""
        return self.owned + self.journal + self.transfers


@dataclass(frozen=True, slots=True)
class MonthStatement:
    """Lines of a month with its bill: the sum of all lines is the bill, in millionths of a dollar.

    `until` is the end of the month, or the time at which the statement of a month that is not over ends.
    """

    month: str
    until: int
    lines: tuple[StatementLine, ...]
    bill: MonthBill
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def usd(self) -> Decimal:
        """Sum of the lines."""
        return sum((line.usd for line in self.lines), Decimal(0))

    def only(self, chosen: Callable[[LineKey], bool]) -> "MonthStatement":
        """Return the statement with the chosen lines; the bill stays the bill of all lines."""
        return replace(self, lines=tuple(line for line in self.lines if chosen(line.key)))


def rounded(amounts: Mapping[LineKey, Amounts]) -> dict[LineKey, Decimal]:
    """Return the dollars of each line with six digits; they add up to the rounded sum."""
    keys = sorted(amounts, key=_order)
    parts = apportion([amounts[key].usd for key in keys], MICRO_USD)
    return {key: decimal_of(usd) for key, usd in zip(keys, parts, strict=True)}


def cents(values: Iterable[Decimal]) -> Iterator[Decimal]:
    """Yield the values in whole cents that add up to the rounded sum."""
    for usd in apportion([Fraction(value) for value in values], CENT):
        yield decimal_of(usd, 2)


def _order(key: LineKey) -> tuple[str, ...]:
    numbered = (key.day, key.site, key.resource, f"{key.job:020}", key.use, key.user, key.account)
    return (*numbered, key.name, key.instrument)
