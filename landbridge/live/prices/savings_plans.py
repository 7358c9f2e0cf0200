"""Savings Plans rates of instances."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from landbridge.aws_api.client import AwsClient
from landbridge.plan.price_book import NewPrice, NewSource

#: The service has one endpoint for all regions. Source: AWS General Reference, "Savings Plans endpoints and quotas".
_ENDPOINT = "us-east-1"
_YEAR_SECONDS = 31_536_000
_PLANS = {"Compute": "compute", "EC2Instance": "ec2_instance"}


def savings_plan_prices(aws: AwsClient, instance: str, today: date) -> Iterator[NewPrice]:
    """Yield the hourly rates of a type in the client's region by plan, years and payment. Raises AwsRefusal.

    A rate is for a used hour; upfront payments are contained in it.
    """
    filters = {"region": aws.region, "instanceType": instance, "productDescription": "Linux/UNIX", "tenancy": "shared"}
    request: dict[str, Any] = {
        "savingsPlanTypes": list(_PLANS),
        "products": ["EC2"],
        "serviceCodes": ["AmazonEC2"],
        "filters": [{"name": name, "values": [value]} for name, value in filters.items()],
    }
    source = NewSource(
        f"savings_plans_{today:%Y_%m_%d}", "Savings Plans, DescribeSavingsPlansOfferingRates for AmazonEC2", today
    )
    client, token = aws.at(_ENDPOINT), None
    rates: dict[str, float] = {}
    # botocore has no paginator for this operation.
    while True:
        page = client.ask(
            "savingsplans",
            "describe_savings_plans_offering_rates",
            **request,
            **({"nextToken": token} if token is not None else {}),
        )
        for rate in page["searchResults"]:
            offering = rate["savingsPlanOffering"]
            # The same rate is listed for unused capacity reservations.
            if offering["currency"] != "USD" or rate["unit"] != "Hrs" or "BoxUsage:" not in rate["usageType"]:
                continue
            years = round(offering["durationSeconds"] / _YEAR_SECONDS)
            payment = offering["paymentOption"].lower().replace(" ", "_")
            rates[f"{instance}:{_PLANS[offering['planType']]}:{years}y:{payment}"] = float(rate["rate"])
        token = page.get("nextToken")
        if not token:
            break
    for name, usd in sorted(rates.items()):
        yield NewPrice("savings_plan", name, aws.region, usd, usd, "instance-hour", source)
