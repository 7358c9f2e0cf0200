"""Check of a launch's CPU options against moto's instance type data, as EC2 refuses them.

It uses moto's data and not Landbridge's catalogue: the emulator must not share errors with the code that it tests.
Source: EC2 User Guide, "Rules for specifying CPU options for an Amazon EC2 instance"; EC2 API Reference,
CpuOptionsRequest (2026-11-25).
"""

from collections.abc import Mapping
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES

from sandbox.aws_emulator.server.errors import CloudError


def check(instance_type: str, options: Mapping[str, Any]) -> None:
    """Raise EC2's error for CPU options that the instance type does not support. A type without data is accepted."""
    cores, threads = options.get("CoreCount"), options.get("ThreadsPerCore")
    if not cores and not threads:
        return
    if not cores or not threads:
        message = "CpuOptions need both CoreCount and ThreadsPerCore."
        raise CloudError("InvalidParameterCombination", message)
    info = INSTANCE_TYPES.get(instance_type)
    if info is None:
        return
    if info.get("BareMetal"):
        message = f"CpuOptions cannot be specified for the bare metal instance type {instance_type}."
        raise CloudError("InvalidParameterCombination", message)
    cpus = info.get("VCpuInfo", {})
    for name, value, valid in (
        ("CoreCount", int(cores), cpus.get("ValidCores") or [cpus.get("DefaultCores")]),
        ("ThreadsPerCore", int(threads), cpus.get("ValidThreadsPerCore") or [cpus.get("DefaultThreadsPerCore")]),
    ):
        if value not in valid:
            message = f"CpuOptions.{name} {value} is not valid for {instance_type}; valid values: {valid}"
            raise CloudError("InvalidParameterValue", message)
