"""Saved EC2 descriptions: JSON output of the AWS CLI, or a folder with the catalogue's layout."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landbridge.catalog.aws.instances import Instances
from landbridge.catalog.aws.regions import regions
from landbridge.catalog.files import CatalogueError


@dataclass(frozen=True, slots=True)
class Saved:
    """Content of a saved file: items of DescribeInstanceTypes and DescribeInstanceTypeOfferings, and their zones."""

    descriptions: tuple[Mapping[str, Any], ...]
    offerings: tuple[Mapping[str, Any], ...]
    zones: frozenset[str]


def read_saved(path: Path) -> Saved:
    """Read a JSON file: `{"InstanceTypes": [...], "InstanceTypeOfferings": [...]}`, one of the two, or a list of types.

    Offerings by zone id are assumed to be complete for their regions. Raises CatalogueError.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CatalogueError(f"{path}: {error}") from None
    data = {"InstanceTypes": data} if isinstance(data, list) else data
    if not isinstance(data, dict) or not {"InstanceTypes", "InstanceTypeOfferings"} & set(data):
        raise CatalogueError(f"{path}: no InstanceTypes and no InstanceTypeOfferings in it")
    types, offerings = data.get("InstanceTypes", []), data.get("InstanceTypeOfferings", [])
    if not all(isinstance(row, dict) and "InstanceType" in row for row in (*types, *offerings)):
        raise CatalogueError(f"{path}: an item without InstanceType")
    places = {str(offering.get("Location")) for offering in offerings}
    zones = {zone for region in regions().values() if places & set(region.zones) for zone in region.zones}
    if offerings and not zones:
        raise CatalogueError(f"{path}: offerings are compared by zone id (--location-type availability-zone-id)")
    return Saved(tuple(types), tuple(offerings), frozenset(zones))


def read_catalogue(path: Path) -> Instances:
    """Return the instance types of another catalogue's folder. Raises CatalogueError for a folder without any."""
    if not (path / "instances").is_dir():
        raise CatalogueError(f"{path}: no folder instances in it")
    return Instances(path)
