"""`landbridge:index:Dns`."""

from typing import Any

import pulumi

from components import dns
from components.multilang.inputs import OwnedInputs, environment_of, required_plan, with_integers
from components.parts.adapter import Adapter
from landbridge.plan.network.dns import ENDPOINT_ADDRESSES, DnsArgs, EndpointAddress, dns_args


class DnsInputs(OwnedInputs):
    """DNS between the sites."""

    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id: two, since AWS chooses the addresses of the Resolver endpoints, one in each subnet."""
    dns: dict[str, Any]
    """As dns in an environment file: zone, domains, resolvers, query_logs."""


class Dns(Adapter):
    """A private hosted zone for the cluster's names, and Route 53 Resolver endpoints in both directions; about 0.50 USD an hour."""

    zone_id: pulumi.Output[str]
    """The private hosted zone."""

    def __init__(self, name: str, args: DnsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts, plan=_plan, component=dns.Dns)


def _plan(args: DnsInputs) -> DnsArgs:
    environment = environment_of(args, zones=list(args["subnet_ids"]), dns=with_integers(args["dns"]))
    plan = required_plan(dns_args(environment), "DNS")
    if len(args["subnet_ids"]) < ENDPOINT_ADDRESSES:
        raise ValueError("the Resolver endpoints need subnets in two zones")
    # The subnets' ranges are not among the inputs, so that no address in them can be planned.
    chosen = {
        "inbound": tuple(EndpointAddress(zone=address.zone) for address in plan.inbound),
        "outbound": tuple(EndpointAddress(zone=address.zone) for address in plan.outbound),
    }
    return plan.model_copy(update=chosen)


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az4": "subnet-1", "use1-az6": "subnet-2"},
    "dns": {"resolvers": ["10.20.0.53", "10.20.1.53"]},
}
