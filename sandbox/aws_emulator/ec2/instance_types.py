"""DescribeInstanceTypes, offerings and spot prices with AWS's paging, and with the overrides of a test."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.server.filters import page

LOCATIONS = ("region", "availability-zone", "availability-zone-id", "outpost")
#: Default price of a spot instance in USD per hour; a test that depends on the price sets it.
SPOT_USD = 1.0
_TYPES_PAGE, _OFFERINGS_PAGE, _PRICES_PAGE = 100, 1000, 1000


def describe(world: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """DescribeInstanceTypes; at most 100 a page, and no page size together with names, as in AWS."""
    names = list(request.get("InstanceTypes") or [])
    if names and request.get("MaxResults"):
        message = "The parameter MaxResults cannot be used with the parameter InstanceTypes"
        raise CloudError("InvalidParameterCombination", message)
    instance_types = response.ec2_backend.describe_instance_types(names, response._filters_from_querystring())
    shown = [
        {**instance_type, **world.types.get(instance_type["InstanceType"], {})} for instance_type in instance_types
    ]
    offered = _offers(world, response.region, "availability-zone")
    here = {offer["InstanceType"] for offer in offered}
    if missing := sorted(set(names) - here):
        raise CloudError("InvalidInstanceType", f"The following supplied instance types do not exist: {missing}")
    shown = [one for one in shown if one["InstanceType"] in here]
    return {"InstanceTypes": shown} if names else page(shown, request, "InstanceTypes", _TYPES_PAGE)


def offerings(world: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """DescribeInstanceTypeOfferings."""
    location = request.get("LocationType", "region")
    if location not in LOCATIONS:
        raise CloudError("InvalidParameterValue", f"Value ({location}) for parameter locationType is invalid.")
    found = _offers(world, response.region, location)
    for given in request.get("Filters") or []:
        key = {"instance-type": "InstanceType", "location": "Location"}.get(given["Name"])
        if key is None:
            raise CloudError("InvalidParameterValue", f"The filter '{given['Name']}' is invalid")
        found = [offer for offer in found if offer[key] in given.get("Values", [])]
    return page(found, request, "InstanceTypeOfferings", _OFFERINGS_PAGE)


def zones_of(world: EmulatorState, region: str, kind: str) -> dict[str, str]:
    """The zones that offer a type: name to id."""
    ids = _zone_ids(region)
    offered = world.offered[kind] if kind in world.offered else _recorded(region).get(kind, ())
    return {name: one for name, one in ids.items() if one in offered}


def spot_prices(world: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """DescribeSpotPriceHistory: the price now, by type and zone."""
    kinds, region = list(request.get("InstanceTypes") or []), response.region
    found = []
    for kind in kinds or sorted({offer["InstanceType"] for offer in _offers(world, region, "region")}):
        classes = _usage_classes(response, kind)
        for name, one in zones_of(world, region, kind).items():
            price = spot_price(world, kind, one)
            if "spot" in classes and request.get("AvailabilityZone") in (None, name):
                found.append(
                    {
                        "InstanceType": kind,
                        "AvailabilityZone": name,
                        "AvailabilityZoneId": one,
                        "ProductDescription": "Linux/UNIX",
                        "SpotPrice": f"{price:.6f}",
                        "Timestamp": world.now(),
                    }
                )
    return page(found, request, "SpotPriceHistory", _PRICES_PAGE)


def spot_price(world: EmulatorState, kind: str, zone_id: str) -> float:
    """US dollars an hour."""
    return world.spot.get(f"{kind}/{zone_id}", world.spot.get(f"{kind}/*", SPOT_USD))


def _usage_classes(response: Any, kind: str) -> list[str]:
    instance_types = response.ec2_backend.describe_instance_types([kind], {})
    return list(instance_types[0].get("SupportedUsageClasses", []))


def _offers(world: EmulatorState, region: str, location: str) -> list[dict[str, Any]]:
    kinds = sorted({*_recorded(region), *world.offered})
    if location == "region":
        found = [(kind, region) for kind in kinds if zones_of(world, region, kind)]
    else:
        which = 1 if location == "availability-zone-id" else 0
        found = [(kind, zone[which]) for kind in kinds for zone in zones_of(world, region, kind).items()]
    return [{"InstanceType": kind, "Location": where, "LocationType": location} for kind, where in found]


@cache
def _recorded(region: str) -> dict[str, tuple[str, ...]]:
    """Zone ids by type. Moto's table by zone name is another account's, in which names mean other zones."""
    recorded: dict[str, tuple[str, ...]] = {}
    for offer in INSTANCE_TYPE_OFFERINGS["availability-zone-id"].get(region, []):
        recorded[offer["InstanceType"]] = (*recorded.get(offer["InstanceType"], ()), offer["Location"])
    return recorded


def _zone_ids(region: str) -> dict[str, str]:
    return {zone.name: zone.zone_id for zone in RegionsAndZonesBackend.zones.get(region, [])}
