"""`landbridge:index:Link`."""

from typing import Any, NotRequired

import pulumi

from components import link
from components.multilang.inputs import OwnedInputs, environment_of, with_integers
from components.parts.adapter import Adapter
from landbridge.plan.network.link import LinkArgs, link_args


class LinkInputs(OwnedInputs):
    """The connection between a site and a VPC."""

    gateway_address: str
    """The public address of the gateway on-prem."""
    onprem_asn: int
    """The gateway's BGP autonomous system number."""
    aws_asn: NotRequired[int]
    """The transit gateway's autonomous system number. Default: 64512."""
    vpc_id: pulumi.Input[str]
    """The VPC."""
    subnet_ids: list[pulumi.Input[str]]
    """One subnet in each zone that the site reaches."""
    route_table_ids: dict[str, pulumi.Input[str]]
    """Route tables that get a route to the site, by a name that stays."""
    link: NotRequired[dict[str, Any]]
    """More of the link, as in an environment file: sites, sites_meet, logs, or kind: direct_connect and its settings."""


class Link(Adapter):
    """A transit gateway and a connection of each site: a VPN with two tunnels and BGP, IKEv2 with one strong suite; or Direct Connect."""

    tunnels: pulumi.Output[list[dict[str, str]]]
    """Addresses of both tunnels."""
    pre_shared_keys: pulumi.Output[list[str]]
    """The tunnels' keys, secret."""
    site_keys: pulumi.Output[dict[str, list[str]]]
    """The keys of other sites' tunnels by site, secret."""

    def __init__(self, name: str, args: LinkInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts, plan=_plan, component=link.Link)


def _plan(args: LinkInputs) -> LinkArgs:
    settings: dict[str, Any] = {
        "kind": "vpn",
        "gateway_address": args["gateway_address"],
        "onprem_asn": int(args["onprem_asn"]),
        **with_integers(args.get("link", {})),
    }
    if "aws_asn" in args:
        settings["aws_asn"] = int(args["aws_asn"])
    return link_args(environment_of(args, link=settings))


#: Example inputs besides those of OwnedInputs, as Pulumi's protocol has them; tests create a component from them.
EXAMPLE = {
    "gateway_address": "203.0.113.10",
    "onprem_asn": 65010.0,
    "vpc_id": "vpc-1",
    "subnet_ids": ["subnet-1"],
    "route_table_ids": {"use1-az4": "rtb-1"},
    "link": {
        "logs": False,
        "sites": {
            "basel": {
                "cidr": "10.30.0.0/16",
                "gateway": "gw02",
                "address": "10.30.0.1",
                "gateway_address": "203.0.113.20",
                "asn": 65011.0,
            }
        },
    },
}
