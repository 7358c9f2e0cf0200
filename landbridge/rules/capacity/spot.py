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
    """A pool has something besides spot, or its jobs wait without an end in sight.

    Spot capacity of GPU types can be gone for days.
    Source: EC2 Spot best practices; aws-parallelcluster issue 3785.
    """
    for at in pools(environment):
        if all(isinstance(capacity, Spot) for capacity in at.pool.capacity):
            message = f"the pool {at.pool.name} has spot capacity alone"
            fix = "add {kind: on_demand} after it, or accept the wait"
            yield warning(at.at("capacity"), message, fix=fix)


@rule
def min_nodes_on_spot(environment: Environment) -> Iterator[Finding]:
    """Nodes that are kept running are not spot first: AWS takes spot back when it likes, and they start again elsewhere.

    Source: EC2 User Guide, "Spot Instance interruptions".
    """
    for owner in pools(environment):
        first = next(pool_capacities(owner))
        if owner.pool.min_nodes > 0 and isinstance(first.capacity, Spot):
            message = f"{owner.pool.min_nodes} nodes of {owner.pool.name} are to be kept, and spot keeps none"
            fix = "use min_nodes: 0, or put a reservation or on_demand first"
            yield warning(owner.at("min_nodes"), message, fix=fix, related=(owner.at("capacity"),))


@rule
def spot_for_gangs(environment: Environment) -> Iterator[Finding]:
    """Whoever trains on spot over many nodes saves checkpoints often: one reclaimed node ends the whole job.

    The chance grows with the nodes, and all of them are rarely to be had at once. Information: with checkpoints every few
    minutes it can still be the cheapest way.
    Source: EC2 Spot best practices; aws-parallelcluster issue 6641.
    """
    for at in capacities(environment):
        several = at.pool.max_nodes > 1 and at.pool.efa is not False and at.type is not None and at.type.efa_cards
        if isinstance(at.capacity, Spot) and several:
            message = (
                f"a job over {at.pool.max_nodes} spot nodes of {at.pool.name} ends when AWS takes back one of them"
            )
            fix = "save checkpoints every few minutes, or keep such jobs in a pool without spot"
            yield info(at.at("kind"), message, fix=fix, related=(at.instance_path,))


@rule
def spot_price(environment: Environment) -> Iterator[Finding]:
    """The highest price for spot is one at which there ever was any, and not above on-demand.

    Below what spot has cost nothing is ever launched; above on-demand it protects from nothing, for spot never costs more.
    EC2 refuses a highest price below 0.001 USD.
    Source: EC2 User Guide, "Spot Instances"; EC2 API LaunchTemplateSpotMarketOptionsRequest, MaxPrice;
    prices as dated in landbridge/catalog/prices.yaml.
    """
    least = limits().billing.least_spot_usd
    for at in capacities(environment):
        if not isinstance(at.capacity, Spot) or at.capacity.max_price_usd is None:
            continue
        price, path, related = at.capacity.max_price_usd, at.at("max_price_usd"), (at.instance_path,)
        if price < least:
            message = f"EC2 takes no highest price below {least} USD; this is {price}"
            yield error(path, message, fix="it is per instance and hour, in USD; or remove it")
            continue
        ceiling = price_of("on_demand", at.instance, environment.region)
        seen = price_of("spot", at.instance, environment.region)
        if isinstance(ceiling, Price) and price > ceiling.usd:
            message = f"{usd(price)} is above the on-demand price of {usd(ceiling.usd)} (as of {ceiling.as_of})"
            fix = "remove max_price_usd: spot never costs more than on-demand"
            yield warning(path, message, fix=fix, related=related)
        elif isinstance(seen, PriceRange) and price < seen.low:
            message = f"{at.instance} has cost {usd(seen.low)} to {usd(seen.high)} as spot (as of {seen.as_of})"
            fix = "raise max_price_usd, or remove it: the default is the on-demand price"
            yield warning(path, message, fix=fix, related=related)


@rule
def spot_allocation(environment: Environment) -> Iterator[Finding]:
    """Spot is not chosen by its price alone.

    The cheapest pool is the one that empties first: more interruptions, and every one costs the time to start again.
    Source: EC2 Fleet guide, "Allocation strategies": lowest-price is not recommended.
    """
    for at in capacities(environment):
        if isinstance(at.capacity, Spot) and at.capacity.allocation == "lowest_price":
            message = "lowest_price takes the spot capacity that is taken back first"
            fix = "use allocation: price_capacity_optimized, the default"
            yield warning(at.at("allocation"), message, fix=fix)


@rule
def spot_after_on_demand(environment: Environment) -> Iterator[Finding]:
    """Spot is tried before on-demand of the same type: after it, it is used only when on-demand has none, at no saving.

    Source: EC2 Spot pricing.
    """
    for owner in pools(environment):
        before = None
        for at in pool_capacities(owner):
            if isinstance(at.capacity, OnDemand):
                before = before or at
            elif isinstance(at.capacity, Spot) and before is not None and before.instance == at.instance:
                message = "spot is tried after on-demand of the same type, so it saves nothing"
                fix = "put spot first, or remove it"
                yield warning(at.path, message, fix=fix, related=(before.path,))
