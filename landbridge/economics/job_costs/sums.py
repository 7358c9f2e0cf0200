"""Sums of a statement's lines: one for each use of a job, user or account, over all days and nodes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from landbridge.economics.job_costs.lines import LineKey, StatementLine, cents

GroupKey = tuple[str, ...]
#: Columns of a table whose rows are jobs, users or accounts, by use and site.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "job": ("job", "use", "site", "instrument", "user", "account"),
    "user": ("user", "use", "site", "instrument", "account"),
    "account": ("account", "use", "site", "instrument"),
}


@dataclass(slots=True)
class UseSum:
    """Sum of lines. `kwh` and `co2e_kg` leave out lines for which they are not known; `energy` lists their origins."""

    group: GroupKey
    usd: Decimal = Decimal(0)
    gpu_hours: float = 0.0
    node_hours: float = 0.0
    kwh: float = 0.0
    co2e_kg: float = 0.0
    energy: set[str] = field(default_factory=set)
    has_co2e: bool = False

    def add(self, line: StatementLine) -> None:
        """Add a line."""
        self.usd += line.usd
        self.gpu_hours += line.gpu_hours
        self.node_hours += line.node_hours
        self.kwh += line.kwh or 0.0
        self.co2e_kg += line.co2e_kg or 0.0
        self.energy.add(line.energy)
        self.has_co2e = self.has_co2e or line.co2e_kg is not None

    def merge(self, other: "UseSum") -> None:
        """Add another sum."""
        self.usd += other.usd
        self.gpu_hours += other.gpu_hours
        self.node_hours += other.node_hours
        self.kwh += other.kwh
        self.co2e_kg += other.co2e_kg
        self.energy |= other.energy
        self.has_co2e = self.has_co2e or other.has_co2e


def columns_of(columns: Sequence[str]) -> Callable[[LineKey], GroupKey]:
    """Return the group of a line by columns. Without a value, as the job of idle time, a column has `-`."""
    fields = ["name" if column == "job" else column for column in columns]
    return lambda key: tuple(str(getattr(key, field)) or "-" for field in fields)


def by_use(key: LineKey) -> GroupKey:
    """Return the columns of a table by use."""
    return (key.use, key.site, key.instrument, key.account or "-")


def sums(lines: Iterable[StatementLine], group: Callable[[LineKey], GroupKey]) -> list[UseSum]:
    """Return the sums by group, the most expensive first."""
    group_sums: dict[GroupKey, UseSum] = {}
    for line in lines:
        key = group(line.key)
        group_sums.setdefault(key, UseSum(key)).add(line)
    return sorted(group_sums.values(), key=lambda each: (-each.usd, each.group))


def in_cents(rows: Sequence[UseSum]) -> list[Decimal]:
    """Return the dollars of the rows in cents, which add up to the rounded sum."""
    return list(cents(row.usd for row in rows))


def is_job(text: str, number: int, name: str) -> bool:
    """Return whether a job is meant by its number, its id, or the id of its array or heterogeneous job."""
    return text in (str(number), name) or name.startswith((f"{text}_", f"{text}+"))


def of_job(text: str) -> Callable[[LineKey], bool]:
    """Return the choice of the lines of a job."""
    return lambda key: key.job != 0 and is_job(text, key.job, key.name)


def of_user(user: str) -> Callable[[LineKey], bool]:
    """Return the choice of the lines of a user's jobs and transfers."""
    return lambda key: key.user == user


def of_account(account: str) -> Callable[[LineKey], bool]:
    """Return the choice of the lines of an account, with the boot and idle time that it pays."""
    return lambda key: key.account == account
