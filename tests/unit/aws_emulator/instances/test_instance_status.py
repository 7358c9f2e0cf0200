"""DescribeInstanceStatus of the emulated AWS: statuses that tests set, filters, pages, and the limits of a request."""

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess

from ..conftest import Stack
from .test_emulator_launch import error_of
from .test_instance_topology import launched

EVENT = {"code": "system-reboot", "seconds": 3600, "description": "a reboot"}


def ids_of(ec2: Any, **request: Any) -> list[str]:
    return [row["InstanceId"] for row in ec2.describe_instance_status(**request)["InstanceStatuses"]]


def by(name: str, *values: str) -> dict[str, Any]:
    return {"Filters": [{"Name": name, "Values": list(values)}]}


def test_an_instance_is_healthy_until_a_test_says_otherwise(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    failing, healthy = launched(ec2, stack, 2)
    for row in ec2.describe_instance_status()["InstanceStatuses"]:
        assert row["SystemStatus"]["Status"] == row["InstanceStatus"]["Status"] == "ok" and not row.get("Events")
    cloud.control(statuses={failing: {"system": "impaired", "events": [EVENT]}})
    first, second = ec2.describe_instance_status(InstanceIds=[failing, healthy])["InstanceStatuses"]
    assert first["SystemStatus"]["Details"][0]["Status"] == "failed" and second["SystemStatus"]["Status"] == "ok"
    (event,) = first["Events"]
    assert (event["Code"], event["Description"]) == ("system-reboot", "a reboot") and event["NotBefore"].tzinfo
    assert ids_of(ec2, **by("system-status.status", "impaired")) == [failing]
    assert ids_of(ec2, **by("event.code", "system-reboot", "instance-stop")) == [failing]
    assert ids_of(ec2, **by("instance-status.status", "impaired")) == []
    cloud.control(statuses={failing: {}})
    assert ids_of(ec2, **by("event.code", "system-reboot")) == []


def test_only_running_instances_are_described_by_default(ec2: Any, stack: Stack) -> None:
    running, ended = launched(ec2, stack, 2)
    ec2.terminate_instances(InstanceIds=[ended])
    assert ids_of(ec2) == [running] and ended in ids_of(ec2, IncludeAllInstances=True)


@pytest.mark.parametrize(
    ("request_of", "code"),
    [
        (lambda ids: {"InstanceIds": [*ids, "i-0123456789abcdef0"]}, "InvalidInstanceID.NotFound"),
        (lambda ids: {"InstanceIds": ids * 101}, "InvalidParameterValue"),
        (lambda ids: {"InstanceIds": ids, "MaxResults": 5}, "InvalidParameterCombination"),
        (lambda ids: {"MaxResults": 4}, "InvalidParameterValue"),
        (lambda ids: {"MaxResults": 1001}, "InvalidParameterValue"),
        (lambda ids: by("tag:landbridge:cluster", "acme"), "InvalidParameterValue"),
        (lambda ids: {"DryRun": True}, "DryRunOperation"),
    ],
)
def test_an_invalid_request_is_refused(
    ec2: Any, stack: Stack, request_of: Callable[[list[str]], dict[str, Any]], code: str
) -> None:
    ids = launched(ec2, stack, 1)
    assert error_of(lambda: ec2.describe_instance_status(**request_of(ids)))[1] == code


def test_all_instances_are_returned_in_pages(ec2: Any, stack: Stack) -> None:
    ids = launched(ec2, stack, 7)
    first = ec2.describe_instance_status(MaxResults=5)
    last = ec2.describe_instance_status(MaxResults=5, NextToken=first["NextToken"])
    shown = [row["InstanceId"] for row in first["InstanceStatuses"] + last["InstanceStatuses"]]
    assert shown == ids and "NextToken" not in last
