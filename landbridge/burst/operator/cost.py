"""Cost of instance-hours by job, account, user or pool, from the journal's charges and running instances. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from landbridge.burst.model import Charge, ChargeKind, State
from landbridge.burst.reconcile.budget import accrued
from landbridge.burst.slurm.accounting import AccountedJob

#: Smaller differences are errors of floating-point sums.
SMALLEST_USD = 0.005
#: First and last day of a report without limits.
ALL_DAYS = ("0000-00-00", "9999-99-99")


class CostBy(StrEnum):
    """Grouping of the lines of a cost report."""

    JOB = "job"
    ACCOUNT = "account"
    USER = "user"
    POOL = "pool"


@dataclass(frozen=True, slots=True)
class CostLine:
    """Line of a cost report. None: not known; an empty text: there is none, such as the user of idle time.

    `usd` is in the journal's spending. `running_usd` is the cost since then of instances that run now, and is not in
    `usd`; a later report has it there. `unpriced_seconds`: node-seconds whose price is not known, in neither sum; `usd`
    is None if that is true of all. `gpu_hours` are those of the whole node, or the job's share of a shared one.
    """

    kind: ChargeKind
    job: int | None = None
    account: str | None = None
    user: str | None = None
    partition: str | None = None
    pool: str | None = None
    state: str | None = None
    node_seconds: float = 0.0
    gpu_hours: float | None = None
    usd: float | None = None
    running_usd: float = 0.0
    unpriced_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Unitemized:
    """Spending of a month that is in no line: it was spent before the journal had charges, their days are deleted, or
    they were lost with a journal; negative if the charges are more than the spending."""

    month: str
    account: str
    pool: str
    usd: float


@dataclass(frozen=True, slots=True)
class CostReport:
    """Lines by `by`, the most expensive first, and the spending of these months that is in no line."""

    by: CostBy
    lines: tuple[CostLine, ...]
    unitemized: tuple[Unitemized, ...]

    @property
    def usd(self) -> float:
        """Return the sum of the lines without running instances."""
        return sum(line.usd or 0.0 for line in self.lines)

    @property
    def running_usd(self) -> float:
        return sum(line.running_usd for line in self.lines)


#: Fields that the lines of each grouping have.
COLUMNS: Mapping[CostBy, Sequence[str]] = {
    CostBy.JOB: ("job", "kind", "account", "user", "partition", "pool", "state"),
    CostBy.ACCOUNT: ("account", "kind"),
    CostBy.USER: ("user", "kind"),
    CostBy.POOL: ("pool", "kind"),
}
NUMBERS = ("node_seconds", "gpu_hours", "usd", "running_usd", "unpriced_seconds")


def cost_report(
    state: State,
    charges: Sequence[Charge],
    by: CostBy,
    jobs: Mapping[int, AccountedJob],
    gpus: Mapping[str, int],
    now: float,
    days: tuple[str, str] = ALL_DAYS,
) -> CostReport:
    """Return the costs of the days from the first to the second, both included.

    `charges`: all of the journal; `jobs`: those that accounting knows; `gpus`: GPUs of each known instance type.
    """
    groups: dict[tuple[object, ...], list[tuple[Charge, bool]]] = {}
    for charge, is_running in (
        *((charge, False) for charge in charges),
        *((charge, True) for charge in running_charges(state, now)),
    ):
        if days[0] <= charge.key.day <= days[1]:
            groups.setdefault(_group(charge, by, jobs), []).append((charge, is_running))
    lines = [_line(by, members, jobs, gpus) for members in groups.values()]
    lines.sort(key=lambda line: (-(line.usd or 0.0) - line.running_usd, _name(line), line.kind))
    return CostReport(by, tuple(lines), tuple(unitemized(state, charges, days)))


def running_charges(state: State, now: float) -> list[Charge]:
    """Return the cost of running instances that is not spent yet, until now; at the latest until their leases end."""
    holds = (hold for key, hold in state.holds.items() if key not in state.attempts)
    return [charge for hold in holds for charge in accrued(hold, min(now, hold.end))]


def unitemized(state: State, charges: Iterable[Charge], days: tuple[str, str]) -> Iterable[Unitemized]:
    """Yield the spending, less all charges, of the months in which the days are."""
    itemized: Counter[tuple[str, str, str]] = Counter()
    for charge in charges:
        itemized[_month(charge.key.day), charge.key.account, charge.key.pool] += charge.usd  # type: ignore[assignment]
    for month, account, pool in sorted({*state.spent, *itemized}):
        usd = state.spent.get((month, account, pool), 0.0) - itemized[month, account, pool]
        if _month(days[0]) <= month <= _month(days[1]) and abs(usd) >= SMALLEST_USD:
            yield Unitemized(month, account, pool, usd)


def _month(day: str) -> str:
    return day[: len("2026-11")]


def _group(charge: Charge, by: CostBy, jobs: Mapping[int, AccountedJob]) -> tuple[object, ...]:
    key = charge.key
    match by:
        case CostBy.JOB:
            return key.kind, key.job, key.account, key.pool
        case CostBy.ACCOUNT:
            return key.kind, key.account
        case CostBy.POOL:
            return key.kind, key.pool
    return key.kind, _user(key.job, jobs)


def _user(job: int, jobs: Mapping[int, AccountedJob]) -> str | None:
    if job == 0:
        return ""
    return (jobs[job].user or None) if job in jobs else None


def _line(
    by: CostBy, members: Sequence[tuple[Charge, bool]], jobs: Mapping[int, AccountedJob], gpus: Mapping[str, int]
) -> CostLine:
    key = members[0][0].key
    job = jobs.get(key.job)
    of_job: dict[str, str | None] = {
        "user": _user(key.job, jobs),
        "partition": "" if key.job == 0 else job.partition or None if job else None,
        "state": "" if key.job == 0 else job.state or None if job else None,
    }
    fields = {"job": key.job, "account": key.account, "pool": key.pool, **of_job}
    seconds = sum(charge.node_seconds for charge, _ in members)
    unpriced = sum(charge.unpriced_seconds for charge, _ in members)
    hours = [(gpus.get(charge.key.instance_type), charge.node_seconds / 3600) for charge, _ in members]
    return CostLine(
        key.kind,
        **{name: value for name, value in fields.items() if name in COLUMNS[by]},  # type: ignore[arg-type]
        node_seconds=seconds,
        gpu_hours=None if any(count is None for count, _ in hours) else sum((n or 0) * time for n, time in hours),
        usd=None if unpriced >= seconds > 0 else sum(charge.usd for charge, is_running in members if not is_running),
        running_usd=sum(charge.usd for charge, is_running in members if is_running),
        unpriced_seconds=unpriced,
    )


def _name(line: CostLine) -> tuple[str, ...]:
    return tuple(str(value) for value in (line.job, line.account, line.user, line.pool))
