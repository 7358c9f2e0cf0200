"""Faults in an account or a file, one at a time, with preflight's message for each."""

import json
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
    message = re.sub(r"\b(cr|vpc|subnet|sg|ami|snap|vpce|rtb|tgw|fs|svm|acl)-[0-9a-f]{8,17}\b", r"\1-…", message)
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


def own_name_servers(cloud: EmulatorProcess, estate: Estate) -> None:
    servers = [{"Key": "domain-name-servers", "Values": ["10.20.0.53", "10.20.0.54"]}]
    options = ec2(cloud).create_dhcp_options(DhcpConfigurations=servers)["DhcpOptions"]["DhcpOptionsId"]
    ec2(cloud).associate_dhcp_options(DhcpOptionsId=options, VpcId=estate.vpc)


def named_table(cloud: EmulatorProcess, estate: Estate) -> str:
    """Return the id of the VPC's route table."""
    tables = ec2(cloud).describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [estate.vpc]}])["RouteTables"]
    return str(tables[0]["RouteTableId"])


def site_route_to(cidr: str) -> Callable[[EmulatorProcess, Estate], Any]:
    """Return a step that routes a range to a gateway of the organisation, in the table that the file names."""

    def prepare(cloud: EmulatorProcess, estate: Estate) -> None:
        estate.route_table = named_table(cloud, estate)
        gateway = ec2(cloud).create_transit_gateway(Description="organisation")["TransitGateway"]["TransitGatewayId"]
        ec2(cloud).create_route(RouteTableId=estate.route_table, DestinationCidrBlock=cidr, TransitGatewayId=gateway)

    return prepare


site_route = site_route_to("10.20.0.0/16")


def with_route_table(estate: Estate) -> Changes:
    return {("aws", "vpc", "subnets", "use1-az4", "route_table"): estate.route_table}


def acl_rule(**entry: Any) -> Callable[[EmulatorProcess, Estate], Any]:
    """Return a step that adds a rule to the network ACL of the VPC, before the one that allows all."""

    def prepare(cloud: EmulatorProcess, estate: Estate) -> None:
        filters = [{"Name": "vpc-id", "Values": [estate.vpc]}]
        (acl,) = ec2(cloud).describe_network_acls(Filters=filters)["NetworkAcls"]
        ec2(cloud).create_network_acl_entry(
            **{"NetworkAclId": acl["NetworkAclId"], "RuleNumber": 50, "Protocol": "-1", **entry}
        )

    return prepare


def shared_vpc(cloud: EmulatorProcess, estate: Estate) -> None:
    cloud.control(owners={estate.vpc: "210987654321"})


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


def expiring_bucket(cloud: EmulatorProcess, estate: Estate) -> None:
    client, name = client_of(cloud, "s3"), "test-internal-123456789012"
    client.create_bucket(Bucket=name)
    client.put_bucket_tagging(Bucket=name, Tagging={"TagSet": [{"Key": "landbridge:cluster", "Value": "test"}]})
    rule = {"ID": "tidy", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 30}}
    client.put_bucket_lifecycle_configuration(Bucket=name, LifecycleConfiguration={"Rules": [rule]})


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


ACCOUNT_ROOT, ADMINISTRATOR = "arn:aws:iam::123456789012:root", "arn:aws:iam::123456789012:role/admin"


def own_key(principal: str = ACCOUNT_ROOT, *actions: str) -> Callable[[EmulatorProcess, Estate], Any]:
    """Return a step that makes a key with this policy the account's default for disks."""

    def prepare(cloud: EmulatorProcess, estate: Estate) -> None:
        statement = {
            "Effect": "Allow",
            "Principal": {"AWS": principal},
            "Action": list(actions) or "kms:*",
            "Resource": "*",
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        key = client_of(cloud, "kms").create_key(Policy=policy)["KeyMetadata"]
        ec2(cloud).modify_ebs_default_kms_key_id(KmsKeyId=key["KeyId"])
        estate.disk_key = key["Arn"]

    return prepare


def with_disk_key(estate: Estate) -> Changes:
    return {("aws", "disk_keys"): [estate.disk_key]}


def an_efs(cloud: EmulatorProcess, estate: Estate) -> None:
    client_of(cloud, "efs").create_file_system(CreationToken="somebody")


def a_volume(cloud: EmulatorProcess, estate: Estate) -> None:
    ec2(cloud).create_volume(AvailabilityZone="us-east-1a", Size=1024, VolumeType="gp3")


def a_lustre(cloud: EmulatorProcess, estate: Estate) -> None:
    client_of(cloud, "fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=9600,
        SubnetIds=[estate.subnets["use1-az4"]],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
    )


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
