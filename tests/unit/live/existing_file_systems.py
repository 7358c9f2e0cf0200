"""Existing file systems in an account, as a share of the environment's file."""

from collections.abc import Callable
from typing import Any

from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of

from .estate import Estate
from .faults import Changes, ec2, other_vpc


def shared_group(cloud: EmulatorProcess, estate: Estate, *, open_to: str | None = None, vpc: str | None = None) -> str:
    """Create the security group of a file system; with a CIDR block, it permits Lustre and NFS from it."""
    group = ec2(cloud).create_security_group(GroupName="storage", Description="storage", VpcId=vpc or estate.vpc)[
        "GroupId"
    ]
    ranges = [{"CidrIp": open_to}]
    permissions = [
        {"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "IpRanges": ranges}
        for first, last in ((988, 988), (1018, 1023), (2049, 2049))
    ]
    if open_to is not None:
        ec2(cloud).authorize_security_group_ingress(GroupId=group, IpPermissions=permissions)
    return str(group)


def existing_lustre(
    zone: str = "use1-az4", *, open_to: str | None = "10.60.0.0/16", subnet: str | None = None, **keys: Any
) -> Callable[[EmulatorProcess, Estate], Any]:
    """Return a function that creates a Lustre file system, and puts it into `estate` as the share `sets`."""

    def create(cloud: EmulatorProcess, estate: Estate) -> None:
        system = client_of(cloud, "fsx").create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=1200,
            SubnetIds=[estate.subnets[zone]],
            SecurityGroupIds=[shared_group(cloud, estate, open_to=open_to)],
            LustreConfiguration={"DeploymentType": "SCRATCH_2"},
        )["FileSystem"]
        mount_name = system["LustreConfiguration"]["MountName"]
        kind = {"kind": "existing_lustre", "mount_name": mount_name, "zone": "use1-az4", "mount": "/sets"}
        estate.share = {**kind, "id": system["FileSystemId"], "data_class": "internal", **keys}

    return create


def existing_efs(
    *zones: str, open_to: str | None = "10.60.0.0/16", encrypted: bool = True, **keys: Any
) -> Callable[[EmulatorProcess, Estate], Any]:
    """Return a function that creates an EFS file system with mount targets, and puts it into `estate` as the share `sets`."""

    def create(cloud: EmulatorProcess, estate: Estate) -> None:
        efs = client_of(cloud, "efs")
        system = efs.create_file_system(CreationToken="sets", Encrypted=encrypted)["FileSystemId"]
        group = shared_group(cloud, estate, open_to=open_to)
        for zone in zones:
            efs.create_mount_target(FileSystemId=system, SubnetId=estate.subnets[zone], SecurityGroups=[group])
        estate.share = {"kind": "existing_efs", "id": system, "data_class": "internal", "mount": "/sets", **keys}

    return create


def existing_openzfs(
    *, clients: str = "10.60.0.0/16", zone: str = "use1-az4", **keys: Any
) -> Callable[[EmulatorProcess, Estate], Any]:
    """Return a function that creates an OpenZFS file system with the volume /fsx/homes, and puts it into `estate`."""

    def create(cloud: EmulatorProcess, estate: Estate) -> None:
        fsx = client_of(cloud, "fsx")
        system = fsx.create_file_system(
            FileSystemType="OPENZFS",
            StorageCapacity=64,
            SubnetIds=[estate.subnets[zone]],
            SecurityGroupIds=[shared_group(cloud, estate, open_to="10.60.0.0/16")],
            OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160},
        )["FileSystem"]
        parent = system["OpenZFSConfiguration"]["RootVolumeId"]
        exports = [{"ClientConfigurations": [{"Clients": clients, "Options": ["rw"]}]}]
        fsx.create_volume(
            VolumeType="OPENZFS", Name="homes", OpenZFSConfiguration={"ParentVolumeId": parent, "NfsExports": exports}
        )
        kind = {"kind": "existing_openzfs", "volume_path": "/fsx/homes", "zone": "use1-az4", "mount": "/sets"}
        estate.share = {**kind, "id": system["FileSystemId"], "data_class": "internal", **keys}

    return create


def existing_ontap(
    deployment: str = "MULTI_AZ_1", *, endpoints: str = "198.19.255.0/26", routed: bool = True, **keys: Any
) -> Callable[[EmulatorProcess, Estate], Any]:
    """Return a function that creates an ONTAP file system with the volume /vol1, and puts it into `estate`."""

    def create(cloud: EmulatorProcess, estate: Estate) -> None:
        fsx, subnets = client_of(cloud, "fsx"), [estate.subnets["use1-az4"], estate.subnets["use1-az6"]]
        tables = ec2(cloud).describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [estate.vpc]}])["RouteTables"]
        both_zones = {
            "PreferredSubnetId": subnets[0],
            "EndpointIpAddressRange": endpoints,
            "RouteTableIds": [table["RouteTableId"] for table in tables] if routed else [],
        }
        is_multi = deployment.startswith("MULTI")
        system = fsx.create_file_system(
            FileSystemType="ONTAP",
            StorageCapacity=1024,
            SubnetIds=subnets if is_multi else subnets[:1],
            SecurityGroupIds=[shared_group(cloud, estate, open_to="10.60.0.0/16")],
            OntapConfiguration={
                "DeploymentType": deployment,
                "ThroughputCapacity": 128,
                **(both_zones if is_multi else {}),
            },
        )["FileSystem"]
        machine = fsx.create_storage_virtual_machine(FileSystemId=system["FileSystemId"], Name="svm1")
        svm = machine["StorageVirtualMachine"]["StorageVirtualMachineId"]
        settings = {"StorageVirtualMachineId": svm, "JunctionPath": "/vol1", "SizeInMegabytes": 1024}
        fsx.create_volume(VolumeType="ONTAP", Name="vol1", OntapConfiguration=settings)
        kind = {"kind": "existing_ontap", "svm": svm, "junction_path": "/vol1", "zone": "use1-az4", "mount": "/sets"}
        ranges = {"endpoint_cidr": "198.19.0.0/16"} if is_multi else {}
        estate.share = {**kind, **ranges, "id": system["FileSystemId"], "data_class": "internal", **keys}

    return create


def existing_elsewhere(cloud: EmulatorProcess, estate: Estate) -> None:
    """Create an EFS file system whose mount target is in another VPC, and put it into `estate` as the share `sets`."""
    efs, vpc = client_of(cloud, "efs"), other_vpc(cloud, estate)
    system = efs.create_file_system(CreationToken="sets", Encrypted=True)["FileSystemId"]
    subnet = ec2(cloud).create_subnet(VpcId=vpc, CidrBlock="10.61.0.0/20", AvailabilityZoneId="use1-az4")
    group = shared_group(cloud, estate, open_to="10.60.0.0/16", vpc=vpc)
    efs.create_mount_target(FileSystemId=system, SubnetId=subnet["Subnet"]["SubnetId"], SecurityGroups=[group])
    estate.share = {"kind": "existing_efs", "id": system, "data_class": "internal", "mount": "/sets"}


def with_share(**keys: Any) -> Callable[[Estate], Changes]:
    """Return the change that mounts the share of `estate`, with changed keys."""
    return lambda estate: {("storage", "cloud_shares"): {"sets": {**estate.share, **keys}}}
