"""Rows of AWS's cost report for EC2 instances, and the times of instances in the burst controller's decision log.

Source: AWS Data Exports User Guide, CUR 2.0 table dictionary: line_item_*, identity_*, savings_plan_* and reservation_* columns; the
legacy CUR has the same as lineItem/* and so on, as CSV. Usage types of running instances contain BoxUsage, SpotUsage or another
word of USAGE_TYPES (EC2 User Guide, usage reports); those of capacity reservations are in "Monitoring your On-Demand capacity
reservations" of the first guide: UnusedBox and UnusedDed cost money, with a resource id that contains cr-.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from landbridge.findings import Finding, Severity
from landbridge.timestamps import day_of, parse_iso

COLUMNS = {
    "resource": ("line_item_resource_id", "lineItem/ResourceId"),
    "start": ("line_item_usage_start_date", "lineItem/UsageStartDate"),
    "amount": ("line_item_usage_amount", "lineItem/UsageAmount"),
    "usd": ("line_item_unblended_cost", "lineItem/UnblendedCost"),
    "usage": ("line_item_usage_type", "lineItem/UsageType"),
    "type": ("line_item_line_item_type", "lineItem/LineItemType"),
    "currency": ("line_item_currency_code", "lineItem/CurrencyCode"),
    "id": ("identity_line_item_id", "identity/LineItemId"),
}
#: Column with the cost of the rows of a type that are usage: those that a plan or a reservation covers have a price of their own.
COSTS = {
    "Usage": COLUMNS["usd"],
    "SavingsPlanCoveredUsage": ("savings_plan_savings_plan_effective_cost", "savingsPlan/SavingsPlanEffectiveCost"),
    "DiscountedUsage": ("reservation_effective_cost", "reservation/EffectiveCost"),
}
#: Types that take away the list price of covered usage, which is not counted. Other types, such as Credit and EdpDiscount, have
#: dollars and no hours.
NOT_COUNTED = frozenset({"SavingsPlanNegation", "Tax"})
CURRENCY = "USD"
UNUSED_TYPES = ("UnusedBox", "UnusedDed")
USAGE_TYPES = ("BoxUsage", "SpotUsage", "DedicatedUsage", "HeavyUsage", "ReservationUsage", "CapacityBlock")


@dataclass(frozen=True, slots=True)
class InvoicedTime:
    """Hours and cost of one instance or capacity reservation on one day in UTC, by AWS's cost report."""

    hours: float
    usd: Fraction


