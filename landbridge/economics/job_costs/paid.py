"""Cost of nodes in AWS from the burst journal's charges: the share of each job in the GPUs of the nodes that it paid for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from landbridge.economics.job_costs.lines import Amounts, LineAmounts, LineKey, Use
from landbridge.economics.job_costs.money import exact
from landbridge.economics.job_costs.nodes import RatedNodes
from landbridge.economics.job_costs.owned import AllocatedShare, job_key
from landbridge.timestamps import day_of, parse_iso

DAY = 86_400
#: Smaller differences between the journal's charges and its sums are errors of floating-point sums.
SMALLEST_USD = Fraction(1, 100_000)


@dataclass(frozen=True, slots=True)
class PaidTime:
    """Charge of the burst journal: the cost of node-seconds of a day in UTC; `job` is 0 for time without a job."""

    day: str
    pool: str
    account: str
    job: int
    kind: Literal["job", "boot", "idle"]
    node_seconds: float
    usd: float
    unpriced_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Paid:
    """Charges of one job on a day in a pool."""

    job: int
    account: str
    usd: Fraction
    seconds: Fraction


@dataclass(frozen=True, slots=True)
class _PoolShares:
    """Pool with the shares of its nodes by day and node, and the last share of each job."""

    group: RatedNodes
    by_day: Mapping[str, Mapping[str, Sequence[AllocatedShare]]]
    of_job: Mapping[int, AllocatedShare]


def paid_amounts(
    pools: Iterable[RatedNodes],
    shares: Mapping[str, Sequence[AllocatedShare]],
    charges: Sequence[PaidTime],
    spent: Mapping[tuple[str, str], float],
    start: int,
    end: int,
) -> tuple[LineAmounts, Fraction]:
    """Return the amounts of a month's charges, and the journal's bill of the month: `spent`, by account and pool.

    The journal charges whole nodes, in equal parts to the jobs on them. Here each job pays for its GPUs, and the GPUs that
    no job had are idle: jobs that have shared nodes on a day are divided together. What is spent but in no charge is a line
    of its own.
    """
    by_name = {pool.resource: _pool_shares(pool, shares, start, end) for pool in pools}
    for name in sorted({charge.pool for charge in charges} | {pool for _, pool in spent}):
        by_name.setdefault(name, _PoolShares(RatedNodes(name, (), "aws", "unknown", 1, has_gpus=False), {}, {}))
    amounts: LineAmounts = defaultdict(Amounts)
    jobs: dict[tuple[str, str], dict[tuple[int, str], list[PaidTime]]] = defaultdict(lambda: defaultdict(list))
    for charge in charges:
        if charge.kind == "job":
            jobs[charge.day, charge.pool][charge.job, charge.account].append(charge)
        else:
            _add_other(amounts, by_name[charge.pool], charge)
    for (day, name), by_job in jobs.items():
        paid = [_paid(job, account, members) for (job, account), members in by_job.items()]
        for together in _together(paid, by_name[name], day):
            _divide(amounts, by_name[name], day, together)
    bill = _add_rest(amounts, charges, spent, by_name, day_of(start))
    return dict(amounts), bill


def _pool_shares(pool: RatedNodes, shares: Mapping[str, Sequence[AllocatedShare]], start: int, end: int) -> _PoolShares:
    by_day: dict[str, dict[str, list[AllocatedShare]]] = defaultdict(lambda: defaultdict(list))
    of_job: dict[int, AllocatedShare] = {}
    for node in pool.names:
        for share in shares.get(node, ()):
            of_job[share.allocation.job] = share
            first = max(start, share.allocation.start) // DAY * DAY
            for midnight in range(first, end, DAY):
                if not share.allocation.seconds(midnight, midnight + DAY):
                    break
                by_day[day_of(midnight)][node].append(share)
    return _PoolShares(pool, by_day, of_job)


def _paid(job: int, account: str, members: Sequence[PaidTime]) -> _Paid:
    usd = sum((exact(member.usd) for member in members), Fraction(0))
    return _Paid(job, account, usd, sum((exact(member.node_seconds) for member in members), Fraction(0)))


def _add_other(amounts: LineAmounts, pool: _PoolShares, charge: PaidTime) -> None:
    """Add a charge for boot or idle time."""
    known, group = pool.of_job.get(charge.job), pool.group
    key = LineKey(
        charge.day,
        "aws",
        group.resource,
        group.instrument,
        Use.BOOT if charge.kind == "boot" else Use.IDLE,
        charge.job,
        known.allocation.name if known is not None else str(charge.job) if charge.job else "",
        known.allocation.user if known is not None else "",
        charge.account,
    )
    _add(amounts, key, group, exact(charge.usd), exact(charge.node_seconds))


def _together(paid: Sequence[_Paid], pool: _PoolShares, day: str) -> Iterator[list[_Paid]]:
    """Yield the charges of jobs that have shared nodes on the day, directly or by a third job."""
    root = {item.job: item.job for item in paid}

    def find(job: int) -> int:
        while root[job] != job:
            job = root[job]
        return job

    for on_node in pool.by_day.get(day, {}).values():
        ids = [share.allocation.job for share in on_node if share.allocation.job in root]
        for job in ids[1:]:
            root[find(job)] = find(ids[0])
    members: dict[int, list[_Paid]] = defaultdict(list)
    for item in paid:
        members[find(item.job)].append(item)
    yield from members.values()


def _divide(amounts: LineAmounts, pool: _PoolShares, day: str, paid: Sequence[_Paid]) -> None:
    """Divide the charges of jobs by the GPUs and seconds that they had; the rest of the busy nodes is idle."""
    usd, seconds = sum((item.usd for item in paid), Fraction(0)), sum((item.seconds for item in paid), Fraction(0))
    account_of, group = {item.job: item.account for item in paid}, pool.group
    had: dict[LineKey, Fraction] = defaultdict(Fraction)
    busy = Fraction(0)
    for on_node in pool.by_day.get(day, {}).values():
        for length, running in _busy_parts([each for each in on_node if each.allocation.job in account_of], day):
            units = max(Fraction(group.units), sum((share.units for share in running), Fraction(0)))
            busy += length
            for share in running:
                key = job_key(share.allocation, day, group, account_of[share.allocation.job])
                had[key] += share.units / units * length
    for item in paid if not busy else ():
        # Accounting has no run of these jobs on the day: each keeps its charge.
        _add(amounts, _key_of(pool, day, item), group, item.usd, item.seconds)
    for key, unit_seconds in had.items():
        _add(amounts, key, group, usd * unit_seconds / busy, seconds * unit_seconds / busy)
    idle = 1 - sum(had.values(), Fraction(0)) / busy if busy else Fraction(0)
    for item in paid if idle else ():
        key = LineKey(day, "aws", group.resource, group.instrument, Use.IDLE, account=item.account)
        _add(amounts, key, group, item.usd * idle, item.seconds * idle)


def _key_of(pool: _PoolShares, day: str, item: _Paid) -> LineKey:
    """Return the key of a job's line by its last run, if accounting has one."""
    group, share = pool.group, pool.of_job.get(item.job)
    if share is not None:
        return job_key(share.allocation, day, group, item.account)
    place = (day, group.site, group.resource, group.instrument)
    return LineKey(*place, Use.UNKNOWN, item.job, str(item.job), "", item.account)


