"""Resource groups of capacity reservations: service-linked groups, created by the API, with their members."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from moto.resourcegroups import urls
from moto.resourcegroups.responses import ResourceGroupsResponse

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError, render
from sandbox.aws_emulator.server.filters import page

POOL = "AWS::EC2::CapacityReservationPool"
GENERIC = "AWS::ResourceGroups::Generic"
MEMBER = "AWS::EC2::CapacityReservation"

Action = Callable[[EmulatorState, Any, Mapping[str, Any]], dict[str, Any]]


def install(emulator: EmulatorState) -> None:
    """Install the operations that moto does not have, and the checks of the others."""
    for name, action in _ACTIONS.items():
        setattr(ResourceGroupsResponse, name, _method(emulator, action))
        urls.url_paths.setdefault(f"{{0}}/{name.replace('_', '-')}$", ResourceGroupsResponse.dispatch)


def _method(emulator: EmulatorState, action: Action) -> Callable[[Any], Any]:
    def method(response: Any) -> Any:
        try:
            body = response.body if isinstance(response.body, str) else (response.body or b"").decode()
            result = action(emulator, response, json.loads(body or "{}"))
            return 200, {"Content-Type": "application/json"}, json.dumps(result)
        except CloudError as error:
            _, headers, body = render(error, "resource-groups", "")
            return error.status, {**headers, "status": error.status}, body.decode()

    return method


def _group(response: Any, request: Mapping[str, Any]) -> Any:
    name = str(request.get("Group") or request.get("GroupName") or "")
    groups = response.resourcegroups_backend.groups
    if name not in groups:
        raise CloudError("NotFoundException", f"Cannot find group {name}.", 404)
    return groups[name]


def _get(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    group = _group(response, request)
    return {"Group": {"GroupArn": group.arn, "Name": group.name, "Description": group.description}}


def _configuration(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    group = _group(response, request)
    if not group.configuration:
        raise CloudError("BadRequestException", f"The group {group.name} has no configuration.")
    return {"GroupConfiguration": {"Configuration": group.configuration, "Status": "UPDATE_COMPLETE"}}


def _add(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    group = _group(response, request)
    if group.resource_query or not _is_pool(group.configuration):
        raise CloudError("BadRequestException", "Only service-linked groups take resources by name.")
    members, failed = emulator.members.setdefault(group.arn, []), []
    for arn in request.get("ResourceArns", []):
        reservation = str(arn).rpartition("/")[2]
        if (response.region, reservation) in emulator.reservations:
            members += [arn] if arn not in members else []
        else:
            failed.append({"ResourceArn": arn, "ErrorCode": "NOT_FOUND", "ErrorMessage": "no such reservation"})
    return {"Succeeded": list(members), "Failed": failed, "Pending": []}


def _list(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    members = emulator.members.get(_group(response, request).arn, [])
    identifiers = [{"ResourceArn": arn, "ResourceType": MEMBER} for arn in members]
    shown = page(identifiers, request, "ResourceIdentifiers", 50)
    resources = [
        {"Identifier": resource_identifier, "Status": {}} for resource_identifier in shown["ResourceIdentifiers"]
    ]
    return {**shown, "Resources": resources, "QueryErrors": []}


def _is_pool(configuration: Any) -> bool:
    return {POOL, GENERIC} <= {item.get("Type") for item in configuration or []}


_ACTIONS: dict[str, Action] = {
    "get_group": _get,
    "get_group_configuration": _configuration,
    "group_resources": _add,
    "list_group_resources": _list,
}