@dataclass(frozen=True, slots=True)
class Invoice:
    """Cost report: times of instances, and of capacity reservations without an instance, by their ids and days."""

    instances: dict[tuple[str, str], InvoicedTime] = field(default_factory=dict)
    unused: dict[tuple[str, str], InvoicedTime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoggedInstance:
    """Instance that the burst controller launched: its pool, and when it was launched and terminated; None: not yet."""

    pool: str
    launched: float
    ended: float | None

    def hours_on(self, day: str) -> float:
        """Return the hours on a day."""
        start = parse_iso(f"{day}T00:00:00") or 0.0
        end = start + 86_400
        return max(0.0, min(end, end if self.ended is None else self.ended) - max(start, self.launched)) / 3600


def read_invoice(lines: Iterable[str], file: str | None = None) -> tuple[Invoice, list[Finding]]:
    """Return the hours and the cost of each instance and day from a cost report as CSV, and findings of its lines.

    A row counts once by its id and start: a file may have a part of the report twice. Without a column, and in a currency other
    than USD, nothing is returned, because the journal is in USD.
    """
    reader = csv.DictReader(lines)
    header = reader.fieldnames or ()
    names = {value: _column(known, header) for value, known in COLUMNS.items()}
    if missing := [COLUMNS[value][0] for value, name in names.items() if name is None]:
        return Invoice(), [_missing(missing, file)]
    costs = {kind: _column(known, header) for kind, known in COSTS.items()}
    findings: list[Finding] = []
    rows: dict[tuple[str, str, str], tuple[int, dict[str, str]]] = {}
    repeated = 0
    for row in reader:
        values = {value: row[name] or "" for value, name in names.items() if name is not None}
        if values["type"] in NOT_COUNTED or _resource(values) is None:
            continue
        if values["currency"] != CURRENCY:
            message = f"the report is in {values['currency'] or 'an unknown currency'}, and the journal in {CURRENCY}"
            fix = f"convert its costs to {CURRENCY} at a rate of your own, and write {CURRENCY} as the currency"
            return Invoice(), [Finding("invoice-currency", message, (), fix, file=file, line=reader.line_num)]
        name = costs.get(values["type"], costs["Usage"])
        if name is None:
            return Invoice(), [_missing([COSTS[values["type"]][0]], file)]
        key = (values["id"], values["start"], values["type"]) if values["id"] else ("", "", str(reader.line_num))
        repeated += key in rows
        rows[key] = (reader.line_num, {**values, "usd": row[name] or ""})
    if repeated:
        message = f"rows with the id and start of an earlier row: {repeated:,}; each counts once, as in the last row"
        findings.append(Finding("invoice-repeated", message, (), None, Severity.WARNING, file=file))
    if not rows:
        message, fix = (
            "no row of it is about an instance",
            "choose the report of the account and the months of the cluster",
        )
        findings.append(Finding("invoice-empty", message, (), fix, Severity.WARNING, file=file))
    return _sums(rows.values(), file, findings), findings


def _sums(rows: Iterable[tuple[int, dict[str, str]]], file: str | None, findings: list[Finding]) -> Invoice:
    sums: dict[tuple[str, str], tuple[float, Fraction]] = defaultdict(lambda: (0.0, Fraction(0)))
    for line, values in rows:
        resource, start = _resource(values) or "", parse_iso(values["start"])
        try:
            amount, cost = float(values["amount"]), Fraction(values["usd"])
        except ValueError:
            start = None
            amount, cost = 0.0, Fraction(0)
        if start is None:
            message = f"{resource}: start, amount or cost is not valid"
            findings.append(Finding("invoice-line", message, file=file, line=line))
            continue
        hours, usd = sums[resource, day_of(start)]
        sums[resource, day_of(start)] = (hours + (amount if values["type"] in COSTS else 0.0), usd + cost)
    times = {key: InvoicedTime(*each) for key, each in sums.items()}
    return Invoice(
        {key: time for key, time in times.items() if key[0].startswith("i-")},
        {key: time for key, time in times.items() if not key[0].startswith("i-")},
    )


def _resource(values: Mapping[str, str]) -> str | None:
    """Return the id of the instance, or of the unused capacity reservation, that a row is about; None for other rows."""
    resource, usage = values["resource"].rpartition("/")[2], values["usage"]
    if resource.startswith("i-") and any(word in usage for word in USAGE_TYPES):
        return resource
    return resource if resource.startswith("cr-") and any(word in usage for word in UNUSED_TYPES) else None


def _column(known: Iterable[str], header: Iterable[str]) -> str | None:
    return next((name for name in known if name in header), None)


def _missing(columns: Iterable[str], file: str | None) -> Finding:
    fix = "export the cost report as CSV with resource ids"
    return Finding("invoice-columns", f"columns are missing: {', '.join(columns)}", (), fix, file=file)


def launched_instances(lines: Iterable[str]) -> dict[str, LoggedInstance]:
    """Return the instances of the decision log by id; a line that is cut off is left out."""
    launches: dict[str, LoggedInstance] = {}
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        at, details = parse_iso(str(record.get("time", ""))), record.get("details")
        if at is None or not isinstance(details, Mapping) or "instances" not in details:
            continue
        match record.get("event"):
            case "launched":
                for instance in dict(details["instances"]).values():
                    launches[instance] = LoggedInstance(str(record.get("pool", "")), at, None)
            case "terminate":
                for instance in details["instances"]:
                    known = launches.get(instance)
                    if known is not None and known.ended is None:
                        launches[instance] = LoggedInstance(known.pool, known.launched, at)
    return launches
