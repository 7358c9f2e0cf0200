"""Inputs of the cost of a site's nodes, from `onprem.costs` and the catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge import hostlist
from landbridge.catalog import platforms
from landbridge.environment import Costs, Environment, Financing, NodeGroup, OwnedNode
from landbridge.plan.cost.owned_node import TERMS, Debt, NodeInputs, Term
from landbridge.plan.cost.owned_sources import TermSource, term_source


@dataclass(frozen=True, slots=True)
class OwnedGroup:
    """Nodes of a group with the inputs of one node's cost, or the reason why one is not known (`missing`).

    `sources` are those of the terms of `inputs`.
    """

    hosts: str
    platform: str
    nodes: int
    gpus: int
    gpu_type: str
    inputs: NodeInputs | None
    missing: str | None
    sources: Mapping[Term, TermSource]


def owned_groups(environment: Environment) -> tuple[OwnedGroup, ...]:
    """Return the node groups of the site in the file's order; empty without a site."""
    if environment.onprem is None:
        return ()
    return tuple(_group(environment.onprem.costs, group) for group in environment.onprem.nodes)


def node_costs(costs: Costs, group: NodeGroup) -> OwnedNode:
    """Return the costs of a group's nodes: each value of its hosts, else its platform's value, else None."""
    by_platform, by_hosts = costs.nodes.get(group.platform, OwnedNode()), costs.nodes.get(group.hosts, OwnedNode())
    values = {
        name: getattr(by_platform, name) if getattr(by_hosts, name) is None else getattr(by_hosts, name)
        for name in OwnedNode.model_fields
    }
    return OwnedNode.model_validate(values)


def _group(costs: Costs, group: NodeGroup) -> OwnedGroup:
    facts, settings = platforms().get(group.platform), node_costs(costs, group)
    price = settings.purchase_usd if settings.purchase_usd is not None else facts.price_usd if facts else None
    load_kw = settings.load_kw if settings.load_kw is not None else facts.power_kw if facts else None
    missing = None
    if price is None:
        missing = "its purchase price is neither in onprem.costs.nodes nor in the catalogue"
    elif load_kw is None and costs.power is not None:
        missing = "its power is neither in onprem.costs.nodes nor in the catalogue"
    inputs = None
    if missing is None and price is not None:
        inputs = _inputs(costs, settings, price, load_kw or 0.0)
    gpus = facts.gpus if facts is not None else None
    return OwnedGroup(
        hosts=group.hosts,
        platform=group.platform,
        nodes=len(hostlist.expand(group.hosts)),
        gpus=gpus.count if gpus is not None else 0,
        gpu_type=gpus.type if gpus is not None else "",
        inputs=inputs,
        missing=missing,
        sources={term: term_source(costs, settings, facts, term) for term in TERMS},
    )


def _inputs(costs: Costs, settings: OwnedNode, price: float, load_kw: float) -> NodeInputs:
    years = settings.years if settings.years is not None else costs.years
    return NodeInputs(
        price_usd=price,
        years=years,
        purchase=costs.purchase,
        residual_share=settings.residual_share if settings.residual_share is not None else costs.residual_share,
        debt=_debt(costs.financing, years),
        network_share=costs.network_share,
        maintenance_share=costs.maintenance_share,
        idle_kw=settings.idle_kw if settings.idle_kw is not None else load_kw,
        load_kw=load_kw,
        pue=costs.power.pue if costs.power is not None else 1.0,
        usd_kwh=costs.power.usd_kwh if costs.power is not None else None,
        space_usd_month=costs.space_usd_month,
        storage_usd_month=costs.storage_usd_month,
        staff_per_node=costs.staff.per_node if costs.staff is not None else 0.0,
        staff_usd_year=costs.staff.usd_year if costs.staff is not None else None,
    )


def _debt(financing: Financing | None, years: float) -> Debt | None:
    if financing is None:
        return None
    return Debt(financing.rate, financing.years if financing.years is not None else years, financing.payment_usd_month)
