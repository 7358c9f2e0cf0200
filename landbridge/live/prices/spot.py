"""Current spot prices of the zones of a region."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

from landbridge.aws_api.client import AwsClient
from landbridge.catalog import instances
from landbridge.plan.price_book import NewPrice, NewSource


def spot_prices(aws: AwsClient, instance: str, today: date) -> Iterator[NewPrice]:
    """Yield the range of a type's current spot prices in the client's region, and the price of each zone. Raises
    AwsRefusal. A type that is not sold as spot has none.
    """
    facts = instances().get(instance)
    if facts is not None and "spot" not in facts.purchase:
        return
    # Beside the changes of this moment EC2 returns the last change before it: the price in effect, of each zone.
    # Source: EC2 API Reference, DescribeSpotPriceHistory.
    now = datetime.now(UTC)
    answers = aws.all(
        "ec2",
        "describe_spot_price_history",
        "SpotPriceHistory",
        InstanceTypes=[instance],
        ProductDescriptions=["Linux/UNIX"],
        StartTime=now,
        EndTime=now,
    )
    title = "EC2 DescribeSpotPriceHistory, current prices"
    source = NewSource(f"spot_{aws.region.replace('-', '_')}_{today:%Y_%m_%d}", f"{title} in {aws.region}", today)
    newest = sorted(answers, key=lambda answer: answer["Timestamp"])
    # Zone names differ between accounts; a price without the zone's id counts in the region's range only.
    by_name = {str(answer["AvailabilityZone"]): float(answer["SpotPrice"]) for answer in newest}
    by_zone = {
        str(answer["AvailabilityZoneId"]): by_name[answer["AvailabilityZone"]]
        for answer in newest
        if answer.get("AvailabilityZoneId")
    }
    if by_name:
        usd = by_name.values()
        yield NewPrice("spot", instance, aws.region, min(usd), max(usd), "instance-hour", source)
    for zone, zone_usd in sorted(by_zone.items()):
        yield NewPrice("spot", instance, zone, zone_usd, zone_usd, "instance-hour", source)
