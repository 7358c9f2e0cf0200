"""Existing VPC that Landbridge uses and does not create."""

from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.component import Component
from components.parts.reserved import reserved
from components.parts.vpc_endpoints import vpc_endpoints
from landbridge.plan.network.network import NetworkArgs


class ExistingNetwork(Component):
    """Existing VPC and subnets of an environment, with the same attributes as Network.

    Costs nothing by itself. Protects the VPC: Landbridge neither changes nor owns it, so Pulumi cannot delete it.
    Opens nothing. Adds VPC endpoints if the environment has them; the link adds routes to the named route tables.
    """

    vpc_id: pulumi.Output[str]
    subnet_ids: dict[str, pulumi.Input[str]]
    route_table_ids: dict[str, pulumi.Input[str]]
    zone_names: dict[str, pulumi.Output[str]]

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        if args.existing is None:
            raise ValueError("an existing network has the id of a VPC")
        super().__init__(name, {"vpcId": args.existing.vpc_id}, opts)
        self._args = args
        self.vpc_id = pulumi.Output.from_input(args.existing.vpc_id)
        resource_options = pulumi.ResourceOptions(parent=self)
        self.subnet_ids = {
            plan.zone: reserved(name, plan, args.existing.subnet_ids[plan.zone], resource_options)
            for plan in args.private
        }
        # Named by the table's id: several zones can share a table, and a further zone must not rename its routes.
        self.route_table_ids = {table: table for table in args.existing.route_table_ids}
        self.zone_names = {
            zone: aws.ec2.get_subnet_output(id=subnet, opts=pulumi.InvokeOutputOptions(parent=self)).availability_zone
            for zone, subnet in args.existing.subnet_ids.items()
        }
        vpc_endpoints(
            name,
            args,
            vpc_id=self.vpc_id,
            subnet_ids=self.subnet_ids,
            zone_names=self.zone_names,
            route_table_ids=list(self.route_table_ids.values()),
            component=self,
        )
        self.register_outputs({"vpcId": self.vpc_id})

    def exports(self) -> dict[str, Any]:
        """Return the stack\'s `network` output, with the same keys as Network's."""
        subnets = {
            plan.zone: {
                "id": self.subnet_ids[plan.zone],
                "cidr": plan.cidr,
                "availability_zone": self.zone_names[plan.zone],
            }
            for plan in self._args.private
        }
        return {"vpc_id": self.vpc_id, "cidr": self._args.cidr, "subnets": subnets}

    def monitored_ids(self) -> dict[str, pulumi.Output[str]]:
        """Return no id: NAT gateways of an existing VPC are its owner's."""
        return {}
