"""Hosts, volumes and databases that an engine lost are found again, and nobody else's are."""

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


def found(cloud: EmulatorProcess, token: str, **inputs: Any) -> list[str]:
    try:
        recover = BY_TOKEN[token].recover
        assert recover is not None
        return list(recover(AwsClient("us-east-1", cloud.endpoint), {"tags": MINE, **inputs}))
    except AwsRefusal:
        return []


def marked(kind: str) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": PAIRS}]


def test_a_host_is_found_by_its_address_and_its_volume_by_its_zone(cloud: EmulatorProcess, site: Site) -> None:
    one = site.machine("10.60.0.16", TagSpecifications=marked("instance"))
    site.machine("10.60.0.17")
    host, where = "aws:ec2/instance:Instance", {"subnetId": site.subnets[0]}
    assert found(cloud, host, privateIp="10.60.0.16", **where) == [one]
    assert found(cloud, host, privateIp="10.60.0.17", **where) == [], "it bears no tag of this cluster"
    wanted = {"AvailabilityZone": site.zones[0], "Size": 8, "TagSpecifications": marked("volume")}
    volume = site.ec2.create_volume(**wanted)["VolumeId"]
    assert found(cloud, "aws:ebs/volume:Volume", availabilityZone=site.zones[0]) == [volume]
    assert found(cloud, "aws:ebs/volume:Volume", availabilityZone=site.zones[1]) == []
    place = {"volumeId": volume, "instanceId": one, "deviceName": "/dev/sdf"}
    attachment = "aws:ec2/volumeAttachment:VolumeAttachment"
    assert found(cloud, attachment, **place) == []
    site.ec2.attach_volume(VolumeId=volume, InstanceId=one, Device="/dev/sdf")
    assert found(cloud, attachment, **place) == [f"/dev/sdf:{volume}:{one}"]
    site.ec2.terminate_instances(InstanceIds=[one])
    assert found(cloud, host, privateIp="10.60.0.16", **where) == []


def test_a_kept_range_is_found_by_itself(cloud: EmulatorProcess, site: Site) -> None:
    asked = {"SubnetId": site.subnets[0], "Cidr": "10.60.0.16/28", "ReservationType": "explicit"}
    made = site.ec2.create_subnet_cidr_reservation(**asked)["SubnetCidrReservation"]["SubnetCidrReservationId"]
    token = "aws:ec2/subnetCidrReservation:SubnetCidrReservation"
    assert found(cloud, token, subnetId=site.subnets[0], cidrBlock="10.60.0.16/28") == [made]
    assert found(cloud, token, subnetId=site.subnets[1], cidrBlock="10.60.1.16/28") == []
    # What is kept is given to nobody who does not ask for it.
    addresses = {f"10.60.0.{number}" for number in range(16, 32)}
    for _ in range(20):
        one = site.machine()
        (seen,) = site.ec2.describe_instances(InstanceIds=[one])["Reservations"][0]["Instances"]
        assert seen["PrivateIpAddress"] not in addresses


@pytest.mark.parametrize("own", [True, False])
def test_a_database_is_found_by_its_name_where_it_is_ones_own(cloud: EmulatorProcess, site: Site, own: bool) -> None:
    tags = {"Tags": PAIRS} if own else {}
    site.rds.create_db_subnet_group(DBSubnetGroupName="s", DBSubnetGroupDescription="d", SubnetIds=site.subnets, **tags)
    family = {"DBParameterGroupFamily": "mariadb11.4", "Description": "d"}
    site.rds.create_db_parameter_group(DBParameterGroupName="p", **family, **tags)
    site.database(**tags)
    for token, key, name in (
        ("aws:rds/subnetGroup:SubnetGroup", "name", "s"),
        ("aws:rds/parameterGroup:ParameterGroup", "name", "p"),
        ("aws:rds/instance:Instance", "identifier", "d"),
    ):
        assert found(cloud, token, **{key: name}) == ([name] if own else [])
        assert found(cloud, token, **{key: "none"}) == []
