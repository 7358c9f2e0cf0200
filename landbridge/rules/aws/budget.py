"""Rules about what AWS may cost: budgets that mean something beside what is billed anyway."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.cost import Spend, spend
from landbridge.rules.environment_cache import cached, with_known_types
from landbridge.rules.environment_paths import POOL_SIZES, REGION, SHARES, usd
from landbridge.rules.registry import rule

_MONTHLY: DataPath = ("budget", "monthly_usd")
_ACCOUNTS: DataPath = ("budget", "accounts")
_COSTS: tuple[DataPath, ...] = (
    *POOL_SIZES,
    ("aws", "pools", "*", "min_nodes"),
    *(("aws", key) for key in ("nat", "vpc", "vpc_endpoints", "endpoints", "kubernetes")),
    *SHARES,
    ("link",),
    REGION,
)


@cached
def _spend(environment: Environment) -> Spend:
    return spend(with_known_types(environment))


@rule
def budget_sum(environment: Environment) -> Iterator[Finding]:
    """Accounts may not spend more together than the whole budget; a warning, for few spend all.

    Source: Landbridge: the whole budget only alarms, the accounts' stop launches.
    """
    total, whole = sum(b.monthly_usd for b in environment.budget.accounts.values()), environment.budget.monthly_usd
    if whole is not None and total > whole:
        message = f"the accounts' budgets are {total:,.0f} USD a month together, the whole budget is {whole:,.0f}"
        yield warning(_MONTHLY, message, related=((*_ACCOUNTS, "*", "monthly_usd"),))


@rule(public_aws=True)
def budget_below_fixed_costs(environment: Environment) -> Iterator[Finding]:
    """A month's budget is more than what is billed whatever runs: gateways, endpoints, file systems, kept nodes.

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
            f"{usd(fixed)} a month are billed with no job running (prices as of {planned.as_of}), "
            f"{usd(largest.fixed_month)} of it for {largest.what}; the budget is {usd(whole)}"
        )
        yield error(_MONTHLY, message, fix="raise it, or keep less", related=_COSTS)


@rule(public_aws=True)
def budget_below_hourly_cost(environment: Environment) -> Iterator[Finding]:
    """One hour with every pool whole does not cost more than the month's budget: the alarm would come after the money.

    Source: the prices and their dates in landbridge/catalog/prices.yaml.
    """
    whole = environment.budget.monthly_usd
    if whole is None:
        return
    planned = _spend(environment)
    hour = sum(line.usd_hour for line in planned.lines if line.pool is not None)
    if hour > whole > 0:
        message = f"one hour of every node costs {usd(hour)} (prices as of {planned.as_of}); the month's budget is {usd(whole)}"
        yield warning(_MONTHLY, message, related=_COSTS)


@rule(public_aws=True)
def budget_below_block(environment: Environment) -> Iterator[Finding]:
    """A Capacity Block's bill, which comes at once, is inside the month's budget.

    Source: EC2 User Guide, "Capacity Blocks pricing and billing"; prices as dated in landbridge/catalog/prices.yaml.
    """
    whole = environment.budget.monthly_usd
    if whole is None:
        return
    names = [pool.name for pool in environment.aws.pools]
    for line in _spend(environment).lines:
        if line.usd_whole is not None and line.usd_whole > whole and line.pool in names:
            message = f"{line.what}: {usd(line.usd_whole)} at once (price of {line.as_of}); the month's budget is {usd(whole)}"
            related: tuple[DataPath, ...] = (("aws", "pools", names.index(line.pool)), REGION)
            yield warning(_MONTHLY, message, related=related)


@rule
def zero_budget(environment: Environment) -> Iterator[Finding]:
    """A budget of 0 is meant: hard, it stops every job of its account in AWS; of the whole, it alarms at once.

    Source: Landbridge: what is spent reaches a hard budget of 0 before the first launch.
    """
    has_pools = bool(environment.aws.pools)
    for name, own in environment.budget.accounts.items():
        if own.monthly_usd == 0 and own.hard and has_pools:
            message = f"with a hard budget of 0, no job of {name} ever starts in AWS"
            fix = "give it a data_class that stays on-prem, or a budget"
            path: DataPath = (*_ACCOUNTS, name, "monthly_usd")
            related: tuple[DataPath, ...] = ((*_ACCOUNTS, name, "hard"),)
            yield warning(path, message, fix=fix, related=related)
    if environment.budget.monthly_usd == 0 and has_pools:
        message = "with a budget of 0 every cent is an alarm"
        yield warning(_MONTHLY, message, fix="leave it away for no alarm")
