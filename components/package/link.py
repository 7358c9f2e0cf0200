"""`landbridge:index:Link`."""

from typing import Any, NotRequired

import pulumi

import components
from components.package.inputs import OwnedInputs, planned, whole
from landbridge.plan.network.link import LinkArgs, link_args
from landbridge.plan.standalone import standalone_environment


class LinkInputs(OwnedInputs):
    """The way between a site and a VPC."""

    gateway_address: str
    """The public address of the gateway on-prem."""
    onprem_asn: int
    """Its BGP number."""
    aws_asn: NotRequired[int]
    """The transit gateway's; 64512 unless it is said otherwise."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: list[pulumi.Input[str]]
    """One subnet in each zone that is to be reached."""
    route_table_ids: dict[str, pulumi.Input[str]]
    """Route tables that learn the way, by a name that stays."""
    link: NotRequired[dict[str, Any]]
    """More of the link, as in an environment file: sites, sites_meet, logs, or kind: direct_connect and what a line needs."""


class Link(pulumi.ComponentResource):
    """A transit gateway and each site's way to it: a VPN with two tunnels and BGP, IKEv2 with one strong suite; a leased line."""

    tunnels: pulumi.Output[list[dict[str, str]]]
    """Both tunnels' addresses."""
    pre_shared_keys: pulumi.Output[list[str]]
    """Their keys, secret."""
    site_keys: pulumi.Output[dict[str, list[str]]]
    """The keys of other sites' tunnels by site, secret."""

    def __init__(self, name: str, args: LinkInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        onprem = args.get("onprem_cidr", "10.20.0.0/16")

        def plan() -> LinkArgs:
            link: dict[str, Any] = {
                "kind": "vpn",
                "gateway_address": args["gateway_address"],
                "onprem_asn": int(args["onprem_asn"]),
                **whole(args.get("link", {})),
            }
            if "aws_asn" in args:
                link["aws_asn"] = int(args["aws_asn"])
            site = standalone_environment(
                args["cluster"],
                args["region"],
                owner=args["owner"],
                cost_center=args["cost_center"],
                onprem_cidr=onprem,
                link=link,
            )
            return link_args(site)

        wanted = planned(f"Link {name}", plan)
        super().__init__("landbridge:index:Link", name, dict(args), opts)
        made = components.Link(
            name,
            wanted,
            vpc_id=args["vpc_id"],
            subnet_ids=list(args["subnet_ids"]),
            route_table_ids=args["route_table_ids"],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.tunnels, self.pre_shared_keys, self.site_keys = made.tunnels, made.pre_shared_keys, made.site_keys
        given = {"tunnels": self.tunnels, "preSharedKeys": self.pre_shared_keys, "siteKeys": self.site_keys}
        self.register_outputs(given)
