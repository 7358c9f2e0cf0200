"""Service quotas: their values (changed only by /_ctl), and the checks of vCPU and volume quotas at a launch."""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.servicequotas.responses import ServiceQuotasResponse

from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.server.errors import CloudError, render

PAGE_SIZE = 100


@cache
def table() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the quotas by service and code (cached)."""
    text = files("sandbox.aws_emulator.ec2").joinpath("quotas.yaml").read_text(encoding="utf-8")
    quotas: Mapping[str, Mapping[str, Mapping[str, Any]]] = yaml.safe_load(text)["quotas"]
    return quotas


def value(emulator: EmulatorState, service: str, code: str) -> float:
    """Return the account's value of a quota: set by a test, or from the table."""
    return emulator.quotas.get(code, float(table()[service][code]["value"]))


def install(emulator: EmulatorState) -> None:
    """Install Service Quotas in moto, with the values of the table."""
    for name, action in _ACTIONS.items():
        setattr(ServiceQuotasResponse, name, _method(emulator, action))


def _method(emulator: EmulatorState, action: Any) -> Any:
    def method(response: Any) -> Any:
        try:
            return json.dumps(action(emulator, json.loads(response.body or b"{}"), response.region))
        except CloudError as error:
            _, headers, body = render(error, "servicequotas", "target")
            return error.status, {**headers, "status": error.status}, body.decode()

    return method


def _get(emulator: EmulatorState, request: Mapping[str, Any], region: str) -> dict[str, Any]:
    service, code = _service_and_code(request)
    return {"Quota": _shown(service, code, value(emulator, service, code), region)}


def _get_default(emulator: EmulatorState, request: Mapping[str, Any], region: str) -> dict[str, Any]:
    service, code = _service_and_code(request)
    return {"Quota": _shown(service, code, float(table()[service][code]["default"]), region)}


def _list(emulator: EmulatorState, request: Mapping[str, Any], region: str) -> dict[str, Any]:
    service = str(request.get("ServiceCode"))
    if service not in table():
        raise CloudError("NoSuchResourceException", f"The request failed because the service {service} does not exist.")
    codes = list(table()[service])
    start, size = int(request.get("NextToken") or 0), min(int(request.get("MaxResults") or PAGE_SIZE), PAGE_SIZE)
    page = [_shown(service, code, value(emulator, service, code), region) for code in codes[start : start + size]]
    return {"Quotas": page, **({"NextToken": str(start + size)} if start + size < len(codes) else {})}


_ACTIONS = {"get_service_quota": _get, "get_aws_default_service_quota": _get_default, "list_service_quotas": _list}


def _service_and_code(request: Mapping[str, Any]) -> tuple[str, str]:
    service, code = str(request.get("ServiceCode")), str(request.get("QuotaCode"))
    if code not in table().get(service, {}):
        message = f"The request failed because the specified service quota does not exist: {service}/{code}."
        raise CloudError("NoSuchResourceException", message)
    return service, code


def _shown(service: str, code: str, amount: float, region: str) -> dict[str, Any]:
    return {
        "ServiceCode": service,
        "QuotaCode": code,
        "QuotaName": table()[service][code]["name"],
        "QuotaArn": f"arn:aws:servicequotas:{region}:123456789012:{service}/{code}",
        "Value": amount,
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }


def vcpus(instance_type: str) -> int:
    """Return the vCPUs of an instance type for its quota; 0 for a type that moto does not have."""
    return int(INSTANCE_TYPES.get(instance_type, {}).get("VCpuInfo", {}).get("DefaultVCpus", 0))


def code_of(instance_type: str, market: str) -> str | None:
    """Return the code of the vCPU quota for an instance type and market (on-demand, spot), or None."""
    family = instance_type.partition(".")[0]
    letters = re.match("[a-z]+", family)
    for code, row in table()["ec2"].items():
        families = row.get("families", ())
        if row.get("market") == market and (family in families or (letters and letters[0] in families)):
            return code
    return None


def require(emulator: EmulatorState, backend: Any, instance_type: str, market: str, count: int) -> None:
    """Raise VcpuLimitExceeded if `count` more instances exceed the account's quota.

    Capacity Blocks have no quota here.
    """
    code = code_of(instance_type, market)
    if code is None:
        return
    used = sum(
        vcpus(instance.instance_type)
        for instance in backend.all_instances()
        if instance.state in ("pending", "running") and code_of(instance.instance_type, _market(instance)) == code
    )
    limit, requested = value(emulator, "ec2", code), count * vcpus(instance_type)
    if used + requested > limit:
        if market == "spot":
            raise CloudError("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
        message = (
            f"You have requested more vCPU capacity than your current vCPU limit of {limit:.0f} allows for the instance "
            "bucket that the specified instance type belongs to."
        )
        raise CloudError("VcpuLimitExceeded", message)


def volume_failure(emulator: EmulatorState, backend: Any, launch: Mapping[str, Any], count: int) -> str:
    """Return the reason with which EC2 ends `count` accepted instances, if their gp3 disks exceed the account's quota; else
    an empty text.

    Source: EC2 User Guide, "Instance terminates immediately"; Service Quotas, Amazon EBS (one number for a region).
    """
    disks = [mapping.get("Ebs") or {} for mapping in launch.get("BlockDeviceMappings") or ()]
    requested = sum(int(disk.get("VolumeSize") or 0) for disk in disks if disk.get("VolumeType") == "gp3")
    used = sum(volume.size for volume in backend.volumes.values() if volume.volume_type == "gp3")
    is_within = used + count * requested <= 1024 * value(emulator, "ebs", "L-7A658B76")
    return "" if is_within else "Client.VolumeLimitExceeded: Volume limit exceeded"


def _market(instance: Any) -> str:
    return instance.lifecycle or "on-demand"
