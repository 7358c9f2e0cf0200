"""Placement groups, which moto does not have; stored in EmulatorState by region and name."""

import uuid
from collections.abc import Mapping
from typing import Any

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError

STRATEGIES = ("cluster", "partition", "spread")


def create(emulator: EmulatorState, region: str, account: str, request: Mapping[str, Any]) -> dict[str, Any]:
    name, strategy = request.get("GroupName"), request.get("Strategy", "cluster")
    if not name:
        raise CloudError("MissingParameter", "The request must contain the parameter groupName")
    if strategy not in STRATEGIES:
        raise CloudError("InvalidParameterValue", f"Value ({strategy}) for parameter strategy is invalid.")
    if (region, name) in emulator.placement_groups:
        raise CloudError("InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists.")
    tags = [tag for s in request.get("TagSpecifications") or [] for tag in s.get("Tags", [])]
    group: dict[str, Any] = {
        "GroupName": name,
        "GroupId": f"pg-{uuid.uuid4().hex[:17]}",
        "State": "available",
        "Strategy": strategy,
        "Tags": tags,
        "GroupArn": f"arn:aws:ec2:{region}:{account}:placement-group/{name}",
    }
    if strategy == "partition":
        group["PartitionCount"] = int(request.get("PartitionCount") or 2)
    if strategy == "spread":
        group["SpreadLevel"] = request.get("SpreadLevel", "rack")
    emulator.placement_groups[region, name] = group
    return {"PlacementGroup": group}


def describe(emulator: EmulatorState, region: str, request: Mapping[str, Any]) -> dict[str, Any]:
    groups = [group for (group_region, _), group in sorted(emulator.placement_groups.items()) if group_region == region]
    names, ids = request.get("GroupNames") or [], request.get("GroupIds") or []
    for key, values in (("GroupName", names), ("GroupId", ids)):
        missing = [value for value in values if value not in [group[key] for group in groups]]
        if missing:
            raise CloudError("InvalidPlacementGroup.Unknown", f"The Placement Group '{missing[0]}' is unknown.")
        groups = [group for group in groups if not values or group[key] in values]
    return {"PlacementGroups": [group for group in groups if _matches(group, request.get("Filters") or [])]}


def delete(emulator: EmulatorState, region: str, request: Mapping[str, Any], used: set[str]) -> None:
    """Delete a placement group; refused if it is in `used`, the names of groups with instances."""
    name = request.get("GroupName", "")
    if (region, name) not in emulator.placement_groups:
        raise CloudError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")
    if name in used:
        raise CloudError(
            "InvalidPlacementGroup.InUse", f"The placement group '{name}' is in use and may not be deleted."
        )
    del emulator.placement_groups[region, name]


def _matches(group: Mapping[str, Any], filters: list[Mapping[str, Any]]) -> bool:
    known = {"group-name": "GroupName", "strategy": "Strategy", "state": "State", "group-arn": "GroupArn"}
    tags = {tag["Key"]: tag.get("Value", "") for tag in group["Tags"]}
    for filter_ in filters:
        name, values = filter_["Name"], filter_.get("Values", [])
        if name.startswith("tag:"):
            if tags.get(name[4:]) not in values:
                return False
        elif name not in known:
            raise CloudError("InvalidParameterValue", f"The filter '{name}' is invalid")
        elif group[known[name]] not in values:
            return False
    return True
