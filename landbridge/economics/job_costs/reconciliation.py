"""Comparison of AWS's cost report with the burst controller's records: hours by instance and day, dollars by pool and day."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from landbridge.economics.job_costs.invoice import InvoicedTime, LoggedInstance
from landbridge.economics.job_costs.money import exact
from landbridge.economics.job_costs.paid import PaidTime
from landbridge.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class PoolDay:
    """Dollars of a pool on a day, by the cost report and by the journal."""

    day: str
    pool: str
    invoiced: Fraction
    journal: Fraction

    @property
    def difference(self) -> Fraction:
        """Return what the journal has more than the cost report; positive for spot, charged at its highest price."""
        return self.journal - self.invoiced


def pool_days(
    invoiced: Mapping[tuple[str, str], InvoicedTime],
    launched: Mapping[str, LoggedInstance],
    charges: Iterable[PaidTime],
) -> list[PoolDay]:
    """Return the dollars of the pools for the days of the cost report. Instances that are not launched here are left out."""
    days = {day for _, day in invoiced}
    of_aws: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    of_journal: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for (instance, day), time in invoiced.items():
        if instance in launched:
            of_aws[day, launched[instance].pool] += time.usd
    for charge in charges:
        if charge.day in days:
            of_journal[charge.day, charge.pool] += exact(charge.usd)
    return [PoolDay(*key, of_aws[key], of_journal[key]) for key in sorted({*of_aws, *of_journal})]


def unused_reservations(unused: Mapping[tuple[str, str], InvoicedTime]) -> Iterator[Finding]:
    """Yield a finding for each capacity reservation that cost money without an instance."""
    by_reservation: dict[str, list[InvoicedTime]] = defaultdict(list)
    for (reservation, _), time in unused.items():
        by_reservation[reservation].append(time)
    for reservation, times in sorted(by_reservation.items()):
        hours, usd = sum(time.hours for time in times), float(sum(time.usd for time in times))
        message = (
            f"{reservation} was unused for {hours:,.1f} instance-hours, which cost {usd:,.2f} USD and are in no journal"
        )
        fix = "cancel it, or let a pool use it: no job and no account pays for this time"
        yield Finding("invoice-unused-reservation", message, (), fix, Severity.WARNING)


def reconcile(
    invoiced: Mapping[tuple[str, str], InvoicedTime],
    launched: Mapping[str, LoggedInstance],
    charges: Iterable[PaidTime],
    hours: float,
    share: float,
) -> Iterator[Finding]:
    """Yield the differences above `hours` for an instance and day, and above a `share` of the dollars of a pool and day."""
    days = {day for _, day in invoiced}
    for instance, day in sorted({*invoiced, *((instance, day) for instance in launched for day in days)}):
        time, known = invoiced.get((instance, day)), launched.get(instance)
        expected = known.hours_on(day) if known is not None else 0.0
        invoiced_hours = time.hours if time is not None else 0.0
        if known is None:
            message = f"{instance} ran {invoiced_hours:.2f} hours on {day} for {float(time.usd) if time else 0:.2f} USD and was not launched by the burst controller"
            fix = "another program launched it, or the decision log does not go back to its launch"
            yield Finding("invoice-unknown-instance", message, (), fix, Severity.WARNING)
        elif time is None and expected > hours:
            message = f"{instance} of pool {known.pool} ran {expected:.2f} hours on {day} and is not in the cost report"
            yield Finding("invoice-missing-instance", message, (), "a report is complete some days after the month")
        elif time is not None and abs(expected - invoiced_hours) > hours:
            message = f"{instance} of pool {known.pool} ran {expected:.2f} hours on {day}; the cost report has {invoiced_hours:.2f}"
            fix = "if the report has twice the hours, the file may have two versions of it: their ids differ"
            yield Finding("invoice-hours", message, (), fix)
    for each in pool_days(invoiced, launched, charges):
        if abs(each.difference) > share * max(each.invoiced, each.journal):
            message = f"pool {each.pool} on {each.day}: the journal has {float(each.journal):,.2f} USD, the cost report {float(each.invoiced):,.2f}"
            fix = (
                "the journal has list prices, and of spot the highest: a Savings Plan, a reservation, a discount or a credit "
                "lowers AWS's cost; else refresh the prices, or set burst.prices"
            )
            yield Finding("invoice-usd", message, (), fix, Severity.WARNING)
