"""Hourly and monthly cost of an environment, from dated prices, before anything runs."""

from landbridge.environment import Environment
from landbridge.plan.cost.bill_lines import HOURS_PER_MONTH, BillItem, Spend, SpendLine, Unpriced
from landbridge.plan.cost.change import CostChange, LineChange, cost_change
from landbridge.plan.cost.dns import dns_spend
from landbridge.plan.cost.guardrails import guardrails_spend
from landbridge.plan.cost.network import network_spend
from landbridge.plan.cost.node_images import node_images_spend
from landbridge.plan.cost.owned_nodes import owned_spend
from landbridge.plan.cost.pools import pool_spend
from landbridge.plan.cost.services import model_servers_spend, services_spend
from landbridge.plan.cost.storage import storage_spend

__all__ = [
    "HOURS_PER_MONTH",
    "CostChange",
    "LineChange",
    "Spend",
    "SpendLine",
    "Unpriced",
    "aws_spend",
    "cost_change",
    "spend",
]


def spend(environment: Environment) -> Spend:
    """Return the cost of both sites: the resources in AWS, and then the nodes that the organisation owns."""
    return _spend([*_aws_items(environment), *owned_spend(environment)])


def aws_spend(environment: Environment) -> Spend:
    """Return the cost of the resources in AWS only, which is compared with budgets."""
    return _spend(_aws_items(environment))


def _aws_items(environment: Environment) -> list[BillItem]:
    """Return pools in the file's order, then services in AWS, file systems and the network.

    The volume of traffic and of bucket contents is not known in advance; they are listed with their unit price.
    """
    return [
        *(item for pool in environment.aws.pools for item in pool_spend(environment, pool)),
        *services_spend(environment),
        *model_servers_spend(environment),
        *storage_spend(environment),
        *node_images_spend(environment),
        *network_spend(environment),
        *dns_spend(environment),
        *guardrails_spend(environment),
    ]


def _spend(items: list[BillItem]) -> Spend:
    return Spend(
        lines=tuple(item for item in items if isinstance(item, SpendLine)),
        unpriced=tuple(item for item in items if isinstance(item, Unpriced)),
    )
