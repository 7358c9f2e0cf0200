"""Queries of all price kinds for the instance types of a region; a query that AWS refuses is a finding."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal, RefusalKind, finding_of
from landbridge.catalog import regions
from landbridge.findings import Finding, Severity
from landbridge.live.prices.capacity_blocks import capacity_block_prices
from landbridge.live.prices.on_demand import on_demand_prices
from landbridge.live.prices.savings_plans import savings_plan_prices
from landbridge.live.prices.spot import spot_prices
from landbridge.plan.price_book import NewPrice

NEEDS = (
    "pricing:GetProducts",
    "ec2:DescribeSpotPriceHistory",
    "savingsplans:DescribeSavingsPlansOfferingRates",
    "ec2:DescribeCapacityBlockOfferings",
)
Query = Callable[[AwsClient, str, date], Iterable[NewPrice]]
#: Queries of services with endpoints in the partition aws only, where keys of another partition are not valid.
#: Source: AWS General Reference, endpoints of AWS Price List and of Savings Plans.
_COMMERCIAL = ("on-demand prices", "Savings Plans rates")
#: Queries by kind, with the subject of findings. On-demand is first: the file's rows are in this order.
_QUERIES: tuple[tuple[str, Query], ...] = (
    ("on-demand prices", on_demand_prices),
    ("spot prices", spot_prices),
    ("Savings Plans rates", savings_plan_prices),
    ("Capacity Block prices", capacity_block_prices),
)


@dataclass(frozen=True, slots=True)
class AskedPrices:
    """Prices from AWS, and a finding for each kind that AWS refused or does not have."""

    prices: tuple[NewPrice, ...]
    findings: tuple[Finding, ...]


def ask_prices(aws: AwsClient, types: Sequence[str], today: date) -> AskedPrices:
    """Query every kind of price for instance types in the client's region.

    Missing permissions and throttling are findings, and the other kinds are still queried. Raises AwsRefusal if AWS does
    not answer or rejects the credentials: then no query succeeds.
    """
    prices: list[NewPrice] = []
    findings: list[Finding] = []
    facts = regions().get(aws.region)
    partition = facts.partition if facts is not None else "aws"
    for subject, query in _QUERIES:
        if subject in _COMMERCIAL and partition != "aws":
            message = f"{subject} in {aws.region} are not refreshed: the partition {partition} has no API for them"
            fix = "append rows from the price list's page, or set burst.prices"
            findings.append(Finding("price-not-listed", message, fix=fix, severity=Severity.WARNING))
            continue
        for instance in types:
            try:
                prices += query(aws, instance, today)
            except AwsRefusal as refused:
                if refused.kind in (RefusalKind.CREDENTIALS, RefusalKind.NETWORK):
                    raise
                findings.append(_finding(refused, f"{subject} of {instance} in {aws.region}"))
                if refused.kind is RefusalKind.DENIED:
                    # The permission is the same for every type.
                    break
    if not any(price.kind == "on_demand" for price in prices) and not findings:
        message = f"the price list has no on-demand price in {aws.region} for any of {', '.join(types)}"
        findings.append(Finding("price-not-listed", message, severity=Severity.WARNING))
    return AskedPrices(tuple(prices), tuple(findings))


def _finding(refused: AwsRefusal, subject: str) -> Finding:
    """Return the finding of a refused query: a warning, because these prices stay as old as they are."""
    finding = replace(finding_of(refused, subject), severity=Severity.WARNING)
    if refused.kind is RefusalKind.DENIED:
        message = f"{subject}: not refreshed, the permission {refused.action} is missing"
        return replace(
            finding, rule="price-not-allowed", message=message, fix=f"grant {refused.action} on all resources"
        )
    return replace(finding, rule="price-not-answered")
