"""Rules about spot capacity."""

from collections.abc import Iterator

from landbridge.catalog import Price, PriceRange, price_of
from landbridge.catalog.aws.limits import limits
from landbridge.environment import Environment, OnDemand, Spot
from landbridge.findings import Finding, error, info, warning
from landbridge.rules.environment_paths import capacities, pool_capacities, pools, usd
from landbridge.rules.registry import rule


@rule
def spot_alone(environment: Environment) -> Iterator[Finding]:
    """A pool has other capacity besides spot: otherwise its jobs may stay pending for days.

    GPU types can have no spot capacity for days.
    Source: EC2 Spot best practices; aws-parallelcluster issue 3785.
    """
    for owner in pools(environment):
        if all(isinstance(capacity, Spot) for capacity in owner.pool.capacity):
            message = f"the pool {owner.pool.name} has only spot capacity"
            fix = "add {kind: on_demand} after it, or accept the wait"
            yield warning(owner.at("capacity"), message, fix=fix)


@rule
def min_nodes_on_spot(environment: Environment) -> Iterator[Finding]:
    """The first capacity of a pool with min_nodes is not spot: EC2 may reclaim spot instances at any time.

    Source: EC2 User Guide, "Spot Instance interruptions".
    """
    for owner in pools(environment):
        first = next(pool_capacities(owner))
        if owner.pool.min_nodes > 0 and isinstance(first.capacity, Spot):
            message = f"min_nodes of {owner.pool.name} is {owner.pool.min_nodes}, and EC2 may reclaim its spot instances at any time"
            fix = "write min_nodes: 0, or put a reservation or on_demand first"
            yield warning(owner.at("min_nodes"), message, fix=fix, related=(owner.at("capacity"),))


@rule
def spot_for_gangs(environment: Environment) -> Iterator[Finding]:
    """Multi-node jobs on spot save checkpoints often: one reclaimed instance ends the whole job.

    The risk grows with the number of nodes, and capacity for all of them is rare. Information: with checkpoints every
    few minutes spot can still be the cheapest capacity.
    Source: EC2 Spot best practices; aws-parallelcluster issue 6641.
    """
    for at in capacities(environment):
        has_multi_node_jobs = (
            at.pool.max_nodes > 1 and at.pool.efa is not False and at.type is not None and at.type.efa_cards
        )
        if isinstance(at.capacity, Spot) and has_multi_node_jobs:
            message = f"a job over {at.pool.max_nodes} spot nodes of {at.pool.name} ends when EC2 reclaims one of them"
            fix = "save checkpoints every few minutes, or run such jobs in a pool without spot"
            yield info(at.at("kind"), message, fix=fix, related=(at.instance_path,))


@rule
def spot_price(environment: Environment) -> Iterator[Finding]:
    """max_price_usd of spot is not below past spot prices, and not above the on-demand price.

    Below past spot prices no instance is launched; above the on-demand price it has no effect, because spot never costs
    more. EC2 refuses a maximum price below 0.001 USD.
    Source: EC2 User Guide, "Spot Instances"; EC2 API LaunchTemplateSpotMarketOptionsRequest, MaxPrice; prices as dated
    in landbridge/catalog/prices.yaml.
    """
    min_price = limits().billing.least_spot_usd
    for at in capacities(environment):
        if not isinstance(at.capacity, Spot) or at.capacity.max_price_usd is None:
            continue
        price, path, related = at.capacity.max_price_usd, at.at("max_price_usd"), (at.instance_path,)
        if price < min_price:
            message = f"max_price_usd is {price}; EC2 requires {min_price} USD or more"
            yield error(path, message, fix="write USD for each instance and hour, or remove it")
            continue
        on_demand_price = price_of("on_demand", at.instance, environment.region)
        past_prices = price_of("spot", at.instance, environment.region)
        if isinstance(on_demand_price, Price) and price > on_demand_price.usd:
            message = f"max_price_usd of {usd(price)} is above the on-demand price of {usd(on_demand_price.usd)} (as of {on_demand_price.as_of})"
            fix = "remove max_price_usd: spot never costs more than on-demand"
            yield warning(path, message, fix=fix, related=related)
        elif isinstance(past_prices, PriceRange) and price < past_prices.low:
            message = f"max_price_usd of {usd(price)} is below the spot prices of {at.instance}, {usd(past_prices.low)} to {usd(past_prices.high)} (as of {past_prices.as_of})"
            fix = "raise it, or remove it: the default is the on-demand price"
            yield warning(path, message, fix=fix, related=related)


@rule
def spot_after_on_demand(environment: Environment) -> Iterator[Finding]:
    """Spot is listed before on-demand capacity of the same type: after it, it saves nothing.

    Source: EC2 Spot pricing.
    """
    for owner in pools(environment):
        on_demand = None
        for at in pool_capacities(owner):
            if isinstance(at.capacity, OnDemand):
                on_demand = on_demand or at
            elif isinstance(at.capacity, Spot) and on_demand is not None and on_demand.instance == at.instance:
                message = "spot is tried after on-demand of the same type, so it saves nothing"
                fix = "put spot first, or remove it"
                yield warning(at.path, message, fix=fix, related=(on_demand.path,))
