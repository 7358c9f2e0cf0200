"""Launches in the emulated AWS: behaviour of AWS that moto lacks."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.ec2.images import ami_id
from sandbox.aws_emulator.process import EmulatorProcess

from ..conftest import IMAGE, Stack


def error_of(call: Callable[[], Any]) -> tuple[int, str]:
    with pytest.raises(ClientError) as caught:
        call()
    return caught.value.response["ResponseMetadata"]["HTTPStatusCode"], caught.value.response["Error"]["Code"]


def ids_of(answer: Any) -> list[str]:
    return [instance for group in answer["Instances"] for instance in group["InstanceIds"]]


def run(ec2: Any, stack: Stack, min_count: int, max_count: int, **parameters: Any) -> Any:
    template = {"LaunchTemplateId": stack.template}
    nic = [{"DeviceIndex": 0, "SubnetId": stack.subnets[0]}]
    return ec2.run_instances(
        LaunchTemplate=template, MinCount=min_count, MaxCount=max_count, **{"NetworkInterfaces": nic, **parameters}
    )


def test_a_launched_instance_has_the_values_of_its_launch_template(
    ec2: Any, stack: Stack, fleet: Callable[..., Any]
) -> None:
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "landbridge:cluster", "Value": "sandbox"}]}]
    answer = fleet(2, subnets=stack.subnets[:1], TagSpecifications=tags)
    assert [len(group["InstanceIds"]) for group in answer["Instances"]] == [2]  # grouped by override
    reservations = ec2.describe_instances(Filters=[{"Name": "tag:landbridge:cluster", "Values": ["sandbox"]}])[
        "Reservations"
    ]
    instances = [instance for reservation in reservations for instance in reservation["Instances"]]
    assert sorted(instance["PrivateIpAddress"] for instance in instances) == ["10.60.0.4", "10.60.0.5"]
    for instance in instances:
        assert instance["ImageId"] == IMAGE
        assert instance["State"]["Name"] == "running"
        assert instance["SubnetId"] == stack.subnets[0]
        assert instance["Placement"]["AvailabilityZoneId"] == "use1-az4"
        assert [group["GroupId"] for group in instance["SecurityGroups"]] == [stack.group]
        assert instance["MetadataOptions"]["HttpTokens"] == "required"
        assert {"from": "template", "landbridge:cluster": "sandbox"}.items() <= {
            tag["Key"]: tag["Value"] for tag in instance["Tags"]
        }.items()
    data = ec2.describe_instance_attribute(InstanceId=instances[0]["InstanceId"], Attribute="userData")
    assert data["UserData"]["Value"] == "aGVsbG8="


def test_insufficient_capacity_launches_nothing_and_is_an_error(
    cloud: EmulatorProcess, fleet: Callable[..., Any]
) -> None:
    cloud.control(pool={"p5.48xlarge/use1-az4": 1, "p5.48xlarge/us-east-1a": 1})
    answer = fleet(2)
    assert answer["Instances"] == []
    assert [error["ErrorCode"] for error in answer["Errors"]] == ["InsufficientInstanceCapacity"] * 2
    assert cloud.control()["instances"] == []


def test_a_fleet_of_a_single_zone_is_not_spread_over_zones(
    cloud: EmulatorProcess, stack: Stack, fleet: Callable[..., Any]
) -> None:
    cloud.control(pool={"p5.48xlarge/use1-az4": 1, "p5.48xlarge/use1-az6": 3})
    answer = fleet(2)
    assert [g["LaunchTemplateAndOverrides"]["Overrides"]["SubnetId"] for g in answer["Instances"]] == [stack.subnets[1]]
    assert {instance["zone"] for instance in cloud.control()["instances"]} == {"us-east-1a"}


def test_partial_fleet_fills_over_zones_and_reports_the_rest(cloud: EmulatorProcess, fleet: Callable[..., Any]) -> None:
    cloud.control(pool={"p5.48xlarge/use1-az4": 1, "p5.48xlarge/use1-az6": 2})
    answer = fleet(4, OnDemandOptions={})
    assert [len(group["InstanceIds"]) for group in answer["Instances"]] == [1, 2]
    assert len(answer["Errors"]) == 2


def test_a_terminated_instance_returns_its_capacity(
    cloud: EmulatorProcess, ec2: Any, fleet: Callable[..., Any]
) -> None:
    cloud.control(pool={"p5.48xlarge/*": 2})
    ids = ids_of(fleet(2))
    assert fleet(1)["Instances"] == []
    ec2.terminate_instances(InstanceIds=ids)
    assert len(ids_of(fleet(2))) == 2


def test_a_freed_address_is_reused_last(
    cloud: EmulatorProcess, ec2: Any, stack: Stack, fleet: Callable[..., Any]
) -> None:
    first = ids_of(fleet(1, subnets=stack.subnets[:1]))
    before = cloud.control()["instances"][0]["address"]
    ec2.terminate_instances(InstanceIds=first)
    fleet(1, subnets=stack.subnets[:1])
    addresses = {i["id"]: i["address"] for i in cloud.control()["instances"]}
    assert before not in [address for key, address in addresses.items() if key not in first]


def test_a_client_token_launches_once(cloud: EmulatorProcess, fleet: Callable[..., Any]) -> None:
    first, second = fleet(2, ClientToken="a"), fleet(2, ClientToken="a")
    assert ids_of(first) == ids_of(second)
    assert len(cloud.control()["instances"]) == 2
    assert error_of(lambda: fleet(1, ClientToken="a")) == (400, "IdempotentParameterMismatch")
    assert ids_of(fleet(2, ClientToken="b")) != ids_of(first)


def test_run_instances_respects_counts_and_client_token(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    cloud.control(pool={"p5.48xlarge/*": 3})
    assert error_of(lambda: run(ec2, stack, 4, 8)) == (500, "InsufficientInstanceCapacity")
    assert len(run(ec2, stack, 1, 8, ClientToken="x")["Instances"]) == 3
    assert len(run(ec2, stack, 1, 8, ClientToken="x")["Instances"]) == 3
    assert cloud.control()["pool"] == {"p5.48xlarge/*": 0}


def test_throttling_is_error_503(cloud: EmulatorProcess, fleet: Callable[..., Any]) -> None:
    cloud.control(buckets={"CreateFleet": [1, 0.001]})
    fleet(1)
    assert error_of(lambda: fleet(1)) == (503, "RequestLimitExceeded")
    assert cloud.control()["errors"] == {"RequestLimitExceeded": 1}


def test_an_injected_fault_occurs_the_set_number_of_times(cloud: EmulatorProcess, ec2: Any) -> None:
    cloud.control(faults={"DescribeVpcs": {"code": "UnauthorizedOperation", "status": 403}})
    assert error_of(ec2.describe_vpcs) == (403, "UnauthorizedOperation")
    assert "Vpcs" in ec2.describe_vpcs()


def test_a_launch_in_a_full_subnet_is_refused(ec2: Any, stack: Stack) -> None:
    small = ec2.create_subnet(VpcId=stack.vpc, CidrBlock="10.60.255.0/28", AvailabilityZoneId="use1-az4")["Subnet"]
    nic = [{"DeviceIndex": 0, "SubnetId": small["SubnetId"]}]
    assert len(run(ec2, stack, 1, 20, NetworkInterfaces=nic)["Instances"]) == 11
    refused = error_of(lambda: run(ec2, stack, 1, 1, NetworkInterfaces=nic))
    assert refused == (400, "InsufficientFreeAddressesInSubnet")


DEBIAN = "/aws/service/debian/release/13/latest/amd64"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"InstanceType": "p5.47xlarge"}, "InvalidParameterValue"),
        ({"ImageId": "ami-typo"}, "InvalidAMIID.Malformed"),
        ({"ImageId": ami_id("us-east-2", DEBIAN, 1)}, "InvalidAMIID.NotFound"),
        ({"Placement": {"GroupName": "nobody-made-it"}}, "InvalidPlacementGroup.Unknown"),
        ({"NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": "subnet-00000000"}]}, "InvalidSubnetID.NotFound"),
        ({"NetworkInterfaces": [{"DeviceIndex": 1}]}, "InvalidParameterCombination"),
    ],
)
def test_an_invalid_launch_is_refused(ec2: Any, stack: Stack, change: dict[str, Any], code: str) -> None:
    assert error_of(lambda: run(ec2, stack, 1, 1, **change)) == (400, code)


def test_a_placement_group_is_unique_and_not_deleted_while_in_use(ec2: Any, stack: Stack) -> None:
    group = ec2.create_placement_group(GroupName="sandbox-p5", Strategy="cluster")["PlacementGroup"]
    assert ec2.describe_placement_groups(GroupNames=["sandbox-p5"])["PlacementGroups"] == [group]
    refused = error_of(lambda: ec2.create_placement_group(GroupName="sandbox-p5", Strategy="cluster"))
    assert refused == (400, "InvalidPlacementGroup.Duplicate")
    started = run(ec2, stack, 1, 1, Placement={"GroupName": "sandbox-p5"})["Instances"][0]
    assert started["Placement"]["GroupName"] == "sandbox-p5"
    refused = error_of(lambda: ec2.delete_placement_group(GroupName="sandbox-p5"))
    assert refused == (400, "InvalidPlacementGroup.InUse")
    ec2.terminate_instances(InstanceIds=[started["InstanceId"]])
    ec2.delete_placement_group(GroupName="sandbox-p5")
    refused = error_of(lambda: ec2.describe_placement_groups(GroupNames=["sandbox-p5"]))
    assert refused == (400, "InvalidPlacementGroup.Unknown")


def test_a_call_that_is_not_implemented_is_an_error(ec2: Any, fleet: Callable[..., Any]) -> None:
    assert error_of(ec2.describe_capacity_reservation_topology) == (400, "NotImplementedInSandbox")
    assert error_of(lambda: fleet(1, Type="maintain")) == (400, "NotImplementedInSandbox")


def test_an_instance_is_pending_during_the_boot_delay(
    cloud: EmulatorProcess, ec2: Any, fleet: Callable[..., Any]
) -> None:
    cloud.control(boot=0.5)
    ids = ids_of(fleet(1))
    state = ec2.describe_instances(InstanceIds=ids)["Reservations"][0]["Instances"][0]["State"]["Name"]
    assert state == "pending"
    ec2.get_waiter("instance_running").wait(InstanceIds=ids, WaiterConfig={"Delay": 1, "MaxAttempts": 5})


@pytest.mark.parametrize("key", ["Cost Center", "acme.org/team", "Kostenträger", ".", "..", "_index"])
def test_a_launch_with_metadata_tags_refuses_keys_that_the_metadata_service_cannot_show(
    cloud: EmulatorProcess, ec2: Any, stack: Stack, fleet: Callable[..., Any], key: str
) -> None:
    tags = [{"ResourceType": "instance", "Tags": [{"Key": key, "Value": "1/2 3"}]}]
    assert error_of(lambda: run(ec2, stack, 1, 1, TagSpecifications=tags)) == (400, "InvalidParameterValue")
    assert [error["ErrorCode"] for error in fleet(1, TagSpecifications=tags)["Errors"]] == ["InvalidParameterValue"] * 2
    assert cloud.control()["instances"] == []
    # Volumes have no metadata service.
    run(ec2, stack, 1, 1, TagSpecifications=[{**tags[0], "ResourceType": "volume"}])


def test_an_instance_shows_its_tags_only_if_the_metadata_service_can(ec2: Any, stack: Stack) -> None:
    hidden = {"HttpTokens": "required", "InstanceMetadataTags": "disabled"}
    tags = [{"Key": "Cost Center", "Value": "1"}]
    named = [{"ResourceType": "instance", "Tags": tags}]
    instance = run(ec2, stack, 1, 1, MetadataOptions=hidden, TagSpecifications=named)["Instances"][0]["InstanceId"]
    shown = {"InstanceId": instance, "HttpTokens": "required", "InstanceMetadataTags": "enabled"}
    refused = (400, "InvalidParameterValue")
    assert error_of(lambda: ec2.modify_instance_metadata_options(**shown)) == refused
    ec2.delete_tags(Resources=[instance], Tags=tags)
    ec2.modify_instance_metadata_options(**shown)
    assert error_of(lambda: ec2.create_tags(Resources=[instance], Tags=tags)) == refused
