"""Statuses of EC2 instances: values from DescribeInstanceStatus. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from landbridge.burst.model import InstanceStatus
from landbridge.burst.model.errors import facts

#: Filters of the calls that find the instances with a failed check or an event: the filters of one call exclude each other.
QUERIES: tuple[Mapping[str, Any], ...] = (
    {"Name": "system-status.status", "Values": ["impaired"]},
    {"Name": "instance-status.status", "Values": ["impaired"]},
    {"Name": "attached-ebs-status.status", "Values": ["impaired"]},
    {"Name": "event.code", "Values": list(facts()["status_checks"]["events"])},
)
_CHECKS = {"system": "SystemStatus", "instance": "InstanceStatus", "attached EBS": "AttachedEbsStatus"}


def status_of(raw: Mapping[str, Any]) -> InstanceStatus | None:
    """Return the failed checks and the next event of an instance; None if it has neither.

    An event that has ended is described for up to a week, with `[Completed]` before its description.
    """
    impaired = tuple(name for name, key in _CHECKS.items() if (raw.get(key) or {}).get("Status") == "impaired")
    event = _next_event(raw.get("Events") or ())
    if event is None:
        return InstanceStatus(impaired) if impaired else None
    return InstanceStatus(impaired, event["Code"], _begin(event), event.get("InstanceEventId") or "")


def _next_event(events: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    ended = tuple(facts()["status_checks"]["ended"])
    pending = [
        event
        for event in events
        if event.get("Code") and not str(event.get("Description") or "").strip().startswith(ended)
    ]
    return min(pending, key=lambda event: (_begin(event) or 0.0, event["Code"]), default=None)


def _begin(event: Mapping[str, Any]) -> float | None:
    return event["NotBefore"].timestamp() if event.get("NotBefore") else None
