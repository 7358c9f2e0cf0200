"""Reading of EC2 descriptions: node names by index, leases, and only the fields that are needed."""

from typing import Any
from xml.parsers.expat import ExpatError
from xml.sax.saxutils import escape

import botocore.session
import pytest
from botocore.parsers import create_parser
from hypothesis import given
from hypothesis import strategies as st

from bench.burst.ec2_pages import Instance, Pages
from landbridge.burst.aws.client import clients
from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.aws.instances import instance_of, node_of
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
        "StateReason",
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


def test_a_page_with_every_element_is_parsed_as_botocore_parses_it() -> None:
    launched = "2026-11-30T08:00:00.000Z"
    instances = [Instance(number, number, "lb-1", launched, {"a": "<monitoring>", "b": "&"}) for number in range(3)]
    body = Pages(instances, interfaces=2).page(0, 2)
    shape = botocore.session.get_session().get_service_model("ec2").operation_model("DescribeInstances").output_shape
    raw = create_parser("ec2").parse({"body": body, "headers": {}, "status_code": 200}, shape)
    by_botocore = [item for group in raw["Reservations"] for item in group["Instances"]]
    parsed = read(body)
    assert parsed["NextToken"] == raw["NextToken"]
    for item, expected in zip(parsed["Instances"], by_botocore, strict=True):
        known = {**expected, "State": {"Name": expected["State"]["Name"]}}
        assert item == {key: known[key] for key in item} and len(item) == 8


def _response(*instances: str, end: str = "") -> bytes:
    reservations = "".join(f"<item><instancesSet><item>{text}</item></instancesSet></item>" for text in instances)
    return f"<answer xmlns='urn:ec2'><reservationSet>{reservations}</reservationSet>{end}</answer>".encode()


def test_other_elements_with_the_names_of_fields_are_not_parsed() -> None:
    inner = (
        "<item><instanceId>i-9</instanceId><subnetId>subnet-9</subnetId><groupSet><item><a/></item></groupSet></item>"
    )
    text = (
        f"<networkInterfaceSet>{inner}{inner}</networkInterfaceSet>\n<groupSet/><instanceId>i-1</instanceId><vpcId>vpc-1"
        "</vpcId>\n  <placement><subnetId>subnet-9</subnetId></placement><instanceState><code>16</code><name>running</name>"
        "</instanceState><subnetId>subnet-1</subnetId><privateIpAddress/><instanceType>p5<b>48</b>xlarge</instanceType>"
        "<tagSet><item><key>k</key><value>&lt;groupSet&gt; ü </value></item><item><key>e</key><value/></item></tagSet>"
    )
    tags = [{"Key": "k", "Value": "<groupSet> ü "}, {"Key": "e", "Value": ""}]
    expected = {
        "InstanceId": "i-1",
        "State": {"Name": "running"},
        "SubnetId": "subnet-1",
        "PrivateIpAddress": "",
        "Tags": tags,
    }
    assert read(_response(text, "<instanceId>i-2</instanceId>", end="<nextToken>n</nextToken>")) == {
        "Instances": [expected, {"InstanceId": "i-2", "Tags": []}],
        "NextToken": "n",
    }
    assert read(_response()) == {"Instances": []}


@pytest.mark.parametrize(
    "body",
    [b"", b"not XML", b"<answer><groupSet></answer>", _response("<groupSet>"), _response("<instanceId>")[:-20]],
)
def test_a_response_that_cannot_be_parsed_is_an_error(body: bytes) -> None:
    with pytest.raises((ExpatError, ValueError)):
        read(body)


@given(st.lists(st.tuples(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"])), st.text("<&>\"' é"))))
def test_tags_are_parsed_whatever_they_contain(tags: list[tuple[str, str]]) -> None:
    items = "".join(f"<item><key>{escape(key)}</key><value>{escape(value)}</value></item>" for key, value in tags)
    (instance,) = read(_response(f"<tagSet>{items}</tagSet><instanceId>i-1</instanceId>"))["Instances"]
    assert instance["Tags"] == [{"Key": key, "Value": value} for key, value in tags]
    assert instance["InstanceId"] == "i-1"


def test_texts_that_instances_share_are_kept_once_in_memory() -> None:
    raw = (
        "<instanceId>i-1</instanceId><instanceState><name>shutting-down</name></instanceState><subnetId>subnet-1</subnetId>"
        "<instanceType>p5.48xlarge</instanceType><launchTime>2026-11-25T10:00:00.000Z</launchTime><tagSet>"
        "<item><key>landbridge:pool</key><value>gpu-large</value></item><item><key>landbridge:launch</key><value>lb-1"
        "</value></item><item><key>landbridge:account</key><value>vision-group</value></item></tagSet>"
    )
    first, second = map(instance_of, read(_response(raw, raw))["Instances"])
    for name in ("state", "subnet", "type", "pool", "token", "account"):
        assert getattr(first, name) is getattr(second, name), name
    assert first == second and (first.pool, first.token, first.account) == ("gpu-large", "lb-1", "vision-group")
