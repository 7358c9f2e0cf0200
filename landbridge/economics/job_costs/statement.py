"""Statement of a month: owned nodes, nodes in AWS and transfers as lines whose sum is the bill, with energy and emissions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from landbridge.catalog.carbon import carbon
from landbridge.catalog.hardware.gpu_power import recorded_on, recorded_shares
from landbridge.economics.job_costs.doubts import doubts
from landbridge.economics.job_costs.lines import (
    Amounts,
    LineAmounts,
    LineKey,
    MonthBill,
    MonthStatement,
    StatementLine,
    rounded,
)
from landbridge.economics.job_costs.nodes import RatedNodes, rated_nodes
from landbridge.economics.job_costs.owned import AllocatedShare, owned_amounts, shares_by_node
from landbridge.economics.job_costs.paid import PaidTime, paid_amounts
from landbridge.economics.job_costs.transfers import transfer_amounts
from landbridge.environment import Environment
from landbridge.findings import Finding, Severity
from landbridge.timestamps import month_end, month_of, month_start
from landbridge.trace.allocations import Allocation, NodeEvent

JOULES_PER_KWH = 3_600_000
MODELLED = "modelled"
NOTE_ELECTRICITY = (
    "The electricity in the dollars is that of the nodes' powers; measured energy changes only kWh and CO2e."
)


@dataclass(frozen=True, slots=True)
class Records:
    """Recorded inputs of a statement.

    `spent` is the journal's spending by month, account and pool, `joules` the measured energy of the GPUs by job, `ledger`
    the lines of the ledger of transfers, `grid` the site's electric grid in carbon.yaml, and
    `queued` the numbers of the jobs in squeue; None: not known.
    """

    allocations: Sequence[Allocation] = ()
    events: Sequence[NodeEvent] = ()
    charges: Sequence[PaidTime] = ()
    spent: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    ledger: Sequence[Mapping[str, Any]] = ()
    joules: Mapping[int, float] = field(default_factory=dict)
    grid: str | None = None
    queued: Collection[int] | None = None


def statement(environment: Environment, records: Records, month: str, now: float) -> MonthStatement:
    """Return the statement of a month in UTC, such as 2026-11, or of its part before `now`."""
    start = int(month_start(month))
    end = max(start, min(int(month_end(start)), int(now)))
    groups = rated_nodes(environment)
    shares, unknown = shares_by_node(records.allocations, groups)
    site = [group for group in groups if group.site == "onprem"]
    pools = [group for group in groups if group.site == "aws"]
    charges = [charge for charge in records.charges if charge.day.startswith(month)]
    spent = {(account, pool): usd for (each, account, pool), usd in records.spent.items() if each == month}
    owned, owned_bill = owned_amounts(site, shares, records.events, start, end)
    paid, journal_bill = paid_amounts(pools, shares, charges, spent, start, end)
    moved, transfer_bill = transfer_amounts(records.ledger, month)
    amounts = {**owned, **paid, **moved}
    lines = tuple(_lines(amounts, _measured(records, groups), _grams(environment, records.grid)))
    return MonthStatement(
        month,
        end,
        lines,
        MonthBill(owned_bill, journal_bill, transfer_bill),
        (
            *_findings(site, pools, shares, unknown, charges, start, end),
            *doubts(groups, shares, records.queued, start, end),
        ),
        ((NOTE_ELECTRICITY,) if site else ()) + ((note_modelled(),) if any(map(_is_modelled, lines)) else ()),
    )


def note_modelled() -> str:
    """Return the error of modelled energy: the model has GPUs at their maximum power, which few jobs need."""
    idle, jobs = recorded_shares()
    return (
        f"Modelled energy is an upper limit, with GPUs at their maximum power: recorded ones took {idle[0]} to {idle[-1]} percent of it"
        f" without a job, and {jobs[0]} to {jobs[-1]} percent in training loops ({recorded_on()})."
    )


def _is_modelled(line: StatementLine) -> bool:
    return line.energy == MODELLED


def months_of(records: Records, jobs: Collection[int], now: float) -> list[str]:
    """Return the months in UTC in which jobs ran or were charged."""
    months = {charge.day[:7] for charge in records.charges if charge.job in jobs}
    for allocation in records.allocations:
        if allocation.job in jobs:
            at, end = float(allocation.start), now if allocation.end is None else allocation.end
            while at < end:
                months.add(month_of(at))
                at = month_end(at)
    return sorted(months)


def _lines(
    amounts: LineAmounts, measured: Mapping[int, Fraction], grams: Mapping[str, Fraction | None]
) -> Iterator[StatementLine]:
    for key, usd in rounded(amounts).items():
        energy, how = _energy(key, amounts[key], measured)
        factor = grams[key.site]
        yield StatementLine(
            key,
            usd,
            gpu_hours=float(amounts[key].gpu_seconds / 3600),
            node_hours=float(amounts[key].node_seconds / 3600),
            kwh=None if energy is None else float(energy),
            energy=how,
            co2e_kg=None if energy is None or factor is None else float(energy * factor / 1000),
        )


def _energy(key: LineKey, amount: Amounts, measured: Mapping[int, Fraction]) -> tuple[Fraction | None, str]:
    """Return the energy of a line in kWh, and whether it is measured, modelled or unknown."""
    if key.job in measured and amount.gpu_seconds:
        return measured[key.job] * amount.gpu_seconds, "measured, GPUs only"
    return (None, "unknown") if amount.kwh is None else (amount.kwh, MODELLED)


def _measured(records: Records, groups: Iterable[RatedNodes]) -> dict[int, Fraction]:
    """Return the measured energy of each job in kWh for one of its GPU-seconds, with the PUE of its nodes."""
    group_of = {name: group for group in groups for name in group.names}
    gpu_seconds: dict[int, int] = defaultdict(int)
    factor: dict[int, Fraction] = {}
    for allocation in records.allocations:
        if allocation.job in records.joules and allocation.end is not None:
            gpu_seconds[allocation.job] += allocation.gpus * (allocation.end - allocation.start)
            group = next((group_of[node] for node in allocation.nodes if node in group_of), None)
            factor[allocation.job] = group.pue if group is not None else Fraction(1)
    return {
        job: Fraction(records.joules[job]) * factor[job] / JOULES_PER_KWH / seconds
        for job, seconds in gpu_seconds.items()
        if seconds
    }


def _grams(environment: Environment, grid: str | None) -> dict[str, Fraction | None]:
    """Return the grams of CO2 equivalents for a kWh by site; None if they are not known."""
    facts = carbon()
    site, region = facts.grids.get(grid or ""), facts.of_region(environment.region)
    return {
        name: Fraction(Decimal(repr(grid_facts.grams_kwh))) if grid_facts is not None else None
        for name, grid_facts in (("onprem", site), ("aws", region))
    }


def _findings(
    site: Iterable[RatedNodes],
    pools: Iterable[RatedNodes],
    shares: Mapping[str, Sequence[AllocatedShare]],
    unknown: Mapping[str, Sequence[Allocation]],
    charges: Sequence[PaidTime],
    start: int,
    end: int,
) -> Iterator[Finding]:
    for group in site:
        if group.rate is None:
            yield Finding(
                "cost-no-price", f"{group.resource} has no cost: {group.missing}", ("onprem", "costs", "nodes")
            )
    for node, allocations in sorted(unknown.items()):
        jobs = [allocation for allocation in allocations if allocation.seconds(start, end)]
        if jobs:
            message = (
                f"{len(jobs)} jobs ran on {node}, which is not a node of the environment; their time there has no cost"
            )
            yield Finding("cost-unknown-node", message, severity=Severity.WARNING)
    if unpriced := sum(charge.unpriced_seconds for charge in charges):
        message = f"{unpriced / 3600:,.1f} node-hours in AWS have no known price and are in no sum"
        yield Finding("cost-no-price", message, ("burst", "prices"), "set burst.prices")
    charged = {charge.job for charge in charges}
    for pool in pools:
        for node in pool.names:
            for share in shares.get(node, ()):
                allocation = share.allocation
                if allocation.seconds(start, end) and allocation.job not in charged:
                    charged.add(allocation.job)
                    message = f"job {allocation.name} ran on {node}, and the journal has no charge for it"
                    fix = "its cost is in an `unitemized` line, or its instance runs and is charged when it ends"
                    yield Finding("cost-no-charge", message, (), fix, Severity.WARNING)
