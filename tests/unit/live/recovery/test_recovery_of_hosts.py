"""Recovery of hosts, volumes and databases that an engine lost; those of other clusters are left alone."""

from typing import Any

import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.aws_resources import BY_TOKEN
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.test_emulator_services import Site

MINE = {"landbridge:cluster": "test", "Name": "it"}
PAIRS = [{"Key": key, "Value": value} for key, value in MINE.items()]


@pytest.fixture
def site(cloud: EmulatorProcess) -> Site:
    return Site(cloud)


def recovered_ids(cloud: EmulatorProcess, token: str, **inputs: Any) -> list[str]:
    try:
        recover = BY_TOKEN[token].recover
        assert recover is not None
        return list(recover(AwsClient("us-east-1", cloud.endpoint), {"tags": MINE, **inputs}))
    except AwsRefusal:
        return []


def marked(kind: str) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": PAIRS}]


def test_a_host_is_found_by_its_address_and_its_volume_by_its_zone(cloud: EmulatorProcess, site: Site) -> None:
    instance = site.machine("10.60.0.16", TagSpecifications=marked("instance"))
    site.machine("10.60.0.17")
    host, subnet = "aws:ec2/instance:Instance", {"subnetId": site.subnets[0]}
    assert recovered_ids(cloud, host, privateIp="10.60.0.16", **subnet) == [instance]
    assert recovered_ids(cloud, host, privateIp="10.60.0.17", **subnet) == [], "it bears no tag of this cluster"
    request = {"AvailabilityZone": site.zones[0], "Size": 8, "TagSpecifications": marked("volume")}
    volume = site.ec2.create_volume(**request)["VolumeId"]
    assert recovered_ids(cloud, "aws:ebs/volume:Volume", availabilityZone=site.zones[0]) == [volume]
    assert recovered_ids(cloud, "aws:ebs/volume:Volume", availabilityZone=site.zones[1]) == []
    attached = {"volumeId": volume, "instanceId": instance, "deviceName": "/dev/sdf"}
    attachment = "aws:ec2/volumeAttachment:VolumeAttachment"
    assert recovered_ids(cloud, attachment, **attached) == []
    site.ec2.attach_volume(VolumeId=volume, InstanceId=instance, Device="/dev/sdf")
    assert recovered_ids(cloud, attachment, **attached) == [f"/dev/sdf:{volume}:{instance}"]
    site.ec2.terminate_instances(InstanceIds=[instance])
    assert recovered_ids(cloud, host, privateIp="10.60.0.16", **subnet) == []


def test_a_subnet_cidr_reservation_is_found_by_its_range(cloud: EmulatorProcess, site: Site) -> None:
    request = {"SubnetId": site.subnets[0], "Cidr": "10.60.0.16/28", "ReservationType": "explicit"}
    reservation = site.ec2.create_subnet_cidr_reservation(**request)["SubnetCidrReservation"]["SubnetCidrReservationId"]
    token = "aws:ec2/subnetCidrReservation:SubnetCidrReservation"
    assert recovered_ids(cloud, token, subnetId=site.subnets[0], cidrBlock="10.60.0.16/28") == [reservation]
    assert recovered_ids(cloud, token, subnetId=site.subnets[1], cidrBlock="10.60.1.16/28") == []
    # EC2 assigns no address of the reserved range automatically.
    addresses = {f"10.60.0.{number}" for number in range(16, 32)}
    for _ in range(20):
        instance = site.machine()
        (described,) = site.ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"]
        assert described["PrivateIpAddress"] not in addresses


@pytest.mark.parametrize("tagged", [True, False])
def test_a_database_is_found_by_its_name_if_it_is_tagged(cloud: EmulatorProcess, site: Site, tagged: bool) -> None:
    tags = {"Tags": PAIRS} if tagged else {}
    site.rds.create_db_subnet_group(DBSubnetGroupName="s", DBSubnetGroupDescription="d", SubnetIds=site.subnets, **tags)
    family = {"DBParameterGroupFamily": "mariadb11.4", "Description": "d"}
    site.rds.create_db_parameter_group(DBParameterGroupName="p", **family, **tags)
    site.database(**tags)
    for token, key, name in (
        ("aws:rds/subnetGroup:SubnetGroup", "name", "s"),
        ("aws:rds/parameterGroup:ParameterGroup", "name", "p"),
        ("aws:rds/instance:Instance", "identifier", "d"),
    ):
        assert recovered_ids(cloud, token, **{key: name}) == ([name] if tagged else [])
        assert recovered_ids(cloud, token, **{key: "none"}) == []
