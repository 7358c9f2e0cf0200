"""Checks of EC2's instance type offerings and of current spot prices."""

from collections import defaultdict
from collections.abc import Iterator

from landbridge.environment import Spot, capacity_zones
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Bought, Scene, error, info, warning


def offered(scene: Scene) -> dict[str, set[str]]:
    """Return zone ids by instance type, for every type in use. Raises AwsRefusal."""
    kinds = sorted({bought.terms.instance for bought in scene.bought()})
    if not kinds:
        return {}
    offered: dict[str, set[str]] = defaultdict(set)
    for offer in scene.aws.all(
        "ec2",
        "describe_instance_type_offerings",
        "InstanceTypeOfferings",
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": kinds}],
    ):
        offered[offer["InstanceType"]].add(offer["Location"])
    return offered


@check("offerings by zone", "ec2:DescribeInstanceTypeOfferings")
def offering(scene: Scene) -> Iterator[Finding]:
    """Every zone that a capacity may use offers its instance type.

    The catalogue has the offerings of its date, AWS has the current ones. A launch in another zone fails as
    Unsupported.
    Source: EC2 API reference, DescribeInstanceTypeOfferings (availability-zone-id).
    """
    zones = offered(scene)
    for bought in scene.bought():
        zone_ids = zones.get(bought.terms.instance, set())
        has_fixed_zones = capacity_zones(bought.capacity)
        if not zone_ids:
            message = f"{scene.environment.region} offers no {bought.terms.instance} to this account"
            yield error("live-offering", message, _type_at(bought), "choose a type or a region that has it")
            continue
        for index, zone in enumerate(bought.terms.zones):
            if zone in zone_ids:
                continue
            fix = f"{bought.terms.instance} is in {', '.join(sorted(zone_ids))}"
            if has_fixed_zones:
                path = bought.at("zone") if "zone" in type(bought.capacity).model_fields else bought.at("zones", index)
                yield error("live-offering", f"{zone} does not offer {bought.terms.instance}", path, fix)
            else:
                message = f"{zone} no longer offers {bought.terms.instance}, but the catalogue contains this offering"
                yield warning("live-offering", message, _type_at(bought), f"{fix}; run landbridge catalog refresh")


@check("spot prices", "ec2:DescribeSpotPriceHistory")
def spot_price(scene: Scene) -> Iterator[Finding]:
    """max_price_usd is above the current spot price, and the type has a spot price.

    Below the spot price EC2 launches no instance, and reports no reason. A warning, because prices change.
    Source: EC2 User Guide, "Spot Instance pricing history"; EC2 API reference, DescribeSpotPriceHistory.
    """
    for bought in scene.bought():
        if not isinstance(bought.capacity, Spot):
            continue
        history = scene.aws.all(
            "ec2",
            "describe_spot_price_history",
            "SpotPriceHistory",
            InstanceTypes=[bought.terms.instance],
            ProductDescriptions=["Linux/UNIX"],
            StartTime=scene.now.replace(microsecond=0),
        )
        prices = {
            item.get("AvailabilityZoneId", item["AvailabilityZone"]): float(item["SpotPrice"]) for item in history
        }
        zone_prices = {zone: prices[zone] for zone in bought.terms.zones if zone in prices}
        if not zone_prices:
            message = f"{bought.terms.instance} has no spot price in {', '.join(bought.terms.zones) or 'any zone'}: it is not sold as spot"
            yield warning("live-spot-price", message, bought.at("kind"), "on_demand, a reservation or a capacity_block")
            continue
        max_price = bought.terms.market.max_price_usd
        above_limit = {
            zone: price for zone, price in zone_prices.items() if max_price is not None and price > max_price
        }
        price_texts = ", ".join(f"{zone} {price:.2f}" for zone, price in sorted(above_limit.items()))
        if above_limit and len(above_limit) == len(zone_prices):
            message = (
                f"{bought.terms.instance} costs more than {max_price} USD/h as spot in every zone now: {price_texts}"
            )
            yield warning("live-spot-price", message, bought.at("max_price_usd"), "raise it, or leave it out")
        elif above_limit:
            yield info(
                "live-spot-price", f"above {max_price} USD/h as spot now: {price_texts}", bought.at("max_price_usd")
            )


def _type_at(bought: Bought) -> tuple[str | int, ...]:
    return bought.at("instance") if bought.capacity.instance else bought.pool_at("instance")
