"""Leftovers of a cluster are found by their tag, distinguished from resources in use, and deleted in a valid order."""

import json
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources import SWEPT
from landbridge.live.sweep import Leftover, Leftovers, find_leftovers, remove
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import IMAGE, client_of

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def marks(kind: str, cluster: str = "test", **more: str) -> list[dict[str, Any]]:
    tags = {"landbridge:cluster": cluster, "Name": f"{cluster}-{kind}", **more}
    return [{"ResourceType": kind, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}]


def tags(cluster: str = "test") -> list[dict[str, str]]:
    return [{"Key": "landbridge:cluster", "Value": cluster}, {"Key": "Name", "Value": f"{cluster}-it"}]


class Estate:
    """One tagged resource of each kind, and an instance of another cluster."""

    def __init__(self, cloud: EmulatorProcess) -> None:
        self.cloud = cloud
        ec2 = client_of(cloud, "ec2")
        self.vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
        self.subnet = ec2.create_subnet(VpcId=self.vpc, CidrBlock="10.60.1.0/24", AvailabilityZoneId="use1-az4")[
            "Subnet"
        ]["SubnetId"]
        self.groups = [
            ec2.create_security_group(
                GroupName=name, Description=name, VpcId=self.vpc, TagSpecifications=marks("security-group")
            )["GroupId"]
            for name in ("one", "two")
        ]
        for group, other in (self.groups, self.groups[::-1]):
            rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": other}]}]
            ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=rule)
        lease = (NOW + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        pool = {"landbridge:pool": "p5"}
        self.node = self._launch("test", **pool, **{"landbridge:lease-expires": lease})
        self.other = self._launch("another")
        self.interface = ec2.create_network_interface(
            SubnetId=self.subnet, Groups=self.groups[:1], TagSpecifications=marks("network-interface")
        )["NetworkInterface"]["NetworkInterfaceId"]
        zone = ec2.describe_subnets(SubnetIds=[self.subnet])["Subnets"][0]["AvailabilityZone"]
        self.disk, self.data = (
            ec2.create_volume(AvailabilityZone=zone, Size=8, TagSpecifications=marks("volume", **more))["VolumeId"]
            for more in (pool, {})
        )
        ec2.create_placement_group(GroupName="test-p5", Strategy="cluster", TagSpecifications=marks("placement-group"))
        self.template = ec2.create_launch_template(
            LaunchTemplateName="test-p5",
            LaunchTemplateData={"ImageId": IMAGE},
            TagSpecifications=marks("launch-template"),
        )["LaunchTemplate"]["LaunchTemplateId"]
        self.address = ec2.allocate_address(Domain="vpc", TagSpecifications=marks("elastic-ip"))["AllocationId"]
        self.endpoint, self.gateway = (
            ec2.create_vpc_endpoint(
                VpcId=self.vpc,
                ServiceName=service,
                VpcEndpointType=kind,
                TagSpecifications=marks("vpc-endpoint"),
                **more,
            )["VpcEndpoint"]["VpcEndpointId"]
            for service, kind, more in (
                ("com.amazonaws.us-east-1.kms", "Interface", {"SubnetIds": [self.subnet]}),
                ("com.amazonaws.us-east-1.s3", "Gateway", {}),
            )
        )
        self.efs = client_of(cloud, "efs").create_file_system(CreationToken="t", Tags=tags())["FileSystemId"]
        client_of(cloud, "efs").create_mount_target(FileSystemId=self.efs, SubnetId=self.subnet)
        trust = {"Effect": "Allow", "Principal": {"Service": "ssm.amazonaws.com"}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        client_of(cloud, "iam").create_role(RoleName="r", AssumeRolePolicyDocument=document)
        self.activation = client_of(cloud, "ssm").create_activation(IamRole="r", Tags=tags())["ActivationId"]

    def _launch(self, cluster: str, **more: str) -> str:
        ec2 = client_of(self.cloud, "ec2")
        self.cloud.control(offered={"p5.48xlarge": ["use1-az4"]})
        return str(
            ec2.run_instances(
                ImageId=IMAGE,
                InstanceType="p5.48xlarge",
                MinCount=1,
                MaxCount=1,
                SubnetId=self.subnet,
                TagSpecifications=marks("instance", cluster, **more),
            )["Instances"][0]["InstanceId"]
        )

    def aws(self) -> AwsClient:
        return AwsClient("us-east-1", self.cloud.endpoint)

    def leftovers(self, remembered: Collection[str] = (), *, standing: bool = False) -> Leftovers:
        return find_leftovers(self.aws(), "test", remembered, NOW, standing=standing)


@pytest.fixture
def estate(cloud: EmulatorProcess) -> Estate:
    return Estate(cloud)


def test_everything_with_the_tag_is_found_and_nothing_else(estate: Estate) -> None:
    leftovers = estate.leftovers()
    ids = [item.id for item in leftovers.items]
    assert estate.other not in ids and len(ids) == len(set(ids))
    expected = {estate.node, estate.interface, estate.disk, estate.data, "test-p5", estate.template, estate.address}
    expected |= {estate.endpoint, estate.gateway, estate.efs, estate.activation, *estate.groups}
    assert expected == set(ids), [str(refusal) for refusal in leftovers.unseen]
    assert {item.id for item in leftovers.billed} == {estate.node, estate.disk, estate.address, estate.endpoint}
    assert {item.id for item in leftovers.with_data} == {estate.data, estate.efs}


def test_resources_in_the_state_and_nodes_in_use_are_no_leftovers(estate: Estate) -> None:
    leftovers = estate.leftovers({estate.template, estate.efs, "test-p5"}, standing=True)
    ids = {item.id for item in leftovers.items}
    assert not ids & {estate.template, estate.efs, "test-p5", estate.node} and estate.address in ids
    late = find_leftovers(estate.aws(), "test", (), NOW + timedelta(hours=2), standing=True)
    assert estate.node in {item.id for item in late.items}


def test_delete_removes_everything_but_data_that_was_not_named(estate: Estate) -> None:
    results = remove(estate.aws, estate.leftovers().items, pause_seconds=0.5)
    remaining = {result.leftover.id: result.reason for result in results if result.reason is not None}
    assert set(remaining) == {estate.data, estate.efs}
    assert all("--lose" in str(reason) for reason in remaining.values())
    leftovers = estate.leftovers()
    assert {item.id for item in leftovers.items} == {estate.data, estate.efs}
    assert all(
        result.reason is None
        for result in remove(estate.aws, leftovers.items, [estate.data, estate.efs], pause_seconds=0.5)
    )
    assert estate.leftovers().items == ()
    state = client_of(estate.cloud, "ec2").describe_instances(InstanceIds=[estate.other])
    assert state["Reservations"][0]["Instances"][0]["State"]["Name"] in ("pending", "running")


def test_a_refused_deletion_is_reported(estate: Estate) -> None:
    # A group outside the cluster has a rule that refers to a group of the cluster, which stays until that rule is deleted.
    ec2 = client_of(estate.cloud, "ec2")
    third = ec2.create_security_group(GroupName="third", Description="third", VpcId=estate.vpc)["GroupId"]
    rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": estate.groups[0]}]}]
    ec2.authorize_security_group_ingress(GroupId=third, IpPermissions=rule)
    groups = [item for item in estate.leftovers().items if item.type.noun == "security group"]
    reasons = {result.leftover.id: result.reason for result in remove(estate.aws, groups, passes=2, pause_seconds=0)}
    assert "DependencyViolation" in str(reasons[estate.groups[0]]), reasons
    assert reasons[estate.groups[1]] is None or "DependencyViolation" in str(reasons[estate.groups[1]])


def test_a_database_is_a_leftover_with_its_groups_and_snapshots(estate: Estate) -> None:
    rds, ec2 = client_of(estate.cloud, "rds"), client_of(estate.cloud, "ec2")
    second = ec2.create_subnet(VpcId=estate.vpc, CidrBlock="10.60.2.0/24", AvailabilityZoneId="use1-az6")["Subnet"]
    subnets = [estate.subnet, second["SubnetId"]]
    rds.create_db_subnet_group(DBSubnetGroupName="s", DBSubnetGroupDescription="d", SubnetIds=subnets, Tags=tags())
    rds.create_db_parameter_group(
        DBParameterGroupName="p", DBParameterGroupFamily="mariadb11.4", Description="d", Tags=tags()
    )
    for name, cluster in (("mine", "test"), ("theirs", "another")):
        rds.create_db_instance(
            DBInstanceIdentifier=name,
            Engine="mariadb",
            EngineVersion="11.4",
            DBInstanceClass="db.t4g.medium",
            AllocatedStorage=20,
            MasterUsername="admin",
            ManageMasterUserPassword=True,
            DeletionProtection=True,
            Tags=tags(cluster),
            **({"DBSubnetGroupName": "s", "DBParameterGroupName": "p"} if name == "mine" else {}),
            **({"VpcSecurityGroupIds": estate.groups[:1]} if name == "mine" else {}),
        )
    rds.create_db_snapshot(DBInstanceIdentifier="mine", DBSnapshotIdentifier="kept", Tags=tags())
    snapshot = ec2.create_snapshot(VolumeId=estate.data, TagSpecifications=marks("snapshot"))["SnapshotId"]

    leftovers = estate.leftovers()
    kinds = {item.id: item.type.noun for item in leftovers.items}
    assert kinds["mine"] == "DB instance" and kinds["kept"] == "DB snapshot" and kinds[snapshot] == "EBS snapshot"
    assert {kinds["s"], kinds["p"]} == {"DB subnet group", "DB parameter group"} and "theirs" not in kinds
    assert {"mine", "kept", snapshot} <= {item.id for item in leftovers.with_data}
    remaining = {
        result.leftover.id
        for result in remove(estate.aws, leftovers.items, passes=2, pause_seconds=0)
        if result.reason is not None
    }
    assert {"mine", "kept", snapshot, "s", "p"} <= remaining, "the groups of a database stay as long as the database"
    leftovers = estate.leftovers()
    results = remove(estate.aws, leftovers.items, [item.id for item in leftovers.with_data], pause_seconds=0.5)
    assert [result.reason for result in results if result.reason is not None] == [] and estate.leftovers().items == ()


def test_a_denied_query_is_reported(estate: Estate) -> None:
    estate.cloud.control(deny=["ec2:DescribeVolumes"])
    leftovers = estate.leftovers()
    assert leftovers.answered and any("ec2:DescribeVolumes" in refusal.message for refusal in leftovers.unseen)
    assert estate.disk not in {item.id for item in leftovers.items}


def test_no_answer_is_no_empty_result() -> None:
    leftovers = find_leftovers(AwsClient("us-east-1", "http://127.0.0.1:1"), "test", (), NOW, standing=False)
    assert not leftovers.answered and leftovers.items == ()


def test_kinds_are_in_an_order_that_aws_accepts() -> None:
    names = [entry.noun for entry in SWEPT]
    assert len(set(names)) == len(names)
    for first, then in (
        ("instance", "network interface"),
        ("network interface", "security group"),
        ("NAT gateway", "elastic IP address"),
        ("transit gateway VPC attachment", "transit gateway"),
        ("VPN connection", "customer gateway"),
        ("instance", "placement group"),
        ("VPC endpoint", "security group"),
        ("DB instance", "DB subnet group"),
        ("DB instance", "DB parameter group"),
        ("DB instance", "security group"),
    ):
        assert names.index(first) < names.index(then)


def test_a_leftover_as_plain_data() -> None:
    kind = next(entry for entry in SWEPT if entry.noun == "VPC endpoint")
    leftover = Leftover(kind, "vpce-1", "x", {"VpcEndpointType": "Gateway"})
    assert leftover.to_dict() == {
        "type": "VPC endpoint",
        "id": "vpce-1",
        "name": "x",
        "billed": False,
        "holds_data": False,
    }


def test_an_orphaned_network_is_found_and_taken_down(cloud: EmulatorProcess) -> None:
    """A network that a killed engine created twice: nothing in it is billed, but it blocks the next one."""
    ec2, kms = client_of(cloud, "ec2"), client_of(cloud, "kms")
    vpc = ec2.create_vpc(CidrBlock="10.99.0.0/16", TagSpecifications=marks("vpc"))["Vpc"]["VpcId"]
    net = ec2.create_subnet(VpcId=vpc, CidrBlock="10.99.1.0/24", TagSpecifications=marks("subnet"))["Subnet"][
        "SubnetId"
    ]
    routes = ec2.create_route_table(VpcId=vpc, TagSpecifications=marks("route-table"))["RouteTable"]["RouteTableId"]
    ec2.associate_route_table(RouteTableId=routes, SubnetId=net)
    gateway = ec2.create_internet_gateway(TagSpecifications=marks("internet-gateway"))["InternetGateway"][
        "InternetGatewayId"
    ]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    key = kms.create_key(Tags=[{"TagKey": "landbridge:cluster", "TagValue": "test"}])["KeyMetadata"]["KeyId"]

    def seen() -> Leftovers:
        return find_leftovers(AwsClient("us-east-1", cloud.endpoint), "test", (), NOW, standing=False)

    assert {item.id for item in seen().without_data} == {vpc, net, routes, gateway}
    assert {item.id for item in seen().with_data} == {key}
    remove(lambda: AwsClient("us-east-1", cloud.endpoint), seen().items, [key], passes=3, pause_seconds=0.1)
    assert seen().items == ()
