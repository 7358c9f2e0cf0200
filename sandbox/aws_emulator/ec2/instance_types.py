"""DescribeInstanceTypes, offerings and spot prices, with AWS's paging and with overrides of a test."""

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


def describe(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DescribeInstanceTypes; at most 100 per page, and no page size together with names, as in AWS."""
    names = list(request.get("InstanceTypes") or [])
    if names and request.get("MaxResults"):
        message = "The parameter MaxResults cannot be used with the parameter InstanceTypes"
        raise CloudError("InvalidParameterCombination", message)
    instance_types = response.ec2_backend.describe_instance_types(names, response._filters_from_querystring())
    shown = [
        {**instance_type, **emulator.types.get(instance_type["InstanceType"], {})} for instance_type in instance_types
    ]
    offered = _offers(emulator, response.region, "availability-zone")
    names_in_region = {offer["InstanceType"] for offer in offered}
    if missing := sorted(set(names) - names_in_region):
        raise CloudError("InvalidInstanceType", f"The following supplied instance types do not exist: {missing}")
    shown = [row for row in shown if row["InstanceType"] in names_in_region]
    return {"InstanceTypes": shown} if names else page(shown, request, "InstanceTypes", _TYPES_PAGE)


def offerings(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DescribeInstanceTypeOfferings."""
    location = request.get("LocationType", "region")
    if location not in LOCATIONS:
        raise CloudError("InvalidParameterValue", f"Value ({location}) for parameter locationType is invalid.")
    offers = _offers(emulator, response.region, location)
    for filter_ in request.get("Filters") or []:
        key = {"instance-type": "InstanceType", "location": "Location"}.get(filter_["Name"])
        if key is None:
            raise CloudError("InvalidParameterValue", f"The filter '{filter_['Name']}' is invalid")
        offers = [offer for offer in offers if offer[key] in filter_.get("Values", [])]
    return page(offers, request, "InstanceTypeOfferings", _OFFERINGS_PAGE)


def zones_of(emulator: EmulatorState, region: str, instance_type: str) -> dict[str, str]:
    """Return the zones that offer an instance type: id by zone name."""
    ids = _zone_ids(region)
    offered = (
        emulator.offered[instance_type]
        if instance_type in emulator.offered
        else _recorded(region).get(instance_type, ())
    )
    return {name: id_ for name, id_ in ids.items() if id_ in offered}


def spot_prices(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DescribeSpotPriceHistory: the current price in USD/h, by type and zone."""
    kinds, region = list(request.get("InstanceTypes") or []), response.region
    if "Linux/UNIX" not in (request.get("ProductDescriptions") or ["Linux/UNIX"]):
        return page([], request, "SpotPriceHistory", _PRICES_PAGE)
    prices = []
    for kind in kinds or sorted({offer["InstanceType"] for offer in _offers(emulator, region, "region")}):
        classes = _usage_classes(response, kind)
        for name, zone_id in zones_of(emulator, region, kind).items():
            price = spot_price(emulator, kind, zone_id)
            if "spot" in classes and request.get("AvailabilityZone") in (None, name):
                prices.append(
                    {
                        "InstanceType": kind,
                        "AvailabilityZone": name,
                        "AvailabilityZoneId": zone_id,
                        "ProductDescription": "Linux/UNIX",
                        "SpotPrice": f"{price:.6f}",
                        "Timestamp": emulator.now(),
                    }
                )
    return page(prices, request, "SpotPriceHistory", _PRICES_PAGE)


def spot_price(emulator: EmulatorState, kind: str, zone_id: str) -> float:
    """Return the spot price in USD/h."""
    return emulator.spot.get(f"{kind}/{zone_id}", emulator.spot.get(f"{kind}/*", SPOT_USD))


def _usage_classes(response: Any, kind: str) -> list[str]:
    instance_types = response.ec2_backend.describe_instance_types([kind], {})
    return list(instance_types[0].get("SupportedUsageClasses", []))


def _offers(emulator: EmulatorState, region: str, location: str) -> list[dict[str, Any]]:
    kinds = sorted({*_recorded(region), *emulator.offered})
    if location == "region":
        pairs = [(kind, region) for kind in kinds if zones_of(emulator, region, kind)]
    else:
        index = 1 if location == "availability-zone-id" else 0
        pairs = [(kind, zone[index]) for kind in kinds for zone in zones_of(emulator, region, kind).items()]
    return [{"InstanceType": kind, "Location": place, "LocationType": location} for kind, place in pairs]


@cache
def _recorded(region: str) -> dict[str, tuple[str, ...]]:
    """Return zone ids by instance type. moto's table by zone name is from another account, with other zone names."""
    recorded: dict[str, tuple[str, ...]] = {}
    for offer in INSTANCE_TYPE_OFFERINGS["availability-zone-id"].get(region, []):
        recorded[offer["InstanceType"]] = (*recorded.get(offer["InstanceType"], ()), offer["Location"])
    return recorded


def _zone_ids(region: str) -> dict[str, str]:
    return {zone.name: zone.zone_id for zone in RegionsAndZonesBackend.zones.get(region, [])}
