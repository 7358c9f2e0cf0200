"""Rows of AWS's cost report for EC2 instances, and the times of instances in the burst controller's decision log.

Source: AWS Data Exports User Guide, CUR 2.0 table dictionary: line_item_* columns; the legacy CUR has the same as lineItem/*, as
CSV. Usage types of running instances contain BoxUsage, SpotUsage or another word of USAGE_TYPES (EC2 User Guide, usage reports).
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from landbridge.findings import Finding
from landbridge.timestamps import day_of, parse_iso

COLUMNS = {
    "resource": ("line_item_resource_id", "lineItem/ResourceId"),
    "start": ("line_item_usage_start_date", "lineItem/UsageStartDate"),
    "amount": ("line_item_usage_amount", "lineItem/UsageAmount"),
    "usd": ("line_item_unblended_cost", "lineItem/UnblendedCost"),
    "usage": ("line_item_usage_type", "lineItem/UsageType"),
}
USAGE_TYPES = ("BoxUsage", "SpotUsage", "DedicatedUsage", "HeavyUsage", "ReservationUsage", "CapacityBlock")


@dataclass(frozen=True, slots=True)
class InvoicedTime:
    """Hours and cost of one instance on one day in UTC, by AWS's cost report."""

    hours: float
    usd: Fraction


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


def invoiced_times(
    lines: Iterable[str], file: str | None = None
) -> tuple[dict[tuple[str, str], InvoicedTime], list[Finding]]:
    """Return the hours and the cost of each instance and day from a cost report as CSV, and findings of its lines."""
    reader = csv.DictReader(lines)
    names = {
        value: next((name for name in known if name in (reader.fieldnames or ())), None)
        for value, known in COLUMNS.items()
    }
    if missing := [COLUMNS[value][0] for value, name in names.items() if name is None]:
        fix = "export the cost report as CSV with resource ids"
        return {}, [Finding("invoice-columns", f"columns are missing: {', '.join(missing)}", (), fix, file=file)]
    hours: dict[tuple[str, str], float] = defaultdict(float)
    usd: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    findings = []
    for row in reader:
        values = {value: (row[name] or "") if name is not None else "" for value, name in names.items()}
        if not values["resource"].startswith("i-") or not any(word in values["usage"] for word in USAGE_TYPES):
            continue
        start = parse_iso(values["start"])
        try:
            amount, cost = float(values["amount"]), Fraction(values["usd"])
        except ValueError:
            start = None
            amount, cost = 0.0, Fraction(0)
        if start is None:
            message = f"{values['resource']}: start, amount or cost is not valid"
            findings.append(Finding("invoice-line", message, file=file, line=reader.line_num))
            continue
        key = (values["resource"], day_of(start))
        hours[key] += amount
        usd[key] += cost
    return {key: InvoicedTime(hours[key], usd[key]) for key in hours}, findings


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
