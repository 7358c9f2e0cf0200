"""The emulated account: quotas, capacity reservations and blocks, resource groups, images, dry runs, access keys."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess

from .conftest import IMAGE, Stack, client_of

UBUNTU = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
ARM = "/aws/service/deeplearning/ami/arm64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"


def code_of(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    return str(caught.value.response["Error"]["Code"])


def dry_run(ec2: Any, stack: Stack, kind: str = "p5.48xlarge", count: int = 1, **parameters: Any) -> str:
    """Return the error code of a dry run of RunInstances."""
    call: dict[str, Any] = {"ImageId": IMAGE, "InstanceType": kind, "MinCount": count, "MaxCount": count, **parameters}
    call.setdefault("NetworkInterfaces", [{"DeviceIndex": 0, "SubnetId": stack.subnets[0]}])
    return code_of(lambda: ec2.run_instances(DryRun=True, **call))


def nics(stack: Stack, *places: tuple[int, int, str]) -> list[dict[str, Any]]:
    return [
        {"NetworkCardIndex": card, "DeviceIndex": device, "InterfaceType": kind, "SubnetId": stack.subnets[0]}
        for card, device, kind in places
    ]


PRIMARY = (0, 0, "interface")


@pytest.mark.parametrize(("kind", "layout", "code"), [
    ("p5.48xlarge", [PRIMARY, (0, 1, "efa-only"), *((card, 0, "efa-only") for card in range(1, 32))], "DryRunOperation"),
    ("p6-b300.48xlarge", [PRIMARY, *((card, 0, "efa-only") for card in range(1, 17))], "DryRunOperation"),
    ("p6-b300.48xlarge", [(0, 0, "efa")], "UnsupportedOperation"),
    ("p5.48xlarge", [(0, 0, "efa-only")], "InvalidParameterCombination"),
    ("p5.48xlarge", [PRIMARY, (32, 0, "efa-only")], "InvalidParameterValue"),
    ("p5.48xlarge", [PRIMARY, (1, 2, "efa-only")], "InvalidParameterValue"),
    ("p5.48xlarge", [PRIMARY, (1, 0, "efa-only"), (1, 1, "efa")], "AttachmentLimitExceeded"),
    ("p5.48xlarge", [PRIMARY, (1, 0, "efaa")], "InvalidParameterValue"),
    ("p5.48xlarge", [PRIMARY, (1, 0, "efa-only"), (1, 0, "interface")], "InvalidParameterValue"),
    ("g6e.xlarge", [(0, 0, "efa")], "UnsupportedOperation"),
])  # fmt: skip
def test_a_dry_run_checks_the_network_interfaces(
    cloud: EmulatorProcess, ec2: Any, stack: Stack, kind: str, layout: Any, code: str
) -> None:
    cloud.control(offered={kind: ["use1-az4"]})
    assert dry_run(ec2, stack, kind, NetworkInterfaces=nics(stack, *layout)) == code


def test_a_dry_run_starts_nothing_and_checks_permissions(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    assert dry_run(ec2, stack, count=4) == "DryRunOperation"
    cloud.control(deny=["ec2:RunInstances"])
    assert dry_run(ec2, stack) == "UnauthorizedOperation"
    assert cloud.control()["instances"] == []


def test_a_quota_is_listed_and_enforced(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    quotas = client_of(cloud, "service-quotas")
    cloud.control(quotas={"L-417A185B": 384})
    quota = quotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-417A185B")["Quota"]
    assert (quota["Value"], quota["QuotaName"]) == (384, "Running On-Demand P instances")
    assert quotas.get_aws_default_service_quota(ServiceCode="ec2", QuotaCode="L-417A185B")["Quota"]["Value"] == 0
    assert dry_run(ec2, stack, count=2) == "DryRunOperation"
    assert dry_run(ec2, stack, count=3) == "VcpuLimitExceeded"
    spot = {"InstanceMarketOptions": {"MarketType": "spot"}}
    assert dry_run(ec2, stack, count=3, **spot) == "DryRunOperation"
    cloud.control(quotas={"L-C4BD4855": 0})
    assert dry_run(ec2, stack, **spot) == "MaxSpotInstanceCountExceeded"
    unknown = code_of(lambda: quotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-00000000"))
    assert unknown == "NoSuchResourceException"
    names = [q["QuotaCode"] for p in quotas.get_paginator("list_service_quotas").paginate(
        ServiceCode="vpc", PaginationConfig={"PageSize": 5}) for q in p["Quotas"]]  # fmt: skip
    assert len(names) == len(set(names)) > 5


def test_instances_with_disks_above_the_quota_are_accepted_and_end(
    cloud: EmulatorProcess, ec2: Any, stack: Stack
) -> None:
    assert (
        client_of(cloud, "service-quotas").get_service_quota(ServiceCode="ebs", QuotaCode="L-7A658B76")["Quota"][
            "Value"
        ]
        == 5000
    )
    cloud.control(quotas={"L-7A658B76": 1})
    disk = {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 600, "VolumeType": "gp3"}}
    launch = {"ImageId": IMAGE, "InstanceType": "t3.micro", "SubnetId": stack.subnets[0], "MinCount": 1, "MaxCount": 1}
    reasons = []
    for _ in range(2):
        (instance,) = ec2.run_instances(**launch, BlockDeviceMappings=[disk])["Instances"]
        ec2.get_waiter("instance_running" if not reasons else "instance_terminated").wait(
            InstanceIds=[instance["InstanceId"]], WaiterConfig={"Delay": 1, "MaxAttempts": 30}
        )
        (reservation,) = ec2.describe_instances(InstanceIds=[instance["InstanceId"]])["Reservations"]
        reasons.append((reservation["Instances"][0].get("StateReason") or {}).get("Code", ""))
    assert reasons == ["", "Client.VolumeLimitExceeded"]


def test_a_capacity_block_has_no_capacity_before_its_start_and_after_its_end(
    cloud: EmulatorProcess, ec2: Any, stack: Stack
) -> None:
    start = datetime.now(UTC) + timedelta(days=3)
    request = {"InstanceType": "p5.48xlarge", "InstanceCount": 4, "CapacityDurationHours": 48, "StartDateRange": start}
    (offering,) = ec2.describe_capacity_block_offerings(**request)["CapacityBlockOfferings"]
    chosen = {"CapacityBlockOfferingId": offering["CapacityBlockOfferingId"], "InstancePlatform": "Linux/UNIX"}
    block = ec2.purchase_capacity_block(**chosen)["CapacityReservation"]
    tags = {tag["Key"]: tag["Value"] for tag in block["Tags"]}
    assert (block["State"], block["TotalInstanceCount"], block["ReservationType"]) == ("scheduled", 0, "capacity-block")
    assert tags["aws:ec2capacityreservation:incrementalRequestedQuantity"] == "4"

    subnet = next(
        s["SubnetId"] for s in ec2.describe_subnets(SubnetIds=list(stack.subnets))["Subnets"]
        if s["AvailabilityZone"] == block["AvailabilityZone"]
    )  # fmt: skip
    call: dict[str, Any] = {
        "ImageId": IMAGE,
        "InstanceType": "p5.48xlarge",
        "SubnetId": subnet,
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": {
            "CapacityReservationTarget": {"CapacityReservationId": block["CapacityReservationId"]}
        },
    }
    assert code_of(lambda: ec2.run_instances(MinCount=1, MaxCount=1, **call)) == "InvalidCapacityReservationState"
    cloud.control(clock=4 * 86400)
    assert len(ec2.run_instances(MinCount=3, MaxCount=3, **call)["Instances"]) == 3
    response = ec2.describe_capacity_reservations(Filters=[{"Name": "state", "Values": ["active"]}])
    assert [r["AvailableInstanceCount"] for r in response["CapacityReservations"]] == [1]
    assert code_of(lambda: ec2.run_instances(MinCount=2, MaxCount=2, **call)) == "InsufficientInstanceCapacity"
    cloud.control(clock=9 * 86400)
    response = ec2.describe_capacity_reservations(CapacityReservationIds=[block["CapacityReservationId"]])
    assert response["CapacityReservations"][0]["State"] == "expired"


@pytest.mark.parametrize(("change", "code"), [
    ({"InstanceCount": 3}, "InvalidParameterValue"),
    ({"CapacityDurationHours": 25}, "InvalidParameterValue"),
    ({"InstanceType": "g6e.xlarge"}, "InvalidParameterValue"),
])  # fmt: skip
def test_an_invalid_capacity_block_is_not_offered(ec2: Any, change: dict[str, Any], code: str) -> None:
    request = {"InstanceType": "p5.48xlarge", "InstanceCount": 4, "CapacityDurationHours": 48}
    assert code_of(lambda: ec2.describe_capacity_block_offerings(**{**request, **change})) == code


def test_a_resource_group_contains_capacity_reservations(cloud: EmulatorProcess, ec2: Any) -> None:
    groups = client_of(cloud, "resource-groups")
    capacity_reservation = ec2.create_capacity_reservation(
        InstanceType="p5.48xlarge", InstancePlatform="Linux/UNIX", AvailabilityZoneId="use1-az4", InstanceCount=2
    )["CapacityReservation"]
    generic = {"Type": "AWS::ResourceGroups::Generic", "Parameters": [
        {"Name": "allowed-resource-types", "Values": ["AWS::EC2::CapacityReservation"]}]}  # fmt: skip
    arn = groups.create_group(Name="p5", Configuration=[{"Type": "AWS::EC2::CapacityReservationPool"}, generic])[
        "Group"
    ]["GroupArn"]
    answer = groups.group_resources(Group=arn, ResourceArns=[capacity_reservation["CapacityReservationArn"]])
    assert answer["Failed"] == []
    assert groups.get_group(Group=arn)["Group"]["Name"] == "p5"
    kinds = groups.get_group_configuration(Group=arn)["GroupConfiguration"]["Configuration"]
    assert {kind["Type"] for kind in kinds} == {"AWS::EC2::CapacityReservationPool", "AWS::ResourceGroups::Generic"}
    members = groups.list_group_resources(Group=arn)["ResourceIdentifiers"]
    assert [member["ResourceArn"] for member in members] == [capacity_reservation["CapacityReservationArn"]]
    assert code_of(lambda: groups.get_group(Group="nobody-made-it")) == "NotFoundException"
    cloud.control(deny=["resource-groups:*"])
    assert code_of(lambda: groups.get_group(Group=arn)) == "AccessDeniedException"


def test_a_public_parameter_has_an_existing_image(cloud: EmulatorProcess, ec2: Any, stack: Stack) -> None:
    ssm = client_of(cloud, "ssm")
    answer = ssm.get_parameters(Names=[UBUNTU, f"{ARM}:1", "/aws/service/nobody/published/it"])
    assert answer["InvalidParameters"] == ["/aws/service/nobody/published/it"]
    parameters = {parameter["Name"]: parameter for parameter in answer["Parameters"]}
    assert (parameters[UBUNTU]["Version"], parameters[ARM]["Version"]) == (2, 1)
    image, arm = (ec2.describe_images(ImageIds=[parameters[name]["Value"]])["Images"][0] for name in (UBUNTU, ARM))
    assert (image["Architecture"], image["RootDeviceName"], image["ImageOwnerAlias"]) == (
        "x86_64",
        "/dev/sda1",
        "amazon",
    )
    assert dry_run(ec2, stack, ImageId=arm["ImageId"]) == "InvalidParameterValue"
    assert dry_run(ec2, stack, ImageId="ami-0123456789abcdef0") == "InvalidAMIID.NotFound"
    disk = [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 20}}]
    assert dry_run(ec2, stack, ImageId=image["ImageId"], BlockDeviceMappings=disk) == "InvalidBlockDeviceMapping"
    cloud.control(released={UBUNTU: 1})
    assert ssm.get_parameter(Name=UBUNTU)["Parameter"]["Value"] != image["ImageId"]


def test_instance_types_are_described_in_pages_and_offered_by_zone(cloud: EmulatorProcess, ec2: Any) -> None:
    pages = list(ec2.get_paginator("describe_instance_types").paginate())
    assert len(pages) > 3 and max(len(page["InstanceTypes"]) for page in pages) == 100
    query: dict[str, Any] = {
        "LocationType": "availability-zone-id",
        "Filters": [{"Name": "instance-type", "Values": ["p5.48xlarge"]}],
    }
    cloud.control(offered={"p5.48xlarge": ["use1-az1"]})
    offers = ec2.describe_instance_type_offerings(**query)["InstanceTypeOfferings"]
    assert [offer["Location"] for offer in offers] == ["use1-az1"]


@pytest.mark.parametrize(("service", "call", "action", "code"), [
    ("ec2", "describe_vpcs", "ec2:DescribeVpcs", "UnauthorizedOperation"),
    ("sts", "get_caller_identity", "sts:*", "AccessDenied"),
    ("ssm", "describe_parameters", "ssm:DescribeParameters", "AccessDeniedException"),
    ("efs", "describe_file_systems", "elasticfilesystem:DescribeFileSystems", "AccessDeniedException"),
    ("s3", "list_buckets", "s3:*", "AccessDenied"),
])  # fmt: skip
def test_a_denied_action_is_refused_until_it_is_permitted(
    cloud: EmulatorProcess, service: str, call: str, action: str, code: str
) -> None:
    cloud.control(deny=[action])
    assert code_of(getattr(client_of(cloud, service), call)) == code
    cloud.control(deny=[])
    getattr(client_of(cloud, service), call)()


def test_a_subnet_counts_the_free_addresses_of_all_interfaces(ec2: Any, stack: Stack) -> None:
    def free() -> int:
        return int(ec2.describe_subnets(SubnetIds=[stack.subnets[0]])["Subnets"][0]["AvailableIpAddressCount"])

    before = free()
    wide = nics(stack, PRIMARY, (0, 1, "efa-only"), (1, 0, "efa"), (2, 0, "interface"))
    call: Any = ec2.run_instances(
        ImageId=IMAGE, InstanceType="p5.48xlarge", MinCount=2, MaxCount=2, NetworkInterfaces=wide
    )
    assert free() == before - 6
    ec2.terminate_instances(InstanceIds=[instance["InstanceId"] for instance in call["Instances"]])
    assert free() == before
