"""RunInstances and DescribeInstances of the emulated AWS, with AWS's errors and lost responses."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError, ReadTimeoutError

from sandbox.aws_emulator.process import EmulatorProcess

from .conftest import Stack
from .instances.test_emulator_launch import error_of, run
from .instances.test_emulator_metadata import Machine

P5 = "p5.48xlarge"


def spot(**options: Any) -> dict[str, Any]:
    return {"InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": {"SpotInstanceType": "one-time", **options}}}


def ids(answer: Any) -> list[str]:
    return [instance["InstanceId"] for instance in answer["Instances"]]


def shown(ec2: Any, **query: Any) -> list[str]:
    return [
        instance["InstanceId"]
        for group in ec2.describe_instances(**query)["Reservations"]
        for instance in group["Instances"]
    ]


def test_a_subnet_beside_the_interfaces_of_the_template_is_refused(ec2: Any, stack: Stack) -> None:
    template = {"LaunchTemplateId": stack.template, "Version": "2"}  # with interfaces
    call: dict[str, Any] = {"LaunchTemplate": template, "MinCount": 1, "MaxCount": 1}
    refused = (400, "InvalidParameterCombination")
    assert error_of(lambda: ec2.run_instances(**call, SubnetId=stack.subnets[0])) == refused
    assert error_of(lambda: run(ec2, stack, 1, 1, SubnetId=stack.subnets[0])) == refused


def test_interfaces_in_the_template_and_in_the_request_are_refused(ec2: Any, stack: Stack) -> None:
    nic = [{"DeviceIndex": 0, "SubnetId": stack.subnets[0]}]
    both: dict[str, Any] = {"LaunchTemplate": {"LaunchTemplateId": stack.template, "Version": "2"}, "MinCount": 1}
    refused = (400, "InvalidParameterCombination")
    assert error_of(lambda: ec2.run_instances(**both, MaxCount=1, NetworkInterfaces=nic)) == refused
    assert len(ids(run(ec2, stack, 1, 1, NetworkInterfaces=nic))) == 1


def test_a_repeated_token_returns_the_same_instances_and_refuses_another_request(ec2: Any, stack: Stack) -> None:
    first = run(ec2, stack, 2, 2, ClientToken="t-1")
    assert ids(run(ec2, stack, 2, 2, ClientToken="t-1")) == ids(first)
    assert [instance["AmiLaunchIndex"] for instance in first["Instances"]] == [0, 1]
    assert error_of(lambda: run(ec2, stack, 2, 3, ClientToken="t-1")) == (400, "IdempotentParameterMismatch")
    reservations = ec2.describe_instances(Filters=[{"Name": "client-token", "Values": ["t-1"]}])["Reservations"]
    assert {
        (instance["InstanceId"], instance["AmiLaunchIndex"])
        for group in reservations
        for instance in group["Instances"]
    } == set(zip(ids(first), (0, 1), strict=True))


def test_a_launch_starts_at_least_min_count_and_at_most_the_capacity(
    cloud: EmulatorProcess, ec2: Any, stack: Stack
) -> None:
    cloud.control(pool={f"{P5}/use1-az4": 3})
    assert error_of(lambda: run(ec2, stack, 4, 4)) == (500, "InsufficientInstanceCapacity")
    assert cloud.control()["instances"] == []
    assert len(ids(run(ec2, stack, 1, 5))) == 3


def test_spot_has_a_price_and_its_own_capacity(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    cloud.control(spot={f"{P5}/use1-az4": 30.0}, pool={f"{P5}/use1-az4/spot": 1})
    assert error_of(lambda: run(ec2, stack, 1, 1, **spot(MaxPrice="29.5"))) == (400, "SpotMaxPriceTooLow")
    assert run(ec2, stack, 1, 1, **spot(MaxPrice="31"))["Instances"][0]["InstanceLifecycle"] == "spot"
    assert error_of(lambda: run(ec2, stack, 1, 1, **spot())) == (500, "InsufficientInstanceCapacity")
    assert "InstanceLifecycle" not in run(ec2, stack, 1, 1)["Instances"][0]


@pytest.mark.parametrize(
    ("kind", "tags", "code"),
    [
        ("fleet", {"a": "b"}, "InvalidParameterValue"),
        ("instance", {"a": "b" * 257}, "InvalidParameterValue"),
        ("instance", {"aws:a": "b"}, "InvalidParameterValue"),
        ("instance", {f"k{number}": "v" for number in range(51)}, "TagLimitExceeded"),
    ],
)
def test_invalid_tags_start_nothing(
    cloud: EmulatorProcess, ec2: Any, stack: Stack, kind: str, tags: dict[str, str], code: str
) -> None:
    specification = [{"ResourceType": kind, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}]
    assert error_of(lambda: run(ec2, stack, 1, 1, TagSpecifications=specification)) == (400, code)
    assert cloud.control()["instances"] == []


def test_volumes_and_interfaces_have_the_tags_of_their_launch(ec2: Any, stack: Stack) -> None:
    tags = [{"Key": "landbridge:cluster", "Value": "sandbox"}]
    specifications = [{"ResourceType": kind, "Tags": tags} for kind in ("instance", "volume", "network-interface")]
    run(ec2, stack, 1, 1, TagSpecifications=specifications)
    by_tag = [{"Name": "tag:landbridge:cluster", "Values": ["sandbox"]}]
    assert len(ec2.describe_volumes(Filters=by_tag)["Volumes"]) == 1
    assert len(ec2.describe_network_interfaces(Filters=by_tag)["NetworkInterfaces"]) == 1


def test_instances_are_described_in_pages(ec2: Any, stack: Stack) -> None:
    started = sorted(ids(run(ec2, stack, 7, 7)) + ids(run(ec2, stack, 5, 5)))
    first = ec2.describe_instances(MaxResults=5)
    assert sum(len(group["Instances"]) for group in first["Reservations"]) == 5
    pages = ec2.get_paginator("describe_instances").paginate(PaginationConfig={"PageSize": 5})
    described = [
        instance["InstanceId"] for page in pages for group in page["Reservations"] for instance in group["Instances"]
    ]
    assert sorted(described) == started == sorted(shown(ec2))
    assert error_of(lambda: ec2.describe_instances(MaxResults=1001)) == (400, "InvalidParameterValue")


def test_no_resource_is_tagged_if_one_is_unknown(ec2: Any, stack: Stack) -> None:
    known, tags = ids(run(ec2, stack, 1, 1)), [{"Key": "x", "Value": "y"}]
    refused = error_of(lambda: ec2.create_tags(Resources=[*known, "i-0123456789abcdef0"], Tags=tags))
    assert refused == (400, "InvalidInstanceID.NotFound")
    assert shown(ec2, Filters=[{"Name": "tag:x", "Values": ["y"]}]) == []


def test_a_cut_connection_loses_the_request_or_the_response(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    cloud.control(faults={"RunInstances": [{"cut": True}, {"cut": True, "after": True}]})
    for expected in (0, 1):
        with pytest.raises(ConnectionClosedError):
            run(ec2, stack, 1, 1, ClientToken="cut")
        assert len(cloud.control()["instances"]) == expected
    assert len(ids(run(ec2, stack, 1, 1, ClientToken="cut"))) == 1
    assert len(cloud.control()["instances"]) == 1


def test_a_delayed_response_causes_a_timeout(cloud: EmulatorProcess) -> None:
    import boto3
    from botocore.config import Config

    keys = dict(line.split(" = ") for line in cloud.operator_credentials.read_text().splitlines() if " = " in line)
    once = Config(retries={"total_max_attempts": 1}, read_timeout=0.3)
    impatient = boto3.session.Session(region_name="us-east-1", **keys).client(
        "ec2", endpoint_url=cloud.endpoint, config=once
    )
    cloud.control(faults={"DescribeVpcs": {"hold": 1.5}})
    with pytest.raises(ReadTimeoutError):
        impatient.describe_vpcs()


def test_a_spot_interruption_is_recommended_announced_and_executed(
    cloud: EmulatorProcess, ec2: Any, stack: Stack, wait: Callable[..., None]
) -> None:
    instance = run(ec2, stack, 1, 1, **spot())["Instances"][0]
    machine = Machine(cloud, instance["PrivateIpAddress"])
    token = machine.token()
    path = "meta-data/events/recommendations/rebalance"
    assert machine.get(path, token)[0] == 404
    cloud.control(rebalance=[instance["InstanceId"]])
    assert "noticeTime" in json.loads(machine.get(path, token)[1])
    cloud.control(interrupt={instance["InstanceId"]: 0.5})
    assert json.loads(machine.get("meta-data/spot/instance-action", token)[1])["action"] == "terminate"
    wait(lambda: cloud.control()["instances"][0]["state"] == "terminated")
    assert cloud.control()["instances"][0]["reason"].startswith("Server.SpotInstanceTermination")


def test_the_launch_index_is_in_the_metadata(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    for instance in run(ec2, stack, 2, 2)["Instances"]:
        machine = Machine(cloud, instance["PrivateIpAddress"])
        assert machine.get("meta-data/ami-launch-index") == (200, str(instance["AmiLaunchIndex"]))


@pytest.fixture
def wait() -> Callable[..., None]:
    """Return a function that waits until a condition is true."""

    def until(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 300
        while not condition():
            assert time.monotonic() < end, "not true within 300 s"
            time.sleep(0.05)

    return until
