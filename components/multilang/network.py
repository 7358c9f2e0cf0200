"""`landbridge:index:Network`."""

from typing import NotRequired

import pulumi

from components import network
from components.multilang.inputs import OwnedInputs, environment_of
from components.parts.adapter import Adapter
from landbridge.plan.network.network import NetworkArgs, network_args


class NetworkInputs(OwnedInputs):
    """A VPC with subnets in some zones."""

    cidr: str
    """The VPC's CIDR; it must not overlap the one on-prem."""
    zones: list[str]
    """Zone ids, such as use1-az4: each gets a private subnet, whose CIDR stays when other zones are added."""
    nat: NotRequired[str]
    """NAT gateways: none, single or per_zone. Default: none."""


class Network(Adapter):
    """A VPC with a private subnet in each zone, VPC endpoints for AWS services, and no access from the internet."""

    vpc_id: pulumi.Output[str]
    """The VPC."""
    subnet_ids: pulumi.Output[dict[str, str]]
    """Private subnets by zone id."""
    route_table_ids: pulumi.Output[dict[str, str]]
    """The subnets' route tables by zone id, for a link's routes."""

    def __init__(self, name: str, args: NetworkInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts, plan=_plan, component=network.Network)


def _plan(args: NetworkInputs) -> NetworkArgs:
    nat = args.get("nat", "none")
    return network_args(environment_of(args, cidr=args["cidr"], zones=args["zones"], aws={"nat": nat}))


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "cidr": "10.60.0.0/16",
    "zones": ["use1-az4", "use1-az6"],
}
