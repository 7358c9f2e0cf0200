"""`landbridge:index:Dns`."""

from typing import Any

import pulumi

import components
from components.package.inputs import OwnedInputs, planned, site_of, wanted_plan, whole
from landbridge.plan.network.dns import DnsArgs, dns_args


class DnsInputs(OwnedInputs):
    """Names, both ways."""

    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Private subnets by zone id."""
    dns: dict[str, Any]
    """As dns in an environment file: zone, domains, resolvers, query_logs."""


class Dns(pulumi.ComponentResource):
    """A private zone for the cluster's names, and Route 53 Resolver endpoints in both directions; about 0.50 USD an hour."""

    zone_id: pulumi.Output[str]
    """The private zone."""

    def __init__(self, name: str, args: DnsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        def plan() -> DnsArgs:
            site = site_of(
                args,
                zones=list(args["subnet_ids"]),
                dns=whole(args["dns"]),
            )
            return wanted_plan(dns_args(site), "names")

        wanted = planned(f"Dns {name}", plan)
        super().__init__("landbridge:index:Dns", name, dict(args), opts)
        made = components.Dns(
            name,
            wanted,
            vpc_id=args["vpc_id"],
            subnet_ids=args["subnet_ids"],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.zone_id = made.zone_id
        self.register_outputs({"zoneId": self.zone_id})
