"""Faults in an account or a file, one at a time, with preflight's message for each."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from landbridge.findings import DataPath
from sandbox.aws_emulator.network.direct_connect import connection_id
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of

from .estate import Estate

Changes = Mapping[DataPath, Any]


@dataclass(frozen=True)
class Fault:
    """Fault: `prepare` changes the account, `changes` the file; `message` has placeholders for ids and times."""

    title: str
    rule: str
    example: str
    message: str
    path: DataPath
    prepare: Callable[[EmulatorProcess, Estate], Any] = field(default=lambda cloud, estate: None)
    changes: Callable[[Estate], Changes] = field(default=lambda estate: {})
    severity: str = "error"
    region: str = "us-east-1"


def plain(message: str) -> str:
    """Return a message without ids and times, which differ from run to run."""
    message = re.sub(r"\b(cr|vpc|subnet|sg|ami|snap|vpce|rtb|fs|svm)-[0-9a-f]{8,17}\b", r"\1-…", message)
    message = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z|\+\d{4}| UTC)?", "TIME", message)
    message = re.sub(r"mount name of fs-… is \w+,", "mount name of fs-… is NAME,", message)
    return re.sub(r"key/[0-9a-f-]{36}", "key/…", message)


def ec2(cloud: EmulatorProcess) -> Any:
    return client_of(cloud, "ec2")


def control(**settings: Any) -> Callable[[EmulatorProcess, Estate], Any]:
    return lambda cloud, estate: cloud.control(**settings)


def reservation(attribute: str, **change: Any) -> Callable[[EmulatorProcess, Estate], Any]:
    return lambda cloud, estate: cloud.control(reservations={getattr(estate, attribute): change})


def both(*steps: Callable[[EmulatorProcess, Estate], Any]) -> Callable[[EmulatorProcess, Estate], Any]:
    return lambda cloud, estate: [step(cloud, estate) for step in steps]


def other_vpc(cloud: EmulatorProcess, estate: Estate) -> str:
    return str(ec2(cloud).create_vpc(CidrBlock="10.61.0.0/16")["Vpc"]["VpcId"])


def dns_off(cloud: EmulatorProcess, estate: Estate) -> None:
    ec2(cloud).modify_vpc_attribute(VpcId=estate.vpc, EnableDnsHostnames={"Value": False})


def internet_route(cloud: EmulatorProcess, estate: Estate) -> None:
    gateway = ec2(cloud).create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2(cloud).attach_internet_gateway(InternetGatewayId=gateway, VpcId=estate.vpc)
    tables = ec2(cloud).describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [estate.vpc]}])["RouteTables"]
    ec2(cloud).replace_route(
        RouteTableId=tables[0]["RouteTableId"], DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway
    )


def no_default_route(cloud: EmulatorProcess, estate: Estate) -> None:
    tables = ec2(cloud).describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [estate.vpc]}])["RouteTables"]
    ec2(cloud).delete_route(RouteTableId=tables[0]["RouteTableId"], DestinationCidrBlock="0.0.0.0/0")


def private_endpoint(cloud: EmulatorProcess, estate: Estate) -> None:
    ec2(cloud).create_vpc_endpoint(
        VpcId=estate.vpc,
        ServiceName="com.amazonaws.us-east-1.secretsmanager",
        VpcEndpointType="Interface",
        SubnetIds=[estate.subnets["use1-az4"]],
        PrivateDnsEnabled=True,
    )


def no_self_rule(cloud: EmulatorProcess, estate: Estate) -> None:
    rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": estate.group}]}]
    ec2(cloud).revoke_security_group_egress(GroupId=estate.group, IpPermissions=rule)


def foreign_group(cloud: EmulatorProcess, estate: Estate) -> None:
    vpc = other_vpc(cloud, estate)
    estate.group = ec2(cloud).create_security_group(GroupName="far", Description="far", VpcId=vpc)["GroupId"]


def plain_group(cloud: EmulatorProcess, estate: Estate) -> None:
    query = {
        "Type": "TAG_FILTERS_1_0",
        "Query": '{"ResourceTypeFilters": ["AWS::AllSupported"], "TagFilters": [{"Key": "a", "Values": []}]}',
    }
    created = client_of(cloud, "resource-groups").create_group(Name="bytags", ResourceQuery=query)
    estate.reservation_group = created["Group"]["GroupArn"]


def partition_group(cloud: EmulatorProcess, estate: Estate) -> None:
    ec2(cloud).create_placement_group(GroupName="parts", Strategy="partition")


def taken_bucket(cloud: EmulatorProcess, estate: Estate) -> None:
    client_of(cloud, "s3").create_bucket(Bucket="test-internal-123456789012")


def deleted_secret(cloud: EmulatorProcess, estate: Estate) -> None:
    secrets = client_of(cloud, "secretsmanager")
    secrets.create_secret(Name="test/slurm-key", SecretString="x")
    secrets.delete_secret(SecretId="test/slurm-key", RecoveryWindowInDays=7)


def no_spot_role(cloud: EmulatorProcess, estate: Estate) -> None:
    client_of(cloud, "iam").delete_role(RoleName="AWSServiceRoleForEC2Spot")


def a_pools_group(cloud: EmulatorProcess, estate: Estate) -> None:
    """Create a security group with the environment's tag, as `up` does."""
    tags = [{"ResourceType": "security-group", "Tags": [{"Key": "landbridge:cluster", "Value": "test"}]}]
    vpc = other_vpc(cloud, estate)
    ec2(cloud).create_security_group(GroupName="test-p5", Description="p5", VpcId=vpc, TagSpecifications=tags)


