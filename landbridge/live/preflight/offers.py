"""Checks of AWS's offerings of the types, and of present spot prices."""

from collections import defaultdict
from collections.abc import Iterator

from landbridge.environment import Spot, capacity_zones
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Bought, Scene, error, info, warning


def offered(scene: Scene) -> dict[str, set[str]]:
    """Return zone ids by instance type, for every type in use. Raises AwsRefusal."""
    kinds = sorted({one.terms.instance for one in scene.bought()})
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

    The catalogue knows the offerings of its date; AWS knows today's. A launch in another zone fails as Unsupported.
    Source: EC2 API reference, DescribeInstanceTypeOfferings (availability-zone-id).
    """
    zones = offered(scene)
    for one in scene.bought():
        there = zones.get(one.terms.instance, set())
        named = capacity_zones(one.capacity)
        if not there:
            message = f"{scene.environment.region} offers no {one.terms.instance} to this account"
            yield error("live-offering", message, _type_at(one), "choose a type or a region that has it")
            continue
        for index, zone in enumerate(one.terms.zones):
            if zone in there:
                continue
            fix = f"{one.terms.instance} is in {', '.join(sorted(there))}"
            if named:
                path = one.at("zone") if "zone" in type(one.capacity).model_fields else one.at("zones", index)
                yield error("live-offering", f"{zone} does not offer {one.terms.instance}", path, fix)
            else:
                message = f"{zone} no longer offers {one.terms.instance}, which the catalogue says it does"
                yield warning("live-offering", message, _type_at(one), f"{fix}; run landbridge catalog refresh")


@check("spot prices", "ec2:DescribeSpotPriceHistory")
def spot_price(scene: Scene) -> Iterator[Finding]:
    """A limit on the spot price lies above what spot capacity costs now, and there is spot capacity at all.

    Below it nothing is ever launched, and nothing says why. Prices move: this is a warning.
    Source: EC2 User Guide, "Spot Instance pricing history"; EC2 API reference, DescribeSpotPriceHistory.
    """
    for one in scene.bought():
        if not isinstance(one.capacity, Spot):
            continue
        history = scene.aws.all(
            "ec2",
            "describe_spot_price_history",
            "SpotPriceHistory",
            InstanceTypes=[one.terms.instance],
            ProductDescriptions=["Linux/UNIX"],
            StartTime=scene.now.replace(microsecond=0),
        )
        prices = {
            item.get("AvailabilityZoneId", item["AvailabilityZone"]): float(item["SpotPrice"]) for item in history
        }
        here = {zone: prices[zone] for zone in one.terms.zones if zone in prices}
        if not here:
            message = (
                f"{one.terms.instance} has no spot price in {', '.join(one.terms.zones) or 'any zone'}: none is sold"
            )
            yield warning("live-spot-price", message, one.at("kind"), "on_demand, a reservation or a capacity_block")
            continue
        most = one.terms.market.max_price_usd
        dear = {zone: price for zone, price in here.items() if most is not None and price > most}
        told = ", ".join(f"{zone} {price:.2f}" for zone, price in sorted(dear.items()))
        if dear and len(dear) == len(here):
            message = f"{one.terms.instance} costs more than {most} USD/h as spot in every zone now: {told}"
            yield warning("live-spot-price", message, one.at("max_price_usd"), "raise it, or leave it out")
        elif dear:
            yield info("live-spot-price", f"above {most} USD/h as spot now: {told}", one.at("max_price_usd"))


def _type_at(one: Bought) -> tuple[str | int, ...]:
    return one.at("instance") if one.capacity.instance else one.pool_at("instance")
