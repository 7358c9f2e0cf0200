"""Comparison of EC2's instance types with the catalogue."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from landbridge.aws_api.client import AwsClient
from landbridge.catalog import InstanceType, regions
from landbridge.catalog.compare import Difference, compare

NEEDS = ("ec2:DescribeInstanceTypes", "ec2:DescribeInstanceTypeOfferings", "ec2:DescribeAvailabilityZones")
#: Maximum number of values of one filter. Source: EC2 API reference, "Filter" (200).
_VALUES = 200


@dataclass(frozen=True, slots=True)
class Described:
    """EC2's answers of one region: types of the catalogue's families, their offerings, and its zones."""

    region: str
    types: tuple[Mapping[str, Any], ...]
    offerings: tuple[Mapping[str, Any], ...]
    zones: frozenset[str]


def describe(aws: AwsClient, families: Iterable[str]) -> Described:
    """Query one region for every type of these families. Raises AwsRefusal."""
    patterns = [f"{family}.*" for family in sorted(families)]
    types: list[Mapping[str, Any]] = []
    for start in range(0, len(patterns), _VALUES):
        filters = [{"Name": "instance-type", "Values": patterns[start : start + _VALUES]}]
        types += aws.all("ec2", "describe_instance_types", "InstanceTypes", Filters=filters)
    names = {type_data["InstanceType"] for type_data in types}
    offerings = aws.all(
        "ec2", "describe_instance_type_offerings", "InstanceTypeOfferings", LocationType="availability-zone-id"
    )
    answer = aws.ask("ec2", "describe_availability_zones")
    zones = {
        availability_zone["ZoneId"]
        for availability_zone in answer["AvailabilityZones"]
        if availability_zone.get("ZoneType", "availability-zone") == "availability-zone"
    }
    return Described(
        aws.region,
        tuple(types),
        tuple(offering for offering in offerings if offering["InstanceType"] in names),
        frozenset(zones),
    )


def review(ours: Mapping[str, InstanceType], descriptions: Iterable[Described]) -> tuple[Difference, ...]:
    """Return the facts on which the catalogue and these regions differ, by type; first the zones that the catalogue
    does not have.
    """
    answers = tuple(descriptions)
    known_regions = regions()
    differences: list[Difference] = []
    for answer in answers:
        new = tuple(
            sorted(answer.zones - set(known_regions[answer.region].zones if answer.region in known_regions else ()))
        )
        if new:
            differences.append(Difference(answer.region, "zones", None, new))
    described = {str(kind["InstanceType"]): kind for answer in answers for kind in answer.types}
    offerings = [offer for answer in answers for offer in answer.offerings]
    zones = frozenset[str]().union(*(answer.zones for answer in answers))
    return (*differences, *compare(ours, described.values(), offerings, zones))
