"""The emulated FSx and EFS, with AWS's responses and errors."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from landbridge.catalog.aws.storage import storage as facts
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of

P2 = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250}


@pytest.fixture
def fsx(cloud: EmulatorProcess) -> Any:
    return client_of(cloud, "fsx")


@pytest.fixture
def subnets(ec2: Any) -> list[str]:
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    return [
        ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZoneId=zone)["Subnet"]["SubnetId"]
        for zone, cidr in (("use1-az4", "10.60.0.0/20"), ("use1-az6", "10.60.16.0/20"))
    ]


def lustre(fsx: Any, subnets: list[str], gib: int | None = 1200, top: Any = None, **settings: Any) -> dict[str, Any]:
    """Create a Lustre file system of `gib` GiB, by default persistent_2."""
    size = {} if gib is None else {"StorageCapacity": gib}
    response = fsx.create_file_system(
        FileSystemType="LUSTRE", SubnetIds=subnets[:1], LustreConfiguration={**P2, **settings}, **size, **(top or {})
    )
    return dict(response["FileSystem"])


def zfs(fsx: Any, subnets: list[str], gib: int, **settings: Any) -> dict[str, Any]:
    configuration = {"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160, **settings}
    response = fsx.create_file_system(
        FileSystemType="OPENZFS", SubnetIds=subnets[:1], StorageCapacity=gib, OpenZFSConfiguration=configuration
    )
    return dict(response["FileSystem"])


@pytest.mark.parametrize(
    ("gib", "lustre_settings", "top", "message"),
    [
        (3000, {}, {}, "StorageCapacity 3000"),
        (None, {}, {}, "StorageCapacity None"),
        (1200, {"PerUnitStorageThroughput": 200}, {}, r"valid values are \[125, 250, 500, 1000\]"),
        (1200, {"EfaEnabled": True}, {}, "metadata configuration"),
        (2400, {"EfaEnabled": True, "MetadataConfiguration": {"Mode": "AUTOMATIC"}}, {}, "EFA-enabled"),
        (1200, {"ImportPath": "s3://a"}, {}, "ImportPath and ExportPath"),
        (1200, {"DriveCacheType": "NONE"}, {}, "DriveCacheType"),
        (1200, {"AutomaticBackupRetentionDays": 91}, {}, "between 0 and 90"),
        (1200, {}, {"KmsKeyId": "arn:aws:kms:us-east-1:123456789012:key/none"}, "does not exist"),
        (1200, {}, {"SecurityGroupIds": ["sg-0123456789abcdef0"]}, "does not exist in the VPC"),
        (1200, {}, {"StorageType": "HDD"}, "storage type HDD"),
        (1200, {}, {"FileSystemTypeVersion": "2.10"}, "FileSystemTypeVersion"),
        (1200, {}, {"StorageType": "INTELLIGENT_TIERING"}, "no StorageCapacity"),
    ],
)
def test_an_invalid_lustre_is_refused(
    fsx: Any, subnets: list[str], gib: int | None, lustre_settings: Any, top: Any, message: str
) -> None:
    with pytest.raises(ClientError, match=message):
        lustre(fsx, subnets, gib, top, **lustre_settings)
    assert fsx.describe_file_systems()["FileSystems"] == []


def test_scratch_has_no_backups_and_no_choice_of_throughput(fsx: Any, subnets: list[str]) -> None:
    for lustre_settings in ({"AutomaticBackupRetentionDays": 1}, {"PerUnitStorageThroughput": 250}):
        with pytest.raises(ClientError, match=r"scratch|SCRATCH"):
            fsx.create_file_system(
                FileSystemType="LUSTRE",
                SubnetIds=subnets[:1],
                StorageCapacity=1200,
                LustreConfiguration={"DeploymentType": "SCRATCH_2", **lustre_settings},
            )


def test_every_size_and_throughput_of_the_catalogue_is_accepted(fsx: Any, subnets: list[str]) -> None:
    for row in facts().fsx_lustre.deployments:
        cache = {"DriveCacheType": "NONE"} if row.storage == "hdd" else {}
        for rate in row.throughput[:1] or (None,):
            throughput = {} if rate is None else {"PerUnitStorageThroughput": rate}
            file_system = fsx.create_file_system(
                FileSystemType="LUSTRE",
                SubnetIds=subnets[:1],
                StorageCapacity=row.sizes[0],
                StorageType=row.storage.upper(),
                LustreConfiguration={"DeploymentType": row.deployment.upper(), **throughput, **cache},
            )["FileSystem"]
            assert (file_system["Lifecycle"], len(file_system["LustreConfiguration"]["MountName"]) in (3, 8)) == (
                "CREATING",
                True,
            )


def test_a_file_system_has_interfaces_until_its_deletion(fsx: Any, ec2: Any, subnets: list[str]) -> None:
    def interface_count() -> int:
        return len(ec2.describe_network_interfaces()["NetworkInterfaces"])

    file_system = lustre(fsx, subnets, 4800)
    assert interface_count() == len(file_system["NetworkInterfaceIds"]) == 3
    (described,) = fsx.describe_file_systems(FileSystemIds=[file_system["FileSystemId"]])["FileSystems"]
    assert (
        described["Lifecycle"] == "AVAILABLE"
        and described["DNSName"] == f"{file_system['FileSystemId']}.fsx.us-east-1.amazonaws.com"
    )
    fsx.delete_file_system(FileSystemId=file_system["FileSystemId"])
    assert interface_count() == 0
    with pytest.raises(ClientError, match="FileSystemNotFound"):
        fsx.describe_file_systems(FileSystemIds=[file_system["FileSystemId"]])


def test_storage_grows_by_at_least_a_tenth_every_six_hours(
    cloud: EmulatorProcess, fsx: Any, subnets: list[str]
) -> None:
    file_system_id = zfs(fsx, subnets, 1000)["FileSystemId"]
    for gib in (500, 1050):
        with pytest.raises(ClientError, match="10 percent"):
            fsx.update_file_system(FileSystemId=file_system_id, StorageCapacity=gib)
    fsx.update_file_system(FileSystemId=file_system_id, StorageCapacity=1100)
    with pytest.raises(ClientError, match="6 hours apart"):
        fsx.update_file_system(FileSystemId=file_system_id, StorageCapacity=2200)
    cloud.control(clock=6 * 3600 + 1)
    assert (
        fsx.update_file_system(FileSystemId=file_system_id, StorageCapacity=2200)["FileSystem"]["StorageCapacity"]
        == 2200
    )
    with pytest.raises(ClientError, match="ThroughputCapacity 100"):
        fsx.update_file_system(FileSystemId=file_system_id, OpenZFSConfiguration={"ThroughputCapacity": 100})


def test_a_deleted_openzfs_has_a_final_backup_unless_skipped(fsx: Any, subnets: list[str]) -> None:
    backed_up, skipped = (zfs(fsx, subnets, 64)["FileSystemId"] for _ in range(2))
    fsx.delete_file_system(FileSystemId=backed_up)
    fsx.delete_file_system(FileSystemId=skipped, OpenZFSConfiguration={"SkipFinalBackup": True})
    assert [backup["FileSystem"]["FileSystemId"] for backup in fsx.describe_backups()["Backups"]] == [backed_up]


def test_openzfs_in_two_zones_needs_two_subnets(fsx: Any, subnets: list[str]) -> None:
    with pytest.raises(ClientError, match="Exactly 2 subnet"):
        zfs(fsx, subnets, 64, DeploymentType="MULTI_AZ_1", PreferredSubnetId=subnets[0])
    with pytest.raises(ClientError, match="at least 3 per GiB"):
        zfs(fsx, subnets, 1000, DiskIopsConfiguration={"Mode": "USER_PROVISIONED", "Iops": 2000})


def test_data_repository_associations_have_the_constraints_of_fsx(
    cloud: EmulatorProcess, fsx: Any, subnets: list[str]
) -> None:
    client_of(cloud, "s3").create_bucket(Bucket="shown")
    plain = lustre(fsx, subnets, 1200, {"FileSystemTypeVersion": "2.15"})["FileSystemId"]
    backed = lustre(fsx, subnets, 1200, {"FileSystemTypeVersion": "2.15"}, AutomaticBackupRetentionDays=7)

    def link(file_system_id: str, folder: str, bucket: str = "shown") -> Any:
        return fsx.create_data_repository_association(
            FileSystemId=file_system_id, FileSystemPath=folder, DataRepositoryPath=f"s3://{bucket}/{folder.strip('/')}"
        )["Association"]

    with pytest.raises(ClientError, match="automatic backups"):
        link(backed["FileSystemId"], "/data")
    with pytest.raises(ClientError, match="does not exist"):
        link(plain, "/data", "nowhere")
    association = link(plain, "/data")
    with pytest.raises(ClientError, match="overlaps"):
        link(plain, "/data/more")
    for number in range(facts().fsx_lustre.repositories.most - 1):
        link(plain, f"/d{number}")
    with pytest.raises(ClientError, match="ServiceLimitExceeded"):
        link(plain, "/one-too-many")
    with pytest.raises(ClientError, match="is not supported"):
        fsx.delete_file_system(FileSystemId=plain, LustreConfiguration={"SkipFinalBackup": False})
    fsx.delete_data_repository_association(AssociationId=association["AssociationId"])
    fsx.delete_file_system(FileSystemId=plain)
    assert fsx.describe_data_repository_associations()["Associations"] == []


def test_efs_modes_that_exclude_each_other_are_refused(cloud: EmulatorProcess) -> None:
    efs = client_of(cloud, "efs")
    for settings, message in (
        ({"PerformanceMode": "maxIO", "ThroughputMode": "elastic"}, "not supported"),
        ({"ThroughputMode": "provisioned"}, "ProvisionedThroughputInMibps"),
        ({"ThroughputMode": "elastic", "ProvisionedThroughputInMibps": 5.0}, "ProvisionedThroughputInMibps"),
    ):
        with pytest.raises(ClientError, match=message):
            efs.create_file_system(CreationToken="a", **settings)
    file_system_id = efs.create_file_system(CreationToken="a", ThroughputMode="elastic")["FileSystemId"]
    with pytest.raises(ClientError, match="PolicyNotFound"):
        efs.describe_backup_policy(FileSystemId=file_system_id)
    efs.put_backup_policy(FileSystemId=file_system_id, BackupPolicy={"Status": "ENABLED"})
    assert efs.describe_backup_policy(FileSystemId=file_system_id)["BackupPolicy"] == {"Status": "ENABLED"}
    efs.update_file_system(FileSystemId=file_system_id, ThroughputMode="provisioned", ProvisionedThroughputInMibps=8.0)
    (described,) = efs.describe_file_systems(FileSystemId=file_system_id)["FileSystems"]
    assert (described["ThroughputMode"], described["ProvisionedThroughputInMibps"]) == ("provisioned", 8.0)
