"""Statements of random schedules: the lines add up to the bill, and each job pays for its GPUs and hours, no more."""

from collections import defaultdict
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from landbridge.economics.job_costs.lines import MonthStatement, Use, cents, use_of
from landbridge.economics.job_costs.money import apportion, decimal_of
from landbridge.economics.job_costs.paid import PaidTime
from landbridge.economics.job_costs.statement import Records, statement
from landbridge.plan.cost.owned_inputs import owned_groups
from landbridge.plan.cost.owned_node import onprem_node_hour
from landbridge.timestamps import month_start
from landbridge.trace.allocations import Allocation
from tests.unit.economics.job_costs.schedules import (
    AWS_USD_HOUR,
    GPUS,
    LAST,
    MONTHS,
    OWNED,
    RENTED,
    Drawn,
    allocations,
    charges,
    hours_of,
    jobs,
    priced,
    spent,
)

ENVIRONMENT = priced()
HOURS = {"2026-10": 31 * 24, "2026-11": 30 * 24, "2026-12": 24}
(GROUP,) = owned_groups(ENVIRONMENT)
assert GROUP.inputs is not None
LOAD, IDLE = onprem_node_hour(GROUP.inputs, 1.0).usd, onprem_node_hour(GROUP.inputs, 0.0).usd


def statements(runs: list[Allocation], lost: float = 0.0) -> dict[str, MonthStatement]:
    """Return the statements of the months; `lost` dollars of November are in the journal's sums, but in no charge."""
    paid = charges(runs)
    sums = spent(paid)
    sums["2026-11", "speech", "p5"] = lost
    records = Records(allocations=runs, charges=paid, spent=sums)
    return {month: statement(ENVIRONMENT, records, month, LAST) for month in MONTHS}


@settings(max_examples=25)
@given(st.lists(jobs(), max_size=12), st.sampled_from([0.0, 0.004, 12.345678]))
def test_the_lines_add_up_to_the_bill_and_each_job_pays_its_share(drawn: list[Drawn], lost: float) -> None:
    runs = allocations(drawn)
    for month, result in statements(runs, lost).items():
        assert result.usd == decimal_of(result.bill.usd)
        assert sum(cents(line.usd for line in result.lines)) == decimal_of(result.bill.usd, 2)
        used = sum(run.gpus / len(run.nodes) / GPUS * hours_of(run, node, month) for run in runs for node in OWNED)
        utilisation = used / (len(OWNED) * HOURS[month])
        assert GROUP.inputs is not None
        rate = onprem_node_hour(GROUP.inputs, utilisation).usd
        assert float(result.bill.owned) == pytest.approx(len(OWNED) * HOURS[month] * rate)
        paid = sum(usd for (each, _, _), usd in spent(charges(runs)).items() if each == month)
        paid += lost if month == "2026-11" else 0.0
        assert float(result.bill.journal) == pytest.approx(paid)
        expected: dict[tuple[int, Use], float] = defaultdict(float)
        for run in runs:
            share = run.gpus / len(run.nodes) / GPUS
            for node, usd in (*((node, LOAD) for node in OWNED), *((node, AWS_USD_HOUR) for node in RENTED)):
                if hours := hours_of(run, node, month):
                    expected[run.job, use_of(run.state)] += share * hours * usd
        paid_usd: dict[tuple[int, Use], float] = defaultdict(float)
        for line in result.lines:
            if line.key.job:
                paid_usd[line.key.job, line.key.use] += float(line.usd)
        assert set(paid_usd) == set(expected)
        assert paid_usd == pytest.approx(expected, abs=1e-4)