def _busy_parts(shares: Sequence[AllocatedShare], day: str) -> Iterator[tuple[int, list[AllocatedShare]]]:
    """Yield the seconds between starts and ends on the day in which an allocation runs, and those that run then."""
    start = int(parse_iso(f"{day}T00:00:00") or 0)
    end = start + DAY
    times = {max(start, each.allocation.start) for each in shares}
    times |= {end if each.allocation.end is None else min(end, each.allocation.end) for each in shares}
    for first, last in pairwise(sorted(times)):
        if running := [each for each in shares if each.allocation.seconds(first, last)]:
            yield last - first, running


def _add_rest(
    amounts: LineAmounts,
    charges: Sequence[PaidTime],
    spent: Mapping[tuple[str, str], float],
    by_name: Mapping[str, _PoolShares],
    first_day: str,
) -> Fraction:
    """Add what is spent but in no charge, and return the whole spending.

    For a smaller difference than SMALLEST_USD the charges count, so that their sum is the bill.
    """
    sums: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for charge in charges:
        sums[charge.account, charge.pool] += exact(charge.usd)
    bill, day = Fraction(0), max((charge.day for charge in charges), default=first_day)
    for account, pool in sorted({*spent, *sums}):
        rest = exact(spent.get((account, pool), 0.0)) - sums[account, pool]
        rest = rest if abs(rest) >= SMALLEST_USD else Fraction(0)
        bill += sums[account, pool] + rest
        if rest:
            group = by_name[pool].group
            key = LineKey(day, "aws", group.resource, group.instrument, Use.UNITEMIZED, account=account)
            amounts[key].add(rest, Fraction(0), Fraction(0), None)
    return bill


def _add(amounts: LineAmounts, key: LineKey, group: RatedNodes, usd: Fraction, seconds: Fraction) -> None:
    gpu_seconds = seconds * group.units if group.has_gpus else Fraction(0)
    energy = None if group.load_kw is None else seconds * group.load_kw / 3600
    amounts[key].add(usd, gpu_seconds, seconds, energy)
