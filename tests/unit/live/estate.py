"""Account with all resources that a rich environment refers to: VPC, subnets, groups, reservations, a block, images,
policies.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from landbridge.findings import DataPath
from sandbox.aws_emulator.process import EmulatorProcess
from tests.unit.aws_emulator.conftest import client_of

UBUNTU = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
AL2023 = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"
ACCOUNT = "123456789012"
ZONES = {"use1-az4": "10.60.64.0/18", "use1-az6": "10.60.128.0/18"}
SANDBOX_IMAGE = "ami-0a11ce5a9db0c5000"
POOLS: DataPath = ("aws", "pools")


@dataclass
class Estate:
    """Ids of the created resources."""

    vpc: str
    subnets: dict[str, str]
    group: str
    reservation: str
    block: str
    block_zone: str
    block_dates: tuple[datetime, datetime]
    reservation_group: str
    policy: str
    #: Route table that a fault names in the file.
    route_table: str = ""
    #: ARN of the KMS key that a fault has made the account's default for disks.
    disk_key: str = ""
    #: Settings of an existing file system that a fault has created.
    share: dict[str, Any] = field(default_factory=dict)

    def changes(self) -> dict[DataPath, Any]:
        """Return the changes with which the good environment fits this account."""
        block = {"kind": "capacity_block", "reservation": self.block, "zone": self.block_zone, "count": 4}
        return {
            ("aws", "account"): ACCOUNT,
            ("aws", "vpc"): {
                "id": self.vpc,
                "subnets": {zone: {"id": self.subnets[zone], "cidr": cidr} for zone, cidr in ZONES.items()},
            },
            ("aws", "images"): {"ubuntu": {"parameter": UBUNTU}},
            ("aws", "iam"): {"permissions_boundary": self.policy},
            POOLS: [
                {
                    "name": "p5",
                    "instance": "p5.48xlarge",
                    "max_nodes": 4,
                    "image": SANDBOX_IMAGE,
                    "security_groups": [self.group],
                    "capacity": [
                        {**block, "starts": _text(self.block_dates[0]), "ends": _text(self.block_dates[1])},
                        {"kind": "on_demand", "zones": list(ZONES)},
                    ],
                },
                {
                    "name": "reserved",
                    "instance": "p5.48xlarge",
                    "max_nodes": 2,
                    "image": SANDBOX_IMAGE,
                    "capacity": [
                        {"kind": "reservation", "reservation": self.reservation, "zone": "use1-az4", "count": 2}
                    ],
                },
                {
                    "name": "grouped",
                    "instance": "p5.48xlarge",
                    "max_nodes": 2,
                    "image": SANDBOX_IMAGE,
                    "capacity": [
                        {
                            "kind": "reservation_group",
                            "group": self.reservation_group,
                            "zones": ["use1-az4"],
                            "count": 2,
                        }
                    ],
                },
                {
                    "name": "small",
                    "instance": "g6e.12xlarge",
                    "max_nodes": 8,
                    "image": "ubuntu",
                    "root_device": "/dev/sda1",
                    "placement_group": "mine",
                    "capacity": [{"kind": "spot", "zones": list(ZONES), "max_price_usd": 9.5}],
                },
            ],
        }


def build(cloud: EmulatorProcess) -> Estate:
    """Create the resources; the emulated AWS must be empty."""
    ec2 = client_of(cloud, "ec2")
    cloud.control(offered={kind: list(ZONES) for kind in ("p5.48xlarge", "g6e.12xlarge")})
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    for attribute in ("EnableDnsSupport", "EnableDnsHostnames"):
        ec2.modify_vpc_attribute(VpcId=vpc, **{attribute: {"Value": True}})
    subnets = {
        zone: ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZoneId=zone)["Subnet"]["SubnetId"]
        for zone, cidr in ZONES.items()
    }
    _nat(ec2, vpc, next(iter(subnets.values())))
    group = ec2.create_security_group(GroupName="ours", Description="ours", VpcId=vpc)["GroupId"]
    rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=rule)
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=rule)
    ec2.create_placement_group(GroupName="mine", Strategy="cluster")
    targeted = _reserve(ec2, targeted=True)
    member = _reserve(ec2, targeted=True)
    groups = client_of(cloud, "resource-groups")
    generic = {
        "Type": "AWS::ResourceGroups::Generic",
        "Parameters": [{"Name": "allowed-resource-types", "Values": ["AWS::EC2::CapacityReservation"]}],
    }
    configuration = [{"Type": "AWS::EC2::CapacityReservationPool"}, generic]
    arn = groups.create_group(Name="p5", Configuration=configuration)["Group"]["GroupArn"]
    groups.group_resources(Group=arn, ResourceArns=[member["CapacityReservationArn"]])
    block = _block(ec2)
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    client_of(cloud, "iam").create_service_linked_role(AWSServiceName="spot.amazonaws.com")
    policy = client_of(cloud, "iam").create_policy(PolicyName="boundary", PolicyDocument=_json(document))
    return Estate(
        vpc=vpc,
        subnets=subnets,
        group=group,
        reservation=targeted["CapacityReservationId"],
        block=block["CapacityReservationId"],
        block_zone=block["AvailabilityZoneId"],
        block_dates=(block["StartDate"], block["EndDate"]),
        reservation_group=arn,
        policy=policy["Policy"]["Arn"],
    )


def _nat(ec2: Any, vpc: str, subnet: str) -> None:
    """Add a default route through a NAT gateway."""
    internet = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=internet, VpcId=vpc)
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    gateway = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    table = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"][0]["RouteTableId"]
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=gateway)


def _reserve(ec2: Any, *, targeted: bool) -> Mapping[str, Any]:
    created: Mapping[str, Any] = ec2.create_capacity_reservation(
        InstanceType="p5.48xlarge",
        InstancePlatform="Linux/UNIX",
        AvailabilityZoneId="use1-az4",
        InstanceCount=2,
        InstanceMatchCriteria="targeted" if targeted else "open",
    )["CapacityReservation"]
    return created


def _block(ec2: Any) -> Mapping[str, Any]:
    start = datetime.now(UTC) + timedelta(days=7)
    query = {"InstanceType": "p5.48xlarge", "InstanceCount": 4, "CapacityDurationHours": 48, "StartDateRange": start}
    offering = ec2.describe_capacity_block_offerings(**query)["CapacityBlockOfferings"][0]["CapacityBlockOfferingId"]
    purchase = ec2.purchase_capacity_block(CapacityBlockOfferingId=offering, InstancePlatform="Linux/UNIX")
    block: Mapping[str, Any] = purchase["CapacityReservation"]
    return block


def _json(data: object) -> str:
    import json

    return json.dumps(data)


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
