"""Prices of node hours and jobs. Pure; a price that is not known is None, never a guess."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from landbridge import hostlist
from landbridge.catalog import onprem_costs
from landbridge.environment import Environment, PoolSettings
from landbridge.plan.cost.owned_inputs import OwnedGroup, owned_groups
from landbridge.plan.cost.owned_node import onprem_node_hour
from landbridge.plan.instances.capacity import terms
from landbridge.plan.instances.rates import known_rate, purchase_words
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes, pool_node_names


@dataclass(frozen=True, slots=True)
class Rate:
    """Price of one node for one hour, in USD, and its basis in words."""

    usd: float | None
    basis: str


@dataclass(frozen=True, slots=True)
class JobCostLine:
    """Part of a job's cost in USD: the GPUs that it used, or the idle rest of its nodes."""

    description: str
    usd: float
    idle: bool = False


@dataclass(frozen=True, slots=True)
class JobCost:
    """Cost of a job's whole nodes; `usd` is None when the price of one of its nodes is not known.

    The sum of `lines` is `usd`: the share of the GPUs that the job used, and a line for the GPUs of its nodes that no job
    used beside it. There are none without a price.
    """

    usd: float | None
    basis: str
    lines: tuple[JobCostLine, ...] = ()

    @property
    def idle_usd(self) -> float:
        """Cost of the idle GPUs."""
        return sum(line.usd for line in self.lines if line.idle)


def node_hour_usd(environment: Environment, node: str) -> Rate:
    """Return the rate of a node by its Slurm name; without a price for an unknown node."""
    for group in owned_groups(environment):
        if node in hostlist.expand(group.hosts):
            return _onprem_rate(group)
    for pool in environment.aws.pools:
        if node in pool_node_names(pool):
            return _pool_rate(pool, environment)
    return Rate(None, f"{node} is not a node of {environment.name}")


def job_cost(
    environment: Environment, nodes: Iterable[str] | str, seconds: float, gpus: Mapping[str, int] | None = None
) -> JobCost:
    """Return the cost of `nodes` (names, or a host list) for `seconds`. Whole nodes are counted, as AWS bills them.

    `gpus` has the number of GPUs that the job had on a node, for nodes that it did not have as a whole: the others are a
    line of their own, as idle. A caller that prices the other jobs of a node too must leave that line out.
    """
    names = hostlist.expand(nodes) if isinstance(nodes, str) else list(nodes)
    rates = [node_hour_usd(environment, name) for name in names]
    known_rates = [rate.usd for rate in rates if rate.usd is not None]
    basis = "; ".join(dict.fromkeys(rate.basis for rate in rates))
    if len(known_rates) != len(rates):
        return JobCost(None, basis)
    usd = dict(zip(names, (rate * seconds / 3600 for rate in known_rates), strict=True))
    return JobCost(sum(known_rates) * seconds / 3600, basis, _lines(environment, usd, gpus or {}))


def _lines(environment: Environment, usd: Mapping[str, float], gpus: Mapping[str, int]) -> tuple[JobCostLine, ...]:
    """Return the share of the used GPUs, and of the idle ones if there are any; `usd` is the cost by node."""
    counts = {
        name: group.gpu_count
        for group in (*onprem_nodes(environment), *cloud_nodes(environment))
        for name in group.names
        if name in usd
    }
    # A node without GPUs is used as a whole.
    used = {name: min(max(gpus.get(name, counts[name]), 0), counts[name]) for name in usd}
    shares = {name: used[name] / counts[name] if counts[name] else 1.0 for name in usd}
    all_gpus, used_gpus = sum(counts.values()), sum(used.values())
    idle_usd = sum(usd[name] * (1 - share) for name, share in shares.items())
    used_usd = sum(usd[name] * share for name, share in shares.items())
    lines = [JobCostLine(f"{used_gpus} of {all_gpus} GPUs", used_usd)] if usd else []
    idle = [JobCostLine(f"{all_gpus - used_gpus} idle GPUs", idle_usd, idle=True)] if used_gpus < all_gpus else []
    return (*lines, *idle)


def _onprem_rate(group: OwnedGroup) -> Rate:
    """Return the cost of an hour of an owned node with jobs."""
    if group.inputs is None:
        return Rate(None, f"no price known for {group.platform}: {group.missing}")
    usd = onprem_node_hour(group.inputs).usd
    return Rate(usd, f"owned {group.platform} at ${usd:,.2f} a node-hour, prices of {onprem_costs().date}")


def _pool_rate(pool: PoolSettings, environment: Environment) -> Rate:
    """Return the rate of the pool's first capacity; reservations cost as much as on-demand, used or not."""
    first = terms(pool, pool.capacity[0])
    if first.market.kind == "spot":
        return Rate(None, f"{first.instance} as spot: its price is known at launch only")
    rate, purchase = known_rate(first, environment), purchase_words(first.kind)
    if rate is None:
        return Rate(None, f"no {purchase} price known for {first.instance} in {environment.region}")
    dated = f"prices of {rate.as_of}" if rate.as_of is not None else rate.source
    return Rate(rate.high, f"{first.instance} {purchase} at ${rate.high:,.2f} an hour, {dated}")
