"""Transit gateway peering between an environment's own region and another one."""

from landbridge.environment import Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.network.link import link_args
from landbridge.plan.other_regions import aws_ranges


class RegionLinkArgs(Args):
    """Transit gateway in `region`, peered with the one in the environment's own region.

    `cidr` is the range of the VPC in `region`. `beyond` are the ranges that are reached through the own region's
    transit gateway, by key: sites, and VPCs in the other regions.
    """

    cluster: str
    region: str
    asn: int
    cidr: str
    beyond: dict[str, str]
    tags: dict[str, str]


def region_link_args(environment: Environment, region: str) -> RegionLinkArgs:
    """Plan the peering with one of the other regions. Raises ValueError for an environment without a link."""
    region_settings = environment.aws.other_regions[region]
    in_aws = [str(cidr) for cidr in aws_ranges(environment) if cidr != region_settings.cidr]
    return RegionLinkArgs(
        cluster=environment.name,
        region=region,
        asn=region_settings.asn,
        cidr=str(region_settings.cidr),
        beyond={**link_args(environment).networks, **{cidr.replace("/", "-"): cidr for cidr in in_aws}},
        tags=tags(environment),
    )
