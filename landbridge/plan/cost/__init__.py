"""What an environment costs by the hour and the month, from dated prices: known before anything runs."""

from landbridge.environment import Environment
from landbridge.plan.cost.images import images_spend
from landbridge.plan.cost.lines import HOURS_A_MONTH, Spend, SpendLine, Unpriced
from landbridge.plan.cost.names import names_spend
from landbridge.plan.cost.network import network_spend
from landbridge.plan.cost.pools import pool_spend
from landbridge.plan.cost.services import services_spend
from landbridge.plan.cost.stored import storage_spend

__all__ = ["HOURS_A_MONTH", "Spend", "SpendLine", "Unpriced", "spend"]


def spend(environment: Environment) -> Spend:
    """What the environment costs: pools in the file's order, then services in AWS, file systems, the network and the control plane.

    Traffic and what buckets hold is not known before; it is listed with its price by volume.
    """
    found = [
        *(item for pool in environment.aws.pools for item in pool_spend(environment, pool)),
        *services_spend(environment),
        *storage_spend(environment),
        *images_spend(environment),
        *network_spend(environment),
        *names_spend(environment),
    ]
    return Spend(
        lines=tuple(item for item in found if isinstance(item, SpendLine)),
        unpriced=tuple(item for item in found if isinstance(item, Unpriced)),
    )
