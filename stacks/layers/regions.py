"""VPCs of the foundation in other regions, and the peered transit gateways to them."""

from collections.abc import Iterable
from dataclasses import dataclass

from components.governance.flow_logs import FlowLogs
from components.network import Network
from components.parts.home_transit_gateway import HomeTransitGateway
from components.parts.in_region import in_region
from components.region_link import RegionLink
from landbridge.environment import Environment
from landbridge.plan.network.flow_logs import FlowLogsArgs, flow_logs_args
from landbridge.plan.network.network import NetworkArgs, network_args
from landbridge.plan.network.region_link import RegionLinkArgs, region_link_args
from landbridge.plan.other_regions import other_regions
from layers.context import Context


@dataclass(frozen=True)
class RegionPlan:
    """Plan of one other region."""

    region: str
    network: NetworkArgs
    link: RegionLinkArgs
    flow_logs: FlowLogsArgs | None

    @classmethod
    def of(cls, environment: Environment) -> tuple["RegionPlan", ...]:
        """Plan all other regions. Raises ValueError for an environment without a link."""
        return tuple(
            cls(
                name,
                network_args(other_region),
                region_link_args(environment, name),
                flow_logs_args(other_region, name),
            )
            for name, other_region in other_regions(environment).items()
        )


def build(plans: Iterable[RegionPlan], home: HomeTransitGateway | None, context: Context) -> dict[str, Network]:
    """Register the resources of all regions, and return their networks by region."""
    return {plan.region: _build(plan, home, context) for plan in plans if home is not None}


def _build(plan: RegionPlan, home: HomeTransitGateway, context: Context) -> Network:
    name = f"{context.environment.name}-{plan.region}"
    options = in_region(plan.region, context.options)
    network = Network(name, plan.network, opts=options)
    if plan.flow_logs is not None:
        FlowLogs(name, plan.flow_logs, vpc_id=network.vpc_id, opts=options)
    RegionLink(
        name,
        plan.link,
        home=home,
        vpc_id=network.vpc_id,
        subnet_ids=[network.subnet_ids[zone] for zone in sorted(network.subnet_ids)],
        route_table_ids=network.route_table_ids,
        opts=context.options,
    )
    return network