@settings(max_examples=12)
@given(st.lists(jobs(), max_size=8))
def test_time_and_energy_are_conserved(drawn: list[Drawn]) -> None:
    for month, result in statements(allocations(drawn)).items():
        owned = [line for line in result.lines if line.key.site == "onprem"]
        assert sum(line.node_hours for line in owned) == pytest.approx(len(OWNED) * HOURS[month])
        assert sum(line.gpu_hours for line in owned) == pytest.approx(len(OWNED) * HOURS[month] * GPUS)
        days: dict[str, float] = defaultdict(float)
        for line in owned:
            days[line.key.day] += line.node_hours
        assert {day[:7] for day in days} == {month}
        assert len(days) == HOURS[month] / 24 and all(hours == pytest.approx(2 * 24) for hours in days.values())
        idle = sum(line.kwh or 0 for line in owned if line.key.use is Use.IDLE)
        busy = sum(line.gpu_hours for line in owned if line.key.job) / GPUS
        assert idle == pytest.approx((len(OWNED) * HOURS[month] - busy) * 2.0 * 1.4)


@given(st.lists(st.fractions(-100, 1_000_000), max_size=40), st.sampled_from([Fraction(1, 100), Fraction(1, 7)]))
def test_rounded_parts_add_up_to_the_rounded_sum(amounts: list[Fraction], unit: Fraction) -> None:
    parts = apportion(amounts, unit)
    assert sum(parts) == round(sum(amounts, Fraction(0)) / unit) * unit
    assert all(abs(part - amount) < unit for part, amount in zip(parts, amounts, strict=True))


def test_amounts_have_no_binary_error() -> None:
    assert list(cents([Decimal("0.335")] * 3)) == [Decimal("0.34"), Decimal("0.33"), Decimal("0.33")]
    assert apportion([Fraction(1, 3)] * 3, Fraction(1, 100)) == [
        Fraction(34, 100),
        Fraction(33, 100),
        Fraction(33, 100),
    ]


def any_allocations() -> st.SearchStrategy[list[Allocation]]:
    """Return runs at any second, also on more GPUs than a node has, and on a node that the environment does not have."""
    names = st.sampled_from(["dgx01", "dgx02", "p5-1", "p5-2", "gone01"])
    nodes = st.lists(names, min_size=1, max_size=3, unique=True).map(tuple)
    begin = int(month_start("2026-11")) - 3600

    def run(number: int, start: int, seconds: int, on: tuple[str, ...], gpus: int, *, ended: bool) -> Allocation:
        end = begin + start + seconds if ended else None
        state = "COMPLETED" if ended else "RUNNING"
        return Allocation(number, str(number), "ann", "vision", "all", state, begin + start, end, on, gpus, 8)

    return st.lists(
        st.builds(
            run,
            st.integers(1, 4),
            st.integers(0, 7200),
            st.integers(1, 200_000),
            nodes,
            st.integers(0, 24),
            ended=st.booleans(),
        ),
        max_size=6,
    )


def any_charges() -> st.SearchStrategy[list[PaidTime]]:
    """Return charges that need not agree with the runs."""
    days, kinds = st.sampled_from(["2026-11-01", "2026-11-02", "2026-10-31"]), st.sampled_from(["job", "boot", "idle"])
    charge = st.builds(
        PaidTime,
        days,
        st.sampled_from(["p5", "removed"]),
        st.sampled_from(["vision", "speech", ""]),
        st.integers(0, 6),
        kinds,
        st.floats(0, 1e5),
        st.floats(0, 1e4),
    )
    return st.lists(charge, max_size=8)


@settings(max_examples=40)
@given(any_allocations(), any_charges())
def test_the_lines_add_up_to_the_bill_for_any_records(runs: list[Allocation], paid: list[PaidTime]) -> None:
    now = month_start("2026-11") + 3 * 86_400
    records = Records(allocations=runs, charges=paid, spent=spent(paid))
    for month, hours in (("2026-10", 31 * 24), ("2026-11", 3 * 24)):
        result = statement(ENVIRONMENT, records, month, now)
        assert result.usd == decimal_of(result.bill.usd)
        owned = [line for line in result.lines if line.key.site == "onprem"]
        assert sum(line.node_hours for line in owned) == pytest.approx(len(OWNED) * hours)
        of_month = sum(charge.usd for charge in paid if charge.day.startswith(month))
        assert float(result.bill.journal) == pytest.approx(of_month, abs=1e-4)
        assert all(line.usd >= 0 for line in result.lines)
