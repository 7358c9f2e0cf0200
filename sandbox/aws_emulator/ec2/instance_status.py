"""DescribeInstanceStatus: status checks and scheduled events, which tests set through the control endpoint.

Source: EC2 API Reference, DescribeInstanceStatus, InstanceStatus and InstanceStatusEvent (2026-11-25).
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sandbox.aws_emulator.ec2.descriptions import LEAST, PAGE
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError

MOST_IDS = 100
CODES = ("instance-reboot", "system-reboot", "system-maintenance", "instance-retirement", "instance-stop")
SUMMARIES = ("ok", "impaired", "insufficient-data", "not-applicable", "initializing")
_CHECKS = ("system", "instance", "ebs")
_REACHABILITY = {"ok": "passed", "impaired": "failed"}
_STATE_CODES = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}
_Row = Mapping[str, Any]
_FILTERS: Mapping[str, Callable[[_Row], list[str]]] = {
    "availability-zone": lambda row: [row["AvailabilityZone"]],
    "event.code": lambda row: [event["Code"] for event in row["Events"]],
    "event.description": lambda row: [event["Description"] for event in row["Events"]],
    "event.instance-event-id": lambda row: [event["InstanceEventId"] for event in row["Events"]],
    "instance-state-name": lambda row: [row["InstanceState"]["Name"]],
    "instance-state-code": lambda row: [str(row["InstanceState"]["Code"])],
    "instance-status.status": lambda row: [row["InstanceStatus"]["Status"]],
    "instance-status.reachability": lambda row: [row["InstanceStatus"]["Details"][0]["Status"]],
    "attached-ebs-status.status": lambda row: [row["AttachedEbsStatus"]["Status"]],
    "system-status.status": lambda row: [row["SystemStatus"]["Status"]],
    "system-status.reachability": lambda row: [row["SystemStatus"]["Details"][0]["Status"]],
}


def settings_of(value: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return the settings of an instance from a control request; raise ValueError if they are invalid."""
    unknown = set(value) - {*_CHECKS, "events"}
    checks = {name: str(value.get(name, "ok")) for name in _CHECKS}
    if unknown or any(check not in SUMMARIES for check in checks.values()):
        raise ValueError(f"a status has {', '.join(_CHECKS)} (one of {', '.join(SUMMARIES)}) and events")
    events = []
    for number, event in enumerate(value.get("events", ())):
        if event.get("code") not in CODES:
            raise ValueError(f"the code of an event is one of {', '.join(CODES)}")
        begin = datetime.fromtimestamp(round(now + float(event["seconds"])), UTC)
        row = {"InstanceEventId": event.get("id", f"instance-event-{number:017x}"), "Code": event["code"]}
        row |= {"Description": event.get("description", "The instance is scheduled for an event"), "NotBefore": begin}
        events.append(row)
    return {**checks, "events": events, "since": datetime.fromtimestamp(round(now), UTC)}


def describe(emulator: EmulatorState, response: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DescribeInstanceStatus."""
    ids, size = list(request.get("InstanceIds") or []), request.get("MaxResults")
    if ids and size:
        message = "The parameter instancesSet cannot be used with the parameter maxResults"
        raise CloudError("InvalidParameterCombination", message)
    if len(ids) > MOST_IDS:
        raise CloudError("InvalidParameterValue", f"InstanceId: {len(ids)} values; at most {MOST_IDS} are permitted.")
    if size and not LEAST <= int(size) <= PAGE:
        message = f"Value ( {size} ) for parameter maxResults is invalid. Expecting a value between {LEAST} and {PAGE}."
        raise CloudError("InvalidParameterValue", message)
    everything = bool(request.get("IncludeAllInstances"))
    rows = [
        _row(emulator, instance)
        for instance in _instances(response.ec2_backend, ids)
        if everything or instance.state == "running"
    ]
    for filter_ in request.get("Filters") or ():
        rows = _filtered(rows, str(filter_["Name"]), [str(value) for value in filter_.get("Values") or ()])
    start, size = int(request.get("NextToken") or 0), int(size or PAGE)
    answer: dict[str, Any] = {"InstanceStatuses": rows[start : start + size]}
    return answer | ({"NextToken": str(start + size)} if start + size < len(rows) else {})


def _instances(backend: Any, ids: list[str]) -> list[Any]:
    unknown = [id_ for id_ in ids if backend.get_instance_by_id(id_) is None]
    if unknown:
        verb = "ID '{}' does" if len(unknown) == 1 else "IDs '{}' do"
        message = f"The instance {verb.format(', '.join(unknown))} not exist"
        raise CloudError("InvalidInstanceID.NotFound", message)
    return [backend.get_instance_by_id(id_) for id_ in ids] if ids else list(backend.all_instances())


def _filtered(rows: list[dict[str, Any]], name: str, values: list[str]) -> list[dict[str, Any]]:
    if name not in _FILTERS:
        if name.startswith(("event.", "operator.")) or name == "availability-zone-id":
            raise CloudError(
                "NotImplementedInSandbox", f"The emulated AWS has no filter {name} of DescribeInstanceStatus."
            )
        raise CloudError("InvalidParameterValue", f"The filter '{name}' is invalid")
    return [row for row in rows if not set(_FILTERS[name](row)).isdisjoint(values)]


def _row(emulator: EmulatorState, instance: Any) -> dict[str, Any]:
    settings = emulator.statuses.get(instance.id) or settings_of({}, 0.0)
    is_running = instance.state == "running"
    return {
        "InstanceId": instance.id,
        "AvailabilityZone": str(instance.placement.zone),
        "InstanceState": {"Name": instance.state, "Code": _STATE_CODES[instance.state]},
        "SystemStatus": _summary(settings["system"] if is_running else "not-applicable", settings["since"]),
        "InstanceStatus": _summary(settings["instance"] if is_running else "not-applicable", settings["since"]),
        # Instances on Nitro have it, as all GPU types of the catalogue.
        "AttachedEbsStatus": _summary(settings["ebs"] if is_running else "not-applicable", settings["since"]),
        "Events": settings["events"],
    }


def _summary(status: str, since: datetime) -> dict[str, Any]:
    detail: dict[str, Any] = {"Name": "reachability", "Status": _REACHABILITY.get(status, "insufficient-data")}
    if status == "impaired":
        detail["ImpairedSince"] = since
    return {"Status": status, "Details": [detail]}
