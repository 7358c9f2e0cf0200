"""Hard budgets as GrpTRESMins limits: GPU minutes of partitions in AWS.

A second limit: the burst controller's ledger counts dollars by account and refuses launches; if it does not run or has
an error, Slurm still starts no job above this limit. The limits belong to a QOS of partitions with AWS nodes only: a
limit of an account would count on-prem GPUs too. Source: sacctmgr(1), GrpTRESMins and Flags (NoDecay); slurm.conf(5),
QOS of a partition and AccountingStorageEnforce=safe.
"""

import math
from collections.abc import Sequence

from landbridge.catalog import instances
from landbridge.environment import Environment, PoolSettings
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.instances.rates import worst_rate
from landbridge.plan.slurm.nodes import Nodes, pool_node_names

#: QOS of all partitions in AWS together; a pool with a separate budget has a separate QOS.
EVERYWHERE = "landbridge-aws"


def gpu_minute_limits(environment: Environment) -> dict[str, int]:
    """Return GPU minutes per month by QOS; empty without a hard budget for all accounts, or without known prices."""
    limits: dict[str, int] = {}
    price_by_pool = {pool.name: _gpu_minute(environment, pool) for pool in environment.aws.pools}
    known_prices = {name: price for name, price in price_by_pool.items() if price is not None}
    # The QOS of a Slurm that runs already are its site's.
    if not environment.scheduler.accounts or not known_prices or environment.existing_slurm is not None:
        return limits
    total_usd = _whole_budget(environment)
    if total_usd is not None:
        # By the highest price: the cost never exceeds the budget, but cheaper capacity gets fewer minutes than it could
        # have.
        limits[EVERYWHERE] = math.floor(total_usd / max(known_prices.values()))
    for name, usd in environment.budget.pools.items():
        if name in known_prices:
            pool_usd = usd if total_usd is None else min(usd, total_usd)
            limits[_pool_qos(name)] = math.floor(pool_usd / known_prices[name])
    return limits


def partition_qos(environment: Environment, members: Sequence[str], nodes: Sequence[Nodes]) -> str | None:
    """Return the QOS of a partition of these nodes; None if it has an on-prem node, or nothing is limited."""
    caps = gpu_minute_limits(environment)
    if not caps or any(group.site != "aws" for group in nodes if not set(group.names).isdisjoint(members)):
        return None
    for pool in environment.aws.pools:
        if _pool_qos(pool.name) in caps and set(members) <= set(pool_node_names(pool)):
            return _pool_qos(pool.name)
    return EVERYWHERE if EVERYWHERE in caps else None


def _whole_budget(environment: Environment) -> float | None:
    """Return the total limit of spend: the hard budget, or the sum of the accounts' budgets if all are hard."""
    budget, classes = environment.budget, environment.data_classes
    limits_usd = [budget.monthly_usd] if budget.hard and budget.monthly_usd is not None else []
    aws_accounts = [
        name
        for name, account in environment.scheduler.accounts.items()
        if account.data_class in classes and "aws" in classes[account.data_class].sites
    ]
    if aws_accounts and all(name in budget.accounts and budget.accounts[name].hard for name in aws_accounts):
        limits_usd.append(sum(budget.accounts[name].monthly_usd for name in aws_accounts))
    return min(limits_usd, default=None)


def _gpu_minute(environment: Environment, pool: PoolSettings) -> float | None:
    """Return the highest cost of a minute of a pool's GPU; None without GPUs, or with an unknown price."""
    kind = instances().get(pool.instance)
    if kind is None or kind.accelerators is None or kind.accelerators.kind != "gpu":
        return None
    rates = [worst_rate(terms, environment) for terms in fallbacks(pool, environment.region)]
    if not rates or any(rate is None for rate in rates):
        return None
    return max(rate for rate in rates if rate is not None) / kind.accelerators.count / 60


def _pool_qos(pool: str) -> str:
    return f"landbridge-{pool}"
