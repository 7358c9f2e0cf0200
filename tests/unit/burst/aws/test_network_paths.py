"""Network paths of instances: read from the emulated AWS, and composed from its rows."""

from typing import Any

import pytest

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.aws.instances import network_paths_of
from landbridge.burst.model import Offering
from landbridge.burst.model.errors import AwsError, ErrorKind, facts
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.burst.launches import TAGS, attempt

UNKNOWN = "i-0123456789abcdef0"


def launched(shell: Ec2, offering: Offering, *nodes: str) -> list[str]:
    return list(shell.run(attempt(*nodes), offering, TAGS, True).instances.values())


def test_paths_are_read_in_calls_of_the_permitted_size(
    cloud: EmulatorProcess, shell: Ec2, offering: Offering, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = launched(shell, offering, "p5-1", "p5-2", "p5-3")
    monkeypatch.setitem(facts()["calls"], "topology", 2)
    paths = shell.network_paths(ids)
    assert sorted(paths) == sorted(ids) and {path.count("/") for path in paths.values()} == {2}
    assert cloud.control()["calls"]["DescribeInstanceTopology"] == 2


def test_more_instances_than_one_call_permits_are_read(shell: Ec2, offering: Offering) -> None:
    ids = launched(shell, offering, *(f"p5-{number}" for number in range(1, 103)))
    assert len(shell.network_paths(ids)) == 102


def test_an_unknown_instance_does_not_stop_the_read_of_others(shell: Ec2, offering: Offering) -> None:
    ids = launched(shell, offering, "p5-1")
    assert list(shell.network_paths([*ids, UNKNOWN])) == ids
    assert shell.network_paths([UNKNOWN]) == {}


def test_a_missing_permission_is_an_error(cloud: EmulatorProcess, shell: Ec2, offering: Offering) -> None:
    ids = launched(shell, offering, "p5-1")
    cloud.control(faults={"DescribeInstanceTopology": {"code": "UnauthorizedOperation", "status": 403}})
    with pytest.raises(AwsError) as caught:
        shell.network_paths(ids)
    assert caught.value.kind is ErrorKind.CONFIGURATION


@pytest.mark.parametrize(
    ("row", "paths"),
    [
        ({"NetworkNodes": ["nn-1", "nn-2", "nn-3"]}, {"i-1": "nn-1/nn-2/nn-3"}),
        ({"NetworkNodes": ["nn-1", "nn-2"], "CapacityBlockId": "cb-1"}, {"i-1": "cb-1/nn-1/nn-2"}),
        ({"NetworkNodes": []}, {}),
        ({"CapacityBlockId": "cb-1"}, {}),
        ({}, {}),
    ],
)
def test_a_path_has_all_layers(row: dict[str, Any], paths: dict[str, str]) -> None:
    assert network_paths_of([{"InstanceId": "i-1", **row}]) == paths
