"""VPC, subnets, route tables and VPC endpoints."""

from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.component import Component
from components.parts.reserved import reserved
from components.parts.vpc_endpoints import vpc_endpoints
from landbridge.plan.args import named
from landbridge.plan.network.network import NetworkArgs, SubnetPlan


class Network(Component):
    """VPC with one private subnet for each zone that a pool may use.

    Costs nothing without a NAT gateway (about 0.045 USD an hour and as much for each GB) and interface endpoints (about 0.01 USD
    an hour for each service and zone).
    Opens nothing: private subnets have no public address, and no route to the internet without NAT. A gateway endpoint leads
    to S3; it is free and keeps the data hub's traffic off NAT and off the link.
    """

    vpc_id: pulumi.Output[str]
    subnets: dict[str, aws.ec2.Subnet]
    route_tables: dict[str, aws.ec2.RouteTable]
    subnet_ids: dict[str, pulumi.Input[str]]
    route_table_ids: dict[str, pulumi.Input[str]]
    zone_names: dict[str, pulumi.Output[str]]

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, {"cidr": args.cidr}, opts)
        self._name, self._args = name, args
        self._child_options = pulumi.ResourceOptions(parent=self)
        self._ranges: list[pulumi.Resource] = []
        vpc = aws.ec2.Vpc(
            name,
            cidr_block=args.cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=named(args.tags, args.cluster),
            opts=self._child_options,
        )
        self.vpc_id = vpc.id
        # The VPC's default security group allows all traffic between its members. Without rules, an interface without a group is closed.
        aws.ec2.DefaultSecurityGroup(
            name,
            vpc_id=vpc.id,
            ingress=[],
            egress=[],
            tags=named(args.tags, f"{args.cluster}-unused"),
            opts=self._child_options,
        )
        self._ranges = self._secondary()
        self._nats = nats = self._nat_gateways()
        self.subnets, self.route_tables = {}, {}
        for plan in args.private:
            self.subnets[plan.zone] = self._subnet(plan, "private")
            self.route_tables[plan.zone] = self._routes(plan.zone, nats)
        self.subnet_ids = {
            plan.zone: reserved(name, plan, self.subnets[plan.zone].id, self._child_options) for plan in args.private
        }
        self.zone_names = {zone: subnet.availability_zone for zone, subnet in self.subnets.items()}
        self.route_table_ids = {zone: table.id for zone, table in self.route_tables.items()}
        vpc_endpoints(
            name,
            args,
            vpc_id=vpc.id,
            subnet_ids=self.subnet_ids,
            zone_names=self.zone_names,
            route_table_ids=list(self.route_table_ids.values()),
            component=self,
        )
        self.register_outputs({"vpcId": self.vpc_id})

    def exports(self) -> dict[str, Any]:
        """Return the stack\'s `network` output."""
        subnets = {
            plan.zone: {
                "id": self.subnets[plan.zone].id,
                "cidr": plan.cidr,
                "availability_zone": self.subnets[plan.zone].availability_zone,
            }
            for plan in self._args.private
        }
        return {"vpc_id": self.vpc_id, "cidr": self._args.cidr, "subnets": subnets}

    def monitored_ids(self) -> dict[str, pulumi.Output[str]]:
        """Return the id of each NAT gateway, for alarms."""
        return {f"nat-{zone}": gateway.id for zone, gateway in self._nats.items()}

    def _secondary(self) -> list[pulumi.Resource]:
        """Create the further CIDR blocks of the VPC, before the subnets in them."""
        return [
            aws.ec2.VpcIpv4CidrBlockAssociation(
                f"{self._name}-{cidr}", vpc_id=self.vpc_id, cidr_block=cidr, opts=self._child_options
            )
            for cidr in self._args.secondary_cidrs
        ]

    def _subnet(self, plan: SubnetPlan, kind: str) -> aws.ec2.Subnet:
        label = f"{self._args.cluster}-{kind}-{plan.zone}"
        return aws.ec2.Subnet(
            f"{self._name}-{kind}-{plan.zone}",
            vpc_id=self.vpc_id,
            cidr_block=plan.cidr,
            availability_zone_id=plan.zone,
            map_public_ip_on_launch=False,
            tags=named(self._args.tags, label),
            opts=pulumi.ResourceOptions(parent=self, depends_on=self._ranges),
        )

    def _routes(self, zone: str, nats: dict[str, aws.ec2.NatGateway]) -> aws.ec2.RouteTable:
        """Create a route table for each zone, so that each zone can have its own NAT gateway; the link adds routes to
        all of them.
        """
        table = aws.ec2.RouteTable(
            f"{self._name}-{zone}",
            vpc_id=self.vpc_id,
            tags=named(self._args.tags, f"{self._args.cluster}-{zone}"),
            opts=self._child_options,
        )
        aws.ec2.RouteTableAssociation(
            f"{self._name}-{zone}", route_table_id=table.id, subnet_id=self.subnets[zone].id, opts=self._child_options
        )
        gateway = nats.get(zone) or next(iter(nats.values()), None)
        if gateway is not None:
            aws.ec2.Route(
                f"{self._name}-{zone}-out",
                route_table_id=table.id,
                destination_cidr_block="0.0.0.0/0",
                nat_gateway_id=gateway.id,
                opts=self._child_options,
            )
        return table

    def _nat_gateways(self) -> dict[str, aws.ec2.NatGateway]:
        """Create the NAT gateways by zone, in public subnets without other resources."""
        args = self._args
        if not args.public:
            return {}
        internet = aws.ec2.InternetGateway(
            self._name, vpc_id=self.vpc_id, tags=named(args.tags, args.cluster), opts=self._child_options
        )
        table = aws.ec2.RouteTable(
            f"{self._name}-public",
            vpc_id=self.vpc_id,
            tags=named(args.tags, f"{args.cluster}-public"),
            opts=self._child_options,
        )
        aws.ec2.Route(
            f"{self._name}-public-out",
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
            opts=self._child_options,
        )
        # EC2 refuses a NAT gateway in a VPC without an internet gateway, and does not detach an internet gateway while the VPC
        # has a mapped elastic IP address: neither resource names the internet gateway, so the order is stated here.
        after_internet = pulumi.ResourceOptions(parent=self, depends_on=[internet])
        gateways = {}
        for plan in args.public:
            subnet = self._subnet(plan, "public")
            aws.ec2.RouteTableAssociation(
                f"{self._name}-public-{plan.zone}",
                route_table_id=table.id,
                subnet_id=subnet.id,
                opts=self._child_options,
            )
            label = named(args.tags, f"{args.cluster}-nat-{plan.zone}")
            address = aws.ec2.Eip(f"{self._name}-nat-{plan.zone}", domain="vpc", tags=label, opts=after_internet)
            gateways[plan.zone] = aws.ec2.NatGateway(
                f"{self._name}-{plan.zone}",
                subnet_id=subnet.id,
                allocation_id=address.id,
                tags=label,
                opts=after_internet,
            )
        return gateways
