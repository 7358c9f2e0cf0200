"""Rules about the budget of AWS: amounts compared with the fixed costs, the hourly cost and the price of Capacity
Blocks.
"""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.environment.cached import cached
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.cost import Spend, aws_spend
from landbridge.rules.environment_cache import with_known_types
from landbridge.rules.environment_paths import POOL_SIZES, REGION, SHARES, usd
from landbridge.rules.registry import rule

_MONTHLY: DataPath = ("budget", "monthly_usd")
_ACCOUNTS: DataPath = ("budget", "accounts")
_COSTS: tuple[DataPath, ...] = (
    *POOL_SIZES,
    ("aws", "pools", "*", "min_nodes"),
    *(("aws", key) for key in ("nat", "vpc", "vpc_endpoints", "endpoints")),
    *SHARES,
    ("link",),
    ("burst", "prices"),
    REGION,
)


@cached
def _spend(environment: Environment) -> Spend:
    return aws_spend(with_known_types(environment))


@rule
def budget_sum(environment: Environment) -> Iterator[Finding]:
    """The sum of the accounts' budgets is at most the whole budget; a warning, because few accounts spend all of theirs.

    Source: Landbridge: the whole budget sends alarms, the accounts' budgets stop launches.
    """
    total, whole = sum(b.monthly_usd for b in environment.budget.accounts.values()), environment.budget.monthly_usd
    if whole is not None and total > whole:
        message = (
            f"the accounts' budgets add up to {total:,.0f} USD a month, more than the whole budget of {whole:,.0f}"
        )
        yield warning(_MONTHLY, message, related=((*_ACCOUNTS, "*", "monthly_usd"),))


@rule(public_aws=True)
def budget_below_fixed_costs(environment: Environment) -> Iterator[Finding]:
    """The monthly budget is higher than the fixed costs: gateways, endpoints, file systems and nodes of min_nodes.

    Source: the prices and their dates in landbridge/catalog/prices.yaml; `landbridge cost` lists the lines.
    """
    whole = environment.budget.monthly_usd
    if whole is None:
        return
    planned = _spend(environment)
    fixed = sum(line.fixed_month for line in planned.lines)
    if fixed > whole:
        largest = max(planned.lines, key=lambda line: line.fixed_month)
        message = (
            f"the fixed costs are {usd(fixed)} a month (prices as of {planned.as_of}), "
            f"{usd(largest.fixed_month)} of it for {largest.description}: more than the budget of {usd(whole)}"
        )
        yield error(_MONTHLY, message, fix="raise the budget, or remove fixed costs", related=_COSTS)


@rule(public_aws=True)
def budget_below_hourly_cost(environment: Environment) -> Iterator[Finding]:
    """One hour of all pools at max_nodes costs at most the monthly budget: otherwise the alarm comes after the money is spent.

    Source: the prices and their dates in landbridge/catalog/prices.yaml.
    """
    whole = environment.budget.monthly_usd
    if whole is None:
        return
    planned = _spend(environment)
    hour = sum(line.usd_hour for line in planned.lines if line.pool is not None)
    if hour > whole > 0:
        message = f"one hour of all pools at max_nodes costs {usd(hour)} (prices as of {planned.as_of}), more than the monthly budget of {usd(whole)}"
        yield warning(_MONTHLY, message, related=_COSTS)


@rule(public_aws=True)
def budget_below_block(environment: Environment) -> Iterator[Finding]:
    """The price of a Capacity Block, which is billed in advance, is at most the monthly budget.

    Source: EC2 User Guide, "Capacity Blocks pricing and billing"; prices as dated in landbridge/catalog/prices.yaml.
    """
    whole = environment.budget.monthly_usd
    if whole is None:
        return
    names = [pool.name for pool in environment.aws.pools]
    for line in _spend(environment).lines:
        if line.usd_whole is not None and line.usd_whole > whole and line.pool in names:
            message = f"{line.description} is billed in advance with {usd(line.usd_whole)} (price of {line.as_of or 'the environment file'}), more than the monthly budget of {usd(whole)}"
            related: tuple[DataPath, ...] = (("aws", "pools", names.index(line.pool)), REGION, ("burst", "prices"))
            yield warning(_MONTHLY, message, related=related)


@rule
def zero_budget(environment: Environment) -> Iterator[Finding]:
    """A budget is higher than 0: a hard budget of 0 stops every job of its account in AWS, a whole budget of 0 alarms at once.

    Source: Landbridge: the spent amount reaches a hard budget of 0 before the first launch.
    """
    has_pools = bool(environment.aws.pools)
    for name, account in environment.budget.accounts.items():
        if account.monthly_usd == 0 and account.hard and has_pools:
            message = f"the hard budget of {name} is 0: no job of the account ever starts in AWS"
            fix = "raise the budget, or give the account a data_class that stays on-prem"
            path: DataPath = (*_ACCOUNTS, name, "monthly_usd")
            related: tuple[DataPath, ...] = ((*_ACCOUNTS, name, "hard"),)
            yield warning(path, message, fix=fix, related=related)
    if environment.budget.monthly_usd == 0 and has_pools:
        message = "the budget is 0: every cent sends an alarm"
        yield warning(_MONTHLY, message, fix="remove it for no alarm")
