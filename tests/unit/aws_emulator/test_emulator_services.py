"""Instances, volumes and databases of services in the emulated AWS, with AWS's errors."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import IMAGE, client_of

ZONES = ("use1-az4", "use1-az6")


class Site:
    """A VPC with a subnet in each of two zones, a security group, and clients."""

    def __init__(self, cloud: EmulatorProcess) -> None:
        self.cloud, self.ec2, self.rds = cloud, client_of(cloud, "ec2"), client_of(cloud, "rds")
        self.vpc = self.ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
        subnets = [
            self.ec2.create_subnet(VpcId=self.vpc, CidrBlock=cidr, AvailabilityZoneId=zone)["Subnet"]
            for zone, cidr in zip(ZONES, ("10.60.0.0/24", "10.60.1.0/24"), strict=True)
        ]
        self.subnets = [subnet["SubnetId"] for subnet in subnets]
        self.zones = [subnet["AvailabilityZone"] for subnet in subnets]
        self.group = self.ec2.create_security_group(GroupName="g", Description="d", VpcId=self.vpc)["GroupId"]

    def machine(self, address: str | None = None, **parameters: Any) -> str:
        private_address = {"PrivateIpAddress": address} if address else {}
        arguments = {
            "ImageId": IMAGE,
            "InstanceType": "m7i.large",
            "MinCount": 1,
            "MaxCount": 1,
            **private_address,
            **parameters,
        }
        response = self.ec2.run_instances(SubnetId=self.subnets[0], SecurityGroupIds=[self.group], **arguments)
        return str(response["Instances"][0]["InstanceId"])

    def volume(self, zone: int = 0) -> str:
        arguments = {"AvailabilityZone": self.zones[zone], "Size": 50, "VolumeType": "gp3", "Encrypted": True}
        return str(self.ec2.create_volume(**arguments)["VolumeId"])

    def groups(self, *subnets: str, family: str = "mariadb11.4") -> None:
        self.rds.create_db_parameter_group(DBParameterGroupName="p", DBParameterGroupFamily=family, Description="d")
        self.rds.create_db_subnet_group(
            DBSubnetGroupName="s", DBSubnetGroupDescription="d", SubnetIds=list(subnets or self.subnets)
        )

    def database(self, **parameters: Any) -> dict[str, Any]:
        arguments = {
            "DBInstanceIdentifier": "d",
            "Engine": "mariadb",
            "EngineVersion": "11.4",
            "DBInstanceClass": "db.t4g.medium",
            "AllocatedStorage": 20,
            "StorageType": "gp3",
            "MasterUsername": "admin",
            "ManageMasterUserPassword": True,
            "DBSubnetGroupName": "s",
            "DBParameterGroupName": "p",
            "VpcSecurityGroupIds": [self.group],
        }
        response = self.rds.create_db_instance(
            **{k: v for k, v in {**arguments, **parameters}.items() if v is not None}
        )
        return dict(response["DBInstance"])


@pytest.fixture
def site(cloud: EmulatorProcess) -> Iterator[Site]:
    yield Site(cloud)
    cloud.control(reset=True)


def test_an_instance_gets_its_requested_address_unless_it_is_in_use_or_invalid(site: Site) -> None:
    instance_id = site.machine("10.60.0.16")
    (described,) = site.ec2.describe_instances(InstanceIds=[instance_id])["Reservations"][0]["Instances"]
    assert described["PrivateIpAddress"] == "10.60.0.16"
    for address, message in (
        ("10.60.0.16", "InvalidIPAddress.InUse"),
        ("10.60.1.9", "does not fall within"),
        ("10.60.0.3", "reserved address range"),
        ("10.60.0.255", "reserved address range"),
    ):
        with pytest.raises(ClientError, match=message):
            site.machine(address)
    site.ec2.terminate_instances(InstanceIds=[instance_id])
    site.machine("10.60.0.16")


def test_the_type_of_a_stopped_instance_changes_and_a_protected_one_is_not_terminated(site: Site) -> None:
    instance_id = site.machine(DisableApiTermination=True)
    with pytest.raises(ClientError, match="OperationNotPermitted"):
        site.ec2.terminate_instances(InstanceIds=[instance_id])
    with pytest.raises(ClientError, match="IncorrectInstanceState"):
        site.ec2.modify_instance_attribute(InstanceId=instance_id, InstanceType={"Value": "m7i.xlarge"})
    site.ec2.stop_instances(InstanceIds=[instance_id])
    site.ec2.modify_instance_attribute(InstanceId=instance_id, InstanceType={"Value": "m7i.xlarge"})
    site.ec2.start_instances(InstanceIds=[instance_id])
    site.ec2.modify_instance_attribute(InstanceId=instance_id, DisableApiTermination={"Value": False})
    site.ec2.terminate_instances(InstanceIds=[instance_id])


def test_a_volume_is_attached_to_one_instance_of_its_zone_and_survives_it(site: Site) -> None:
    first, second, attached_volume, volume_elsewhere = site.machine(), site.machine(), site.volume(), site.volume(1)

    def attach(volume: str, machine: str, device: str = "/dev/sdf") -> None:
        site.ec2.attach_volume(VolumeId=volume, InstanceId=machine, Device=device)

    attach(attached_volume, first)
    for volume, machine, message in (
        (attached_volume, second, "VolumeInUse"),
        (volume_elsewhere, first, "InvalidVolume.ZoneMismatch"),
        (site.volume(), first, "already in use"),
    ):
        with pytest.raises(ClientError, match=message):
            attach(volume, machine)
    with pytest.raises(ClientError, match="VolumeInUse"):
        site.ec2.delete_volume(VolumeId=attached_volume)
    with pytest.raises(ClientError, match="equal to the existing size"):
        site.ec2.modify_volume(VolumeId=attached_volume, Size=40)
    site.ec2.modify_volume(VolumeId=attached_volume, Size=60)
    site.ec2.terminate_instances(InstanceIds=[first])
    (described,) = site.ec2.describe_volumes(VolumeIds=[attached_volume])["Volumes"]
    assert (described["Size"], described["State"], described["Encrypted"]) == (60, "available", True)
    attach(attached_volume, second)


def test_a_volume_is_modified_four_times_in_a_day(site: Site) -> None:
    volume_id, other_id = site.volume(), site.volume()
    changes: list[dict[str, Any]] = [{"Size": 51}, {"Iops": 4000}, {"Throughput": 250}, {"Size": 52}]
    for hour, change in enumerate(changes):
        site.cloud.control(clock=hour * 3600)
        site.ec2.modify_volume(VolumeId=volume_id, **change)
    with pytest.raises(ClientError, match=r"VolumeModificationRateExceeded.*maximum modification rate"):
        site.ec2.modify_volume(VolumeId=volume_id, Size=53)
    with pytest.raises(ClientError, match="VolumeModificationRateExceeded"):
        site.ec2.modify_volume(VolumeId=volume_id, Iops=5000)
    site.ec2.modify_volume(VolumeId=other_id, Size=53)
    # A day after the first one there is room for one.
    site.cloud.control(clock=24 * 3600 + 60)
    site.ec2.modify_volume(VolumeId=volume_id, Size=53)
    with pytest.raises(ClientError, match="VolumeModificationRateExceeded"):
        site.ec2.modify_volume(VolumeId=volume_id, Size=54)
    (described,) = site.ec2.describe_volumes(VolumeIds=[volume_id])["Volumes"]
    assert (described["Size"], described["Iops"]) == (53, 4000)


def test_a_volume_is_not_modified_before_its_last_modification_is_complete(site: Site) -> None:
    def state() -> str:
        modifications = site.ec2.describe_volumes_modifications(VolumeIds=[volume_id])["VolumesModifications"]
        return str(modifications[-1]["ModificationState"])

    volume_id = site.volume()
    site.cloud.control(volume_change=1800)
    site.ec2.modify_volume(VolumeId=volume_id, Size=60)
    with pytest.raises(ClientError, match=f"IncorrectModificationState.*{volume_id} cannot be modified"):
        site.ec2.modify_volume(VolumeId=volume_id, Size=70)
    assert state() == "optimizing"
    site.cloud.control(clock=1801)
    assert state() == "completed"
    # A refused modification does not count.
    for number, gib in enumerate((70, 80, 90), start=1):
        site.cloud.control(clock=number * 1801)
        site.ec2.modify_volume(VolumeId=volume_id, Size=gib)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"EngineVersion": "9.9"}, "Cannot find version 9.9"),
        ({"EngineVersion": "11.8"}, "mariadb11.8"),
        ({"MasterUserPassword": "longenough"}, "ManageMasterUserPassword"),
        ({"ManageMasterUserPassword": None}, "ManageMasterUserPassword"),
        ({"AllocatedStorage": 10}, "Invalid storage size"),
        ({"BackupRetentionPeriod": 36}, "backup retention period"),
        ({"KmsKeyId": "arn:aws:kms:us-east-1:123456789012:key/none"}, "does not exist"),
        ({"DBSubnetGroupName": "none"}, "not found"),
        ({"DBParameterGroupName": "none"}, "not found"),
        ({"AvailabilityZone": "us-east-1f"}, "no subnet in"),
    ],
)
def test_an_invalid_database_is_refused(site: Site, parameters: dict[str, Any], message: str) -> None:
    site.groups()
    with pytest.raises(ClientError, match=message):
        site.database(**parameters)
    assert site.rds.describe_db_instances()["DBInstances"] == []


def test_a_subnet_group_needs_two_zones(site: Site) -> None:
    with pytest.raises(ClientError, match="DBSubnetGroupDoesNotCoverEnoughAZs"):
        site.groups(site.subnets[0])


def test_a_database_protects_its_dependencies_and_stores_its_password(cloud: EmulatorProcess, site: Site) -> None:
    site.groups()
    created = site.database(DeletionProtection=True, MultiAZ=True)
    stored = client_of(cloud, "secretsmanager").get_secret_value(SecretId=created["MasterUserSecret"]["SecretArn"])
    assert '"username"' in stored["SecretString"] and "MasterUserPassword" not in created
    interfaces = site.ec2.describe_network_interfaces()["NetworkInterfaces"]
    assert {interface["SubnetId"] for interface in interfaces} == set(site.subnets)
    for call, message in (
        (lambda: site.rds.delete_db_instance(DBInstanceIdentifier="d", SkipFinalSnapshot=True), "protect"),
        (lambda: site.rds.delete_db_subnet_group(DBSubnetGroupName="s"), "still using it"),
        (lambda: site.rds.delete_db_parameter_group(DBParameterGroupName="p"), "still members"),
        (lambda: site.ec2.delete_subnet(SubnetId=site.subnets[0]), "DependencyViolation"),
        (lambda: site.ec2.delete_security_group(GroupId=site.group), "DependencyViolation"),
    ):
        with pytest.raises(ClientError, match=message):
            call()
    site.rds.modify_db_instance(DBInstanceIdentifier="d", DeletionProtection=False, ApplyImmediately=True)
    with pytest.raises(ClientError, match="FinalDBSnapshotIdentifier"):
        site.rds.delete_db_instance(DBInstanceIdentifier="d")
    site.rds.delete_db_instance(DBInstanceIdentifier="d", FinalDBSnapshotIdentifier="last")
    assert site.ec2.describe_network_interfaces()["NetworkInterfaces"] == []
    site.database()
    with pytest.raises(ClientError, match="DBSnapshotAlreadyExists"):
        site.rds.delete_db_instance(DBInstanceIdentifier="d", FinalDBSnapshotIdentifier="last")
    site.rds.delete_db_instance(DBInstanceIdentifier="d", SkipFinalSnapshot=True)
    site.ec2.delete_security_group(GroupId=site.group)


def test_a_database_grows_by_a_tenth_and_a_major_upgrade_needs_permission(site: Site) -> None:
    site.groups()
    site.database(AllocatedStorage=100)

    def change(**parameters: Any) -> None:
        site.rds.modify_db_instance(DBInstanceIdentifier="d", ApplyImmediately=True, **parameters)

    for invalid, message in (
        ({"AllocatedStorage": 50}, "can't reduce the amount of storage"),
        ({"AllocatedStorage": 105}, "10 percent"),
        ({"EngineVersion": "11.8"}, "AllowMajorVersionUpgrade"),
        ({"EngineVersion": "11.8", "AllowMajorVersionUpgrade": True}, "mariadb11.8"),
    ):
        with pytest.raises(ClientError, match=message):
            change(**invalid)
    change(AllocatedStorage=110)
    with pytest.raises(ClientError, match=r"six \(6\) hours"):
        change(AllocatedStorage=130)
    change(DBInstanceClass="db.t4g.large", BackupRetentionPeriod=7)
