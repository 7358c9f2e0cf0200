"""`landbridge:index:Network`."""

from typing import NotRequired

import pulumi

import components
from components.package.inputs import OwnedInputs, planned
from landbridge.plan.network.network import NetworkArgs, network_args
from landbridge.plan.standalone import standalone_environment


class NetworkInputs(OwnedInputs):
    """A VPC over some zones."""

    cidr: str
    """The VPC's range; it must not overlap the one on-prem."""
    zones: list[str]
    """Zone ids, such as use1-az4: each gets a private subnet, whose range stays when others come."""
    nat: NotRequired[str]
    """none, single or per_zone."""


class Network(pulumi.ComponentResource):
    """A VPC with a private subnet in each zone, endpoints for AWS's services, and no way in from the internet."""

    vpc_id: pulumi.Output[str]
    """The VPC."""
    subnet_ids: pulumi.Output[dict[str, str]]
    """Private subnets by zone id."""
    route_table_ids: pulumi.Output[dict[str, str]]
    """Their route tables by zone id, for a link's routes."""

    def __init__(self, name: str, args: NetworkInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> NetworkArgs:
            site = standalone_environment(
                args["cluster"],
                args["region"],
                owner=args["owner"],
                cost_center=args["cost_center"],
                cidr=args["cidr"],
                onprem_cidr=args.get("onprem_cidr", "10.20.0.0/16"),
                zones=args["zones"],
                aws={"nat": args.get("nat", "none")},
            )
            return network_args(site)

        wanted = planned(f"Network {name}", plan)
        super().__init__("landbridge:index:Network", name, dict(args), opts)
        made = components.Network(name, wanted, opts=pulumi.ResourceOptions(parent=self))
        self.vpc_id = made.vpc_id
        self.subnet_ids = pulumi.Output.from_input(dict(made.subnet_ids))
        self.route_table_ids = pulumi.Output.from_input(dict(made.route_table_ids))
        self.register_outputs(
            {"vpcId": self.vpc_id, "subnetIds": self.subnet_ids, "routeTableIds": self.route_table_ids}
        )
