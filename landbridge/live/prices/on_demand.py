"""On-demand prices from the AWS price list."""

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

from landbridge.aws_api.client import AwsClient
from landbridge.plan.price_book import NewPrice, NewSource

#: Regions with an endpoint of the price list API. Source: AWS Billing User Guide, "AWS Price List Query API".
_ENDPOINTS = ("us-east-1", "eu-central-1", "ap-south-1")
#: Product attributes of Linux on shared hardware, without a capacity reservation or Capacity Block, which have their own
#: products. Source: offer file of AmazonEC2; karpenter-provider-aws selects by the same attributes.
_PRODUCT = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
}


def on_demand_prices(aws: AwsClient, instance: str, today: date) -> Iterator[NewPrice]:
    """Yield the on-demand price of a type in the client's region, if the price list has it. Raises AwsRefusal."""
    wanted = {**_PRODUCT, "instanceType": instance, "regionCode": aws.region}
    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()]
    products = aws.at(_endpoint(aws.region)).all(
        "pricing", "get_products", "PriceList", ServiceCode="AmazonEC2", Filters=filters
    )
    source = NewSource(f"price_list_{today:%Y_%m_%d}", "AWS price list, pricing GetProducts for AmazonEC2", today)
    prices = {usd for text in products for usd in _hourly(json.loads(text))}
    if len(prices) == 1:
        usd = prices.pop()
        yield NewPrice("on_demand", instance, aws.region, usd, usd, "instance-hour", source)


def _endpoint(region: str) -> str:
    """Return the nearest region with an endpoint; every endpoint has the prices of all regions."""
    nearest = {"eu": "eu-central-1", "ap": "ap-south-1"}.get(region.partition("-")[0], _ENDPOINTS[0])
    return region if region in _ENDPOINTS else nearest


def _hourly(product: Any) -> Iterator[float]:
    """Yield the prices above 0 of a product's on-demand terms by the hour, in USD."""
    for term in product.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term.get("priceDimensions", {}).values():
            usd = float(dimension.get("pricePerUnit", {}).get("USD", 0))
            if dimension.get("unit") == "Hrs" and usd > 0:
                yield usd
