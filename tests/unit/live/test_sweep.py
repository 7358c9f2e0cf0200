"""Leftovers of a cluster are found by their tag, told apart from resources in use, and deleted in an order that AWS accepts."""

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
    """One of each kind that bears the tag, and an instance of another cluster's."""

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
        for own, other in (self.groups, self.groups[::-1]):
            rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": other}]}]
            ec2.authorize_security_group_ingress(GroupId=own, IpPermissions=rule)
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
    found = estate.leftovers()
    ids = [one.id for one in found.items]
    assert estate.other not in ids and len(ids) == len(set(ids))
    expected = {estate.node, estate.interface, estate.disk, estate.data, "test-p5", estate.template, estate.address}
    expected |= {estate.endpoint, estate.gateway, estate.efs, estate.activation, *estate.groups}
    assert expected == set(ids), [str(one) for one in found.unseen]
    assert {one.id for one in found.billed} == {estate.node, estate.disk, estate.address, estate.endpoint}
    assert {one.id for one in found.with_data} == {estate.data, estate.efs}


def test_what_pulumi_remembers_and_nodes_in_use_are_not_left_over(estate: Estate) -> None:
    found = estate.leftovers({estate.template, estate.efs, "test-p5"}, standing=True)
    ids = {one.id for one in found.items}
    assert not ids & {estate.template, estate.efs, "test-p5", estate.node} and estate.address in ids
    late = find_leftovers(estate.aws(), "test", (), NOW + timedelta(hours=2), standing=True)
    assert estate.node in {one.id for one in late.items}


def test_delete_removes_everything_but_data_that_nobody_named(estate: Estate) -> None:
    done = remove(estate.aws, estate.leftovers().items, pause_seconds=0.5)
    stays = {one.leftover.id: one.reason for one in done if one.reason is not None}
    assert set(stays) == {estate.data, estate.efs}
    assert all("--lose" in str(why) for why in stays.values())
    again = estate.leftovers()
    assert {one.id for one in again.items} == {estate.data, estate.efs}
    assert all(
        one.reason is None for one in remove(estate.aws, again.items, [estate.data, estate.efs], pause_seconds=0.5)
    )
    assert estate.leftovers().items == ()
    state = client_of(estate.cloud, "ec2").describe_instances(InstanceIds=[estate.other])
    assert state["Reservations"][0]["Instances"][0]["State"]["Name"] in ("pending", "running")


def test_what_aws_does_not_let_go_of_is_told(estate: Estate) -> None:
    # A third group, which is nobody's of this cluster, names one of ours: it stays until that rule goes.
    ec2 = client_of(estate.cloud, "ec2")
    third = ec2.create_security_group(GroupName="third", Description="third", VpcId=estate.vpc)["GroupId"]
    rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": estate.groups[0]}]}]
    ec2.authorize_security_group_ingress(GroupId=third, IpPermissions=rule)
    groups = [one for one in estate.leftovers().items if one.type.noun == "security group"]
    held = {one.leftover.id: one.reason for one in remove(estate.aws, groups, passes=2, pause_seconds=0)}
    assert "DependencyViolation" in str(held[estate.groups[0]]), held
    assert held[estate.groups[1]] is None or "DependencyViolation" in str(held[estate.groups[1]])


def test_a_database_is_left_with_what_it_stands_in_and_what_was_copied_out_of_it(estate: Estate) -> None:
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

    found = estate.leftovers()
    kinds = {one.id: one.type.noun for one in found.items}
    assert kinds["mine"] == "DB instance" and kinds["kept"] == "DB snapshot" and kinds[snapshot] == "EBS snapshot"
    assert {kinds["s"], kinds["p"]} == {"DB subnet group", "DB parameter group"} and "theirs" not in kinds
    assert {"mine", "kept", snapshot} <= {one.id for one in found.with_data}
    stays = {
        one.leftover.id for one in remove(estate.aws, found.items, passes=2, pause_seconds=0) if one.reason is not None
    }
    assert {"mine", "kept", snapshot, "s", "p"} <= stays, "what a database stands in stays as long as it"
    again = estate.leftovers()
    done = remove(estate.aws, again.items, [one.id for one in again.with_data], pause_seconds=0.5)
    assert [one.reason for one in done if one.reason is not None] == [] and estate.leftovers().items == ()


def test_what_may_not_be_seen_is_said(estate: Estate) -> None:
    estate.cloud.control(deny=["ec2:DescribeVolumes"])
    found = estate.leftovers()
    assert found.answered and any("ec2:DescribeVolumes" in one.message for one in found.unseen)
    assert estate.disk not in {one.id for one in found.items}


def test_nobody_answering_is_no_all_clear() -> None:
    found = find_leftovers(AwsClient("us-east-1", "http://127.0.0.1:1"), "test", (), NOW, standing=False)
    assert not found.answered and found.items == ()


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
    one = Leftover(kind, "vpce-1", "x", {"VpcEndpointType": "Gateway"})
    assert one.to_dict() == {"type": "VPC endpoint", "id": "vpce-1", "name": "x", "billed": False, "holds_data": False}


def test_an_orphaned_network_is_found_and_taken_down(cloud: EmulatorProcess) -> None:
    """A network that a killed engine made twice: none of it is billed, and all of it blocks the next one."""
    ec2, kms = client_of(cloud, "ec2"), client_of(cloud, "kms")
    vpc = ec2.create_vpc(CidrBlock="10.99.0.0/16", TagSpecifications=marks("vpc"))["Vpc"]["VpcId"]
    net = ec2.create_subnet(VpcId=vpc, CidrBlock="10.99.1.0/24", TagSpecifications=marks("subnet"))["Subnet"][
        "SubnetId"
    ]
    routes = ec2.create_route_table(VpcId=vpc, TagSpecifications=marks("route-table"))["RouteTable"]["RouteTableId"]
    ec2.associate_route_table(RouteTableId=routes, SubnetId=net)
    door = ec2.create_internet_gateway(TagSpecifications=marks("internet-gateway"))["InternetGateway"][
        "InternetGatewayId"
    ]
    ec2.attach_internet_gateway(InternetGatewayId=door, VpcId=vpc)
    key = kms.create_key(Tags=[{"TagKey": "landbridge:cluster", "TagValue": "test"}])["KeyMetadata"]["KeyId"]

    def seen() -> Leftovers:
        return find_leftovers(AwsClient("us-east-1", cloud.endpoint), "test", (), NOW, standing=False)

    assert {one.id for one in seen().without_data} == {vpc, net, routes, door}
    assert {one.id for one in seen().with_data} == {key}
    remove(lambda: AwsClient("us-east-1", cloud.endpoint), seen().items, [key], passes=3, pause_seconds=0.1)
    assert seen().items == ()
