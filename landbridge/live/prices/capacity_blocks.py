"""Prices of the Capacity Blocks on offer."""

from collections.abc import Iterator
from datetime import date

from landbridge.aws_api.client import AwsClient
from landbridge.catalog import instances
from landbridge.plan.price_book import NewPrice, NewSource

#: Hours of the blocks whose offers are read: the shortest duration.
#: Source: EC2 API Reference, DescribeCapacityBlockOfferings, CapacityDurationHours.
_HOURS = 24


def capacity_block_prices(aws: AwsClient, instance: str, today: date) -> Iterator[NewPrice]:
    """Yield the range of instance-hour prices of the offers for one instance and a day. Raises AwsRefusal.

    None without an offer, for a type without Capacity Blocks, and for a type that is sold by the UltraServer.
    """
    facts = instances().get(instance)
    if facts is None or "capacity_block" not in facts.purchase or facts.ultraserver is not None:
        return
    offers = aws.all(
        "ec2",
        "describe_capacity_block_offerings",
        "CapacityBlockOfferings",
        InstanceType=instance,
        InstanceCount=1,
        CapacityDurationHours=_HOURS,
    )
    usd = [
        float(offer["UpfrontFee"]) / (int(offer["InstanceCount"]) * int(offer["CapacityBlockDurationHours"]))
        for offer in offers
        if offer.get("CurrencyCode", "USD") == "USD"
    ]
    if usd:
        title = f"EC2 DescribeCapacityBlockOfferings in {aws.region}, one instance for {_HOURS} hours"
        source = NewSource(f"blocks_{aws.region.replace('-', '_')}_{today:%Y_%m_%d}", title, today)
        yield NewPrice("capacity_block", instance, aws.region, min(usd), max(usd), "instance-hour", source)
