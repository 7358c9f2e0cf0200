"""CreateFleet of type `instant`: number of instances of each override, and the answer in AWS's shape."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moto.core.exceptions import ServiceException

from sandbox.aws_emulator.ec2.launches import launch
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError, insufficient_capacity


@dataclass(frozen=True)
class Candidate:
    """Override of a fleet: an instance type in a subnet, with its free capacity (`room`) or the error."""

    instance_type: str
    zone: str
    room: int
    problem: CloudError | None = None


def fill(candidates: Sequence[Candidate], total: int, minimum: int, single_zone: bool, single_type: bool) -> list[int]:
    """Return the number of instances of each candidate, in order of the list; all 0 if fewer than `minimum` fit.

    With single_zone or single_type all candidates used have the same zone or type: the first group that reaches
    `minimum` (at least 1) wins.
    """

    def group(candidate: Candidate) -> tuple[str, str]:
        return (candidate.zone if single_zone else "", candidate.instance_type if single_type else "")

    for capacity_group in dict.fromkeys(group(candidate) for candidate in candidates):
        counts, remaining = [], total
        for candidate in candidates:
            count = min(remaining, candidate.room) if group(candidate) == capacity_group else 0
            counts.append(count)
            remaining -= count
        if total - remaining >= max(minimum, 1):
            return counts
    return [0] * len(candidates)


def create(emulator: EmulatorState, backend: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a CreateFleet request; the caller holds the launch lock."""
    target, spot = _read_target(request)
    options = request.get("SpotOptions" if spot else "OnDemandOptions") or {}
    minimum = int(options.get("MinTargetCapacity") or 0)
    single_zone, single_type = (
        _true(options.get(f"Single{property_}")) for property_ in ("AvailabilityZone", "InstanceType")
    )
    if minimum and not (single_zone or single_type):
        message = "MinTargetCapacity needs SingleAvailabilityZone or SingleInstanceType."
        raise CloudError("InvalidParameterCombination", message)
    if minimum > target:
        raise CloudError("InvalidParameterValue", "MinTargetCapacity is larger than the total target capacity.")
    overrides = [
        (c.get("LaunchTemplateSpecification"), o) for c in request["LaunchTemplateConfigs"] for o in _overrides(c)
    ]
    launches = [_effective(backend, specification, override, request, spot) for specification, override in overrides]
    candidates = [_candidate(emulator, backend, effective) for effective in launches]
    counts = fill(candidates, target, minimum, single_zone, single_type)
    instances, errors, remaining = [], [], target
    for (specification, override), effective, candidate, count in zip(
        overrides, launches, candidates, counts, strict=True
    ):
        if remaining <= 0:
            break  # overrides after the one that completed the fleet are not tried
        details: dict[str, Any] = {
            "LaunchTemplateAndOverrides": {"LaunchTemplateSpecification": specification, "Overrides": override},
            "Lifecycle": "spot" if spot else "on-demand",
        }
        ids, problem = _launch(emulator, backend, effective, count, request.get("ClientToken"))
        if ids:
            instances.append({**details, "InstanceIds": ids, "InstanceType": candidate.instance_type})
        if len(ids) < remaining:
            error = problem or candidate.problem or insufficient_capacity(candidate.instance_type, candidate.zone)
            errors.append({**details, "ErrorCode": error.code, "ErrorMessage": error.message})
            emulator.errors[error.code] += 1
        remaining -= len(ids)
    return {"FleetId": f"fleet-{uuid.uuid4()}", "Instances": instances, "Errors": errors}


def _launch(
    emulator: EmulatorState, backend: Any, effective: Mapping[str, Any], count: int, token: str | None
) -> tuple[list[str], CloudError | None]:
    if count < 1:
        return [], None
    try:
        reservation = launch.run(emulator, backend, effective, count, count, token)
    except (CloudError, ServiceException) as error:
        return [], CloudError(error.code, error.message)
    return [instance.id for instance in reservation.instances], None


def _read_target(request: Mapping[str, Any]) -> tuple[int, bool]:
    """Return the target capacity and whether it is spot. Only fleets of type `instant` are supported."""
    if request.get("Type") != "instant":
        raise CloudError("NotImplementedInSandbox", "The emulated AWS implements CreateFleet of type 'instant' only.")
    specification = request.get("TargetCapacitySpecification") or {}
    target = int(specification.get("TotalTargetCapacity") or 0)
    if target < 1:
        raise CloudError("InvalidParameterValue", "TotalTargetCapacity must be at least 1.")
    if not request.get("LaunchTemplateConfigs"):
        raise CloudError("MissingParameter", "The request must contain the parameter LaunchTemplateConfigs")
    kind = specification.get("DefaultTargetCapacityType", "on-demand")
    if kind not in ("on-demand", "spot"):
        raise CloudError("NotImplementedInSandbox", f"The emulated AWS has no fleets of '{kind}'.")
    return target, kind == "spot"


def _overrides(configuration: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(configuration.get("Overrides") or [{}])


def _effective(
    backend: Any, specification: Any, override: Mapping[str, Any], request: Mapping[str, Any], spot: bool
) -> dict[str, Any]:
    known = ("InstanceType", "SubnetId", "Placement", "ImageId")
    fields = {key: override[key] for key in known if override.get(key)}
    for tag_specification in request.get("TagSpecifications") or []:
        if tag_specification.get("ResourceType") not in ("instance", "fleet", "volume", "network-interface"):
            message = (
                f"'{tag_specification.get('ResourceType')}' is not a valid taggable resource type for this operation."
            )
            raise CloudError("InvalidParameterValue", message)
    fields |= {"LaunchTemplate": specification, "TagSpecifications": request.get("TagSpecifications") or []}
    if spot:
        fields["InstanceMarketOptions"] = {"MarketType": "spot"}
    return launch.resolve(backend, fields)


def _candidate(emulator: EmulatorState, backend: Any, effective: Mapping[str, Any]) -> Candidate:
    try:
        placement = launch.check(emulator, backend, effective, 1)
    except (CloudError, ServiceException) as error:
        return Candidate(str(effective.get("InstanceType")), "?", 0, CloudError(error.code, error.message))
    try:
        return Candidate(placement.instance_type, placement.zone, launch.room(emulator, backend, effective, placement))
    except CloudError as error:
        return Candidate(placement.instance_type, placement.zone, 0, error)


def _true(value: Any) -> bool:
    return str(value).lower() == "true"
