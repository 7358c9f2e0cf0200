"""DescribeInstanceTopology of the emulated AWS: which instances have network nodes, and the limits of a request."""

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.aws_emulator.process import EmulatorProcess

from ..conftest import Stack
from .test_emulator_launch import error_of, run


def launched(ec2: Any, stack: Stack, count: int, **parameters: Any) -> list[str]:
    answer = run(ec2, stack, count, count, **parameters)
    return [instance["InstanceId"] for instance in answer["Instances"]]


def network_nodes(ec2: Any, *ids: str) -> dict[str, list[str]]:
    rows = ec2.describe_instance_topology(InstanceIds=list(ids))["Instances"]
    return {row["InstanceId"]: row.get("NetworkNodes", []) for row in rows}


def test_a_running_instance_has_network_nodes_from_the_top_layer_down(ec2: Any, stack: Stack) -> None:
    ids = launched(ec2, stack, 8)
    paths = network_nodes(ec2, *ids)
    assert list(paths) == ids and {len(path) for path in paths.values()} == {3}
    by_layer = [{path[layer] for path in paths.values()} for layer in range(3)]
    assert len(by_layer[0]) == 1 and len(by_layer[1]) <= 2 and len(by_layer[2]) <= 4
    assert all(a[1] == b[1] for a in paths.values() for b in paths.values() if a[2] == b[2])


def test_only_running_instances_of_supported_types_have_network_nodes(
    cloud: EmulatorProcess, ec2: Any, stack: Stack
) -> None:
    (unsupported,) = launched(ec2, stack, 1, InstanceType="m7i.large")
    (ended,) = launched(ec2, stack, 1)
    ec2.terminate_instances(InstanceIds=[ended])
    cloud.control(boot=30)
    (pending,) = launched(ec2, stack, 1)
    assert network_nodes(ec2, unsupported, ended, pending) == {unsupported: [], ended: [], pending: []}


@pytest.mark.parametrize(
    ("request_of", "code"),
    [
        (lambda ids: {"InstanceIds": [*ids, "i-0123456789abcdef0"]}, "InvalidInstanceID.NotFound"),
        (lambda ids: {"InstanceIds": ids * 101}, "InvalidParameterValue"),
        (lambda ids: {"InstanceIds": ids, "MaxResults": 5}, "InvalidParameterCombination"),
        (lambda ids: {"InstanceIds": ids, "DryRun": True}, "DryRunOperation"),
    ],
)
def test_an_invalid_request_is_refused(
    ec2: Any, stack: Stack, request_of: Callable[[list[str]], dict[str, Any]], code: str
) -> None:
    ids = launched(ec2, stack, 1)
    assert error_of(lambda: ec2.describe_instance_topology(**request_of(ids)))[1] == code


def test_all_instances_are_returned_in_pages(ec2: Any, stack: Stack) -> None:
    ids = launched(ec2, stack, 3)
    first = ec2.describe_instance_topology(MaxResults=2)
    last = ec2.describe_instance_topology(MaxResults=2, NextToken=first["NextToken"])
    assert [row["InstanceId"] for row in first["Instances"] + last["Instances"]] == ids and "NextToken" not in last