def disabled_key(cloud: EmulatorProcess, estate: Estate) -> None:
    kms = client_of(cloud, "kms")
    key = kms.create_key()["KeyMetadata"]["KeyId"]
    ec2(cloud).modify_ebs_default_kms_key_id(KmsKeyId=key)
    kms.disable_key(KeyId=key)


def an_efs(cloud: EmulatorProcess, estate: Estate) -> None:
    client_of(cloud, "efs").create_file_system(CreationToken="somebody")


def a_lustre(cloud: EmulatorProcess, estate: Estate) -> None:
    client_of(cloud, "fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=9600,
        SubnetIds=[estate.subnets["use1-az4"]],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
    )


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


def a_transit_gateway(cloud: EmulatorProcess, estate: Estate) -> None:
    ec2(cloud).create_transit_gateway(Description="somebody's")


def ordered_connection(**more: Any) -> Callable[[EmulatorProcess, Estate], Any]:
    """Return a function that orders a Direct Connect connection of 10 Gbit/s with the name `line`."""
    settings: dict[str, Any] = {"location": "EqDC2", "bandwidth": "10Gbps", "connectionName": "line", **more}
    return lambda cloud, estate: client_of(cloud, "directconnect").create_connection(**settings)


def over_direct_connect(**more: Any) -> Callable[[Estate], Changes]:
    """Return the changes for a link over that Direct Connect connection."""
    link = {
        "kind": "direct_connect",
        "connection": connection_id("line"),
        "vlan": 100,
        "gateway_address": "169.254.80.1",
    }
    return lambda estate: {("link",): {**link, "backup": {"gateway_address": "3.3.3.3"}, **more}}


def running_instances(cloud: EmulatorProcess, estate: Estate) -> None:
    ec2(cloud).run_instances(
        ImageId="ami-0a11ce5a9db0c5000",
        InstanceType="g6e.12xlarge",
        MinCount=2,
        MaxCount=2,
        SubnetId=estate.subnets["use1-az4"],
        InstanceMarketOptions={"MarketType": "spot"},
    )


def moved(estate: Estate) -> Changes:
    early = estate.block_dates[0] - timedelta(days=1)
    return {("aws", "pools", 0, "capacity", 0, "starts"): early.strftime("%Y-%m-%dT%H:%M:%SZ")}


def swapped(estate: Estate) -> Changes:
    a, b = estate.subnets["use1-az4"], estate.subnets["use1-az6"]
    where: DataPath = ("aws", "vpc", "subnets")
    return {(*where, "use1-az4", "id"): b, (*where, "use1-az6", "id"): a}
