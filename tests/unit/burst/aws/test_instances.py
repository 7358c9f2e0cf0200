"""Reading of EC2 descriptions: node names by index, leases, and only the fields that are needed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.aws.client import clients
from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.aws.instances import node_of
from landbridge.burst.aws.instances_xml import FIELDS, read
from landbridge.burst.model import Offering
from landbridge.hostlist import compress
from landbridge.timestamps import iso, parse_iso
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.burst.launches import TAGS, attempt


@given(st.sets(st.integers(1, 999), min_size=1, max_size=30), st.data())
def test_every_node_has_one_index(numbers: set[int], data: st.DataObject) -> None:
    nodes = [f"n{number}" for number in numbers]
    tags = {"landbridge:nodes": compress(nodes)}
    assert sorted(node_of(tags, index) for index in range(len(nodes))) == sorted(nodes)
    assert node_of(tags, len(nodes)) == ""
    assert node_of({**tags, "landbridge:node": "own"}, data.draw(st.integers(0, 40))) == "own"


@given(st.integers(0, 4_000_000_000))
def test_a_lease_is_read_as_it_was_written(until: int) -> None:
    assert parse_iso(iso(float(until))) == until


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01T00:00:00Z"])
def test_a_lease_that_cannot_be_read_is_none(text: str) -> None:
    assert parse_iso(text) is None


def test_only_the_needed_fields_of_a_response_are_parsed(
    cloud: EmulatorProcess, shell: Ec2, offering: Offering
) -> None:
    shell.run(attempt("p5-1"), offering, TAGS, True)
    (client,) = clients("us-east-1", cloud.endpoint, str(cloud.launch_credentials), ("default",))
    answer: Any = client.describe_instances()
    assert "Reservations" not in answer and {"InstanceId", "Tags"} <= set(answer["Instances"][0]) <= {
        *FIELDS.values(),
        "Tags",
    }


def test_instances_are_parsed_as_botocore_parses_them(
    cloud: EmulatorProcess, ec2: Any, shell: Ec2, offering: Offering
) -> None:
    shell.run(attempt("p5-1", "p5-2"), offering, {**TAGS, "a": "<&> ü 'x'"}, True)
    bodies: list[bytes] = []
    ec2.meta.events.register(
        "before-parse.ec2.DescribeInstances", lambda response_dict, **_: bodies.append(response_dict["body"])
    )
    by_botocore = [item for group in ec2.describe_instances()["Reservations"] for item in group["Instances"]]
    parsed = read(bodies[-1])["Instances"]
    assert [item["InstanceId"] for item in parsed] == [item["InstanceId"] for item in by_botocore]
    for item, expected in zip(parsed, by_botocore, strict=True):
        known = {**expected, "State": {"Name": expected["State"]["Name"]}}
        assert item == {key: known[key] for key in item} and len(item["Tags"]) > 8
