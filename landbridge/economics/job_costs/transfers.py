"""Cost of the month's transfers from the lines of the ledger of `landbridge data`: requests and traffic, and storage."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from landbridge.economics.job_costs.lines import Amounts, LineAmounts, LineKey, Use
from landbridge.economics.job_costs.money import exact

RESOURCE, INSTRUMENT = "s3", "on demand"


def transfer_amounts(lines: Iterable[Mapping[str, Any]], month: str) -> tuple[LineAmounts, Fraction]:
    """Return the amounts of the transfers that ended in a month in UTC, at the highest prices, and their sum.

    What a transfer has stored costs one month of storage, in the month in which it ended: the ledger does not record
    deletions. A line of another form has no amount.
    """
    begun: dict[str, Mapping[str, Any]] = {}
    amounts: LineAmounts = defaultdict(Amounts)
    for line in lines:
        transfer = str(line.get("transfer", ""))
        if line.get("event") == "begin":
            begun[transfer] = line
            continue
        day = str(line.get("time", ""))[: len("2026-11-25")]
        cost = line.get("cost")
        if line.get("event") != "end" or not day.startswith(month) or not isinstance(cost, Mapping):
            continue
        first = begun.get(transfer, {})
        for use, usd in ((Use.TRANSFER, _highest(cost, "usd")), (Use.STORAGE, _highest(cost, "usd_month"))):
            if usd:
                dataset, user = str(line.get("dataset", "")), str(first.get("user", ""))
                key = LineKey(day, "aws", RESOURCE, INSTRUMENT, use, 0, dataset, user)
                amounts[key].add(usd, Fraction(0), Fraction(0), None)
    return dict(amounts), sum((amount.usd for amount in amounts.values()), Fraction(0))


def _highest(cost: Mapping[str, Any], name: str) -> Fraction:
    values = cost.get(name)
    return exact(float(values[-1])) if isinstance(values, list) and values else Fraction(0)
