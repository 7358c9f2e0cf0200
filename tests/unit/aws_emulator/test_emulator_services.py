"""Instances of services, volumes and databases: the emulated AWS returns AWS's errors."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import IMAGE, client_of

ZONES = ("use1-az4", "use1-az6")


class Site:
    """A VPC with a subnet in each of two zones, a security group, and clients."""

    def __init__(self, cloud: EmulatorProcess) -> None:
        self.ec2, self.rds = client_of(cloud, "ec2"), client_of(cloud, "rds")
        self.vpc = self.ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
        made = [
            self.ec2.create_subnet(VpcId=self.vpc, CidrBlock=cidr, AvailabilityZoneId=zone)["Subnet"]
            for zone, cidr in zip(ZONES, ("10.60.0.0/24", "10.60.1.0/24"), strict=True)
        ]
        self.subnets = [one["SubnetId"] for one in made]
        self.zones = [one["AvailabilityZone"] for one in made]
        self.group = self.ec2.create_security_group(GroupName="g", Description="d", VpcId=self.vpc)["GroupId"]

    def machine(self, address: str | None = None, **more: Any) -> str:
        own = {"PrivateIpAddress": address} if address else {}
        wanted = {"ImageId": IMAGE, "InstanceType": "m7i.large", "MinCount": 1, "MaxCount": 1, **own, **more}
        response = self.ec2.run_instances(SubnetId=self.subnets[0], SecurityGroupIds=[self.group], **wanted)
        return str(response["Instances"][0]["InstanceId"])

    def volume(self, zone: int = 0) -> str:
        wanted = {"AvailabilityZone": self.zones[zone], "Size": 50, "VolumeType": "gp3", "Encrypted": True}
        return str(self.ec2.create_volume(**wanted)["VolumeId"])

    def groups(self, *subnets: str, family: str = "mariadb11.4") -> None:
        self.rds.create_db_parameter_group(DBParameterGroupName="p", DBParameterGroupFamily=family, Description="d")
        self.rds.create_db_subnet_group(
            DBSubnetGroupName="s", DBSubnetGroupDescription="d", SubnetIds=list(subnets or self.subnets)
        )

    def database(self, **more: Any) -> dict[str, Any]:
        wanted = {
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
        response = self.rds.create_db_instance(**{k: v for k, v in {**wanted, **more}.items() if v is not None})
        return dict(response["DBInstance"])


@pytest.fixture
def site(cloud: EmulatorProcess) -> Site:
    return Site(cloud)


def test_a_machine_has_the_address_that_it_asks_for_and_nobody_else_has(site: Site) -> None:
    one = site.machine("10.60.0.16")
    (seen,) = site.ec2.describe_instances(InstanceIds=[one])["Reservations"][0]["Instances"]
    assert seen["PrivateIpAddress"] == "10.60.0.16"
    for address, says in (
        ("10.60.0.16", "InvalidIPAddress.InUse"),
        ("10.60.1.9", "does not fall within"),
        ("10.60.0.3", "reserved address range"),
        ("10.60.0.255", "reserved address range"),
    ):
        with pytest.raises(ClientError, match=says):
            site.machine(address)
    site.ec2.terminate_instances(InstanceIds=[one])
    site.machine("10.60.0.16")


def test_type_changes_at_rest_and_a_protected_machine_stays(site: Site) -> None:
    one = site.machine(DisableApiTermination=True)
    with pytest.raises(ClientError, match="OperationNotPermitted"):
        site.ec2.terminate_instances(InstanceIds=[one])
    with pytest.raises(ClientError, match="IncorrectInstanceState"):
        site.ec2.modify_instance_attribute(InstanceId=one, InstanceType={"Value": "m7i.xlarge"})
    site.ec2.stop_instances(InstanceIds=[one])
    site.ec2.modify_instance_attribute(InstanceId=one, InstanceType={"Value": "m7i.xlarge"})
    site.ec2.start_instances(InstanceIds=[one])
    site.ec2.modify_instance_attribute(InstanceId=one, DisableApiTermination={"Value": False})
    site.ec2.terminate_instances(InstanceIds=[one])


def test_a_volume_is_in_one_machine_of_its_zone_and_outlives_it(site: Site) -> None:
    one, other, here, there = site.machine(), site.machine(), site.volume(), site.volume(1)

    def attach(volume: str, machine: str, device: str = "/dev/sdf") -> None:
        site.ec2.attach_volume(VolumeId=volume, InstanceId=machine, Device=device)

    attach(here, one)
    for volume, machine, says in (
        (here, other, "VolumeInUse"),
        (there, one, "InvalidVolume.ZoneMismatch"),
        (site.volume(), one, "already in use"),
    ):
        with pytest.raises(ClientError, match=says):
            attach(volume, machine)
    with pytest.raises(ClientError, match="VolumeInUse"):
        site.ec2.delete_volume(VolumeId=here)
    with pytest.raises(ClientError, match="only grow"):
        site.ec2.modify_volume(VolumeId=here, Size=40)
    site.ec2.modify_volume(VolumeId=here, Size=60)
    site.ec2.terminate_instances(InstanceIds=[one])
    (seen,) = site.ec2.describe_volumes(VolumeIds=[here])["Volumes"]
    assert (seen["Size"], seen["State"], seen["Encrypted"]) == (60, "available", True)
    attach(here, other)


@pytest.mark.parametrize(
    ("own", "says"),
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
def test_a_database_that_rds_does_not_make(site: Site, own: dict[str, Any], says: str) -> None:
    site.groups()
    with pytest.raises(ClientError, match=says):
        site.database(**own)
    assert site.rds.describe_db_instances()["DBInstances"] == []


def test_a_subnet_group_is_in_two_zones(site: Site) -> None:
    with pytest.raises(ClientError, match="DBSubnetGroupDoesNotCoverEnoughAZs"):
        site.groups(site.subnets[0])


def test_a_database_holds_what_it_stands_in_and_has_the_password_kept(cloud: EmulatorProcess, site: Site) -> None:
    site.groups()
    made = site.database(DeletionProtection=True, MultiAZ=True)
    stored = client_of(cloud, "secretsmanager").get_secret_value(SecretId=made["MasterUserSecret"]["SecretArn"])
    assert '"username"' in stored["SecretString"] and "MasterUserPassword" not in made
    interfaces = site.ec2.describe_network_interfaces()["NetworkInterfaces"]
    assert {interface["SubnetId"] for interface in interfaces} == set(site.subnets)
    for call, says in (
        (lambda: site.rds.delete_db_instance(DBInstanceIdentifier="d", SkipFinalSnapshot=True), "protect"),
        (lambda: site.rds.delete_db_subnet_group(DBSubnetGroupName="s"), "still using it"),
        (lambda: site.rds.delete_db_parameter_group(DBParameterGroupName="p"), "still members"),
        (lambda: site.ec2.delete_subnet(SubnetId=site.subnets[0]), "DependencyViolation"),
        (lambda: site.ec2.delete_security_group(GroupId=site.group), "DependencyViolation"),
    ):
        with pytest.raises(ClientError, match=says):
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


def test_a_database_grows_by_a_tenth_and_a_new_series_is_asked_for_twice(site: Site) -> None:
    site.groups()
    site.database(AllocatedStorage=100)

    def change(**own: Any) -> None:
        site.rds.modify_db_instance(DBInstanceIdentifier="d", ApplyImmediately=True, **own)

    for own, says in (
        ({"AllocatedStorage": 50}, "never shrinks"),
        ({"AllocatedStorage": 105}, "10 percent"),
        ({"EngineVersion": "11.8"}, "AllowMajorVersionUpgrade"),
        ({"EngineVersion": "11.8", "AllowMajorVersionUpgrade": True}, "mariadb11.8"),
    ):
        with pytest.raises(ClientError, match=says):
            change(**own)
    change(AllocatedStorage=110)
    change(DBInstanceClass="db.t4g.large", BackupRetentionPeriod=7)
