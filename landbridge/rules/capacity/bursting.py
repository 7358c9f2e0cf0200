"""Rules about bursting: accounts, waiting times and budgets."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.environment import Environment, Partition
from landbridge.findings import DataPath, Finding, did_you_mean, error, info, warning
from landbridge.plan.instances.capacity import boot_seconds, fallbacks
from landbridge.plan.instances.rates import worst_rate
from landbridge.plan.slurm.jobs.promotions import promotions
from landbridge.plan.slurm.nodes import pool_node_names
from landbridge.plan.slurm.partitions import MAIN, default_partition, seconds
from landbridge.rules.capacity.blocks import blocks, length
from landbridge.rules.environment_cache import with_known_types
from landbridge.rules.environment_paths import POOLS, CapacityAt, capacities, usd
from landbridge.rules.registry import rule

_WAIT: DataPath = ("burst", "wait_minutes")
_BUDGET: DataPath = ("budget",)
_PARTITIONS: DataPath = ("scheduler", "partitions")
#: Keys of a partition that can prevent released jobs from starting in it.
_CLOSING = ("state", "rootonly", "allowgroups", "allowqos", "allowaccounts", "denyaccounts", "denyqos", "alternate")


@rule
def burst_without_accounts(environment: Environment) -> Iterator[Finding]:
    """At least one account has data that may be in AWS: instances are launched only for jobs of such accounts.

    Jobs without an account, or of an account that is not in the file, are rejected.
    Source: design, decision 6: restricted classes are denied in layers; docs/explanation/bursting.md.
    """
    classes = environment.data_classes
    accounts = environment.scheduler.accounts
    is_bursting_possible = any(
        account.data_class in classes and "aws" in classes[account.data_class].sites for account in accounts.values()
    )
    if environment.aws.pools and not is_bursting_possible:
        message = "no account has a data class that may be in AWS, so no job ever starts in a pool"
        fix = "add accounts with a data_class that may be in AWS"
        path: DataPath = ("scheduler", "accounts")
        related: tuple[DataPath, ...] = (POOLS, ("data_classes", "*", "sites"))
        yield warning(path, message, fix=fix, related=related)


@rule
def burst_wait(environment: Environment) -> Iterator[Finding]:
    """wait_minutes is written only with on-prem nodes and with pools that have the same accelerators.

    Source: Landbridge: jobs of the partition gpu wait for the site's nodes.
    """
    if environment.burst.wait_minutes is None:
        return
    related: tuple[DataPath, ...] = (("onprem", "nodes"), (*POOLS, "*", "instance"))
    if not environment.node_groups:
        fix = "remove it: jobs start in AWS at once"
        yield error(
            _WAIT, "wait_minutes is written, and there are no on-prem nodes to wait for", fix=fix, related=related
        )
    elif not promotions(environment):
        message = "no pool has the site's accelerators, so waiting jobs are never released to AWS"
        yield error(_WAIT, message, fix="remove it, or add a pool", related=related)


@rule
def burst_wait_bypassed(environment: Environment) -> Iterator[Finding]:
    """The default partition has no nodes in AWS while wait_minutes is written.

    Source: slurm.conf(5), PartitionName: a job takes any free node of its partition, Weight only orders them.
    """
    if environment.burst.wait_minutes is None:
        return
    for name in dict.fromkeys((MAIN, default_partition(environment))):
        partition = environment.scheduler.partitions.get(name)
        for index, token in enumerate(partition.nodes if partition is not None else ()):
            if _in_aws(environment, token):
                message = f"jobs of {name} take nodes of {token} at once, so wait_minutes has no effect"
                path: DataPath = (*_PARTITIONS, name, "nodes", index)
                fix = "write on-prem nodes only: the burst controller adds the pools' partitions to waiting jobs"
                yield warning(path, message, fix=fix, related=(_WAIT,))


@rule
def burst_partition_closed(environment: Environment) -> Iterator[Finding]:
    """A partition to which waiting jobs are released accepts the jobs of their first partition.

    A job that exceeds the partition's limits, or whose account is not allowed, stays pending.
    Source: slurm.conf(5), MaxTime, State, RootOnly, AllowAccounts, AllowGroups and AllowQos.
    """
    partitions = environment.scheduler.partitions
    for promotion in promotions(environment):
        first = partitions.get(promotion.partition, Partition())
        for name in promotion.partitions:
            settings, base = partitions.get(name, Partition()), (*_PARTITIONS, name)
            if seconds(settings.max_time) < seconds(first.max_time):
                message = (
                    f"max_time of {name} is {settings.max_time}: longer jobs of {promotion.partition} never start there"
                )
                fix = "write the same max_time for both partitions"
                path: DataPath = (*base, "max_time") if "max_time" in settings.model_fields_set else base
                at_first: DataPath = (*_PARTITIONS, promotion.partition)
                related = (_WAIT, at_first)
                yield warning(path, message, fix=fix, related=related)
            for key in settings.settings:
                if key.casefold() in _CLOSING:
                    message = f"{key} of {name} may reject jobs that are released to it from {promotion.partition}"
                    at: DataPath = (*base, "settings", key)
                    yield warning(at, message, fix="remove it", related=(_WAIT,))


@rule
def budget_unknown_pool(environment: Environment) -> Iterator[Finding]:
    """Every pool of `budget.pools` is a pool of the file.

    Source: Landbridge, budget.pools.
    """
    pool_names = [pool.name for pool in environment.aws.pools]
    for name in environment.budget.pools:
        if name not in pool_names:
            near = did_you_mean(name, pool_names)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(pool_names) or 'none'}"
            path: DataPath = (*_BUDGET, "pools", name)
            yield error(path, f'there is no pool "{name}"', fix=fix, related=((*POOLS, "*", "name"),))


@rule
def hard_budget_without_price(environment: Environment) -> Iterator[Finding]:
    """Every capacity under a hard budget has a price: without one, no instance is launched.

    Without a price, the cost of a launch cannot be compared with the budget.
    Source: the prices and their dates in landbridge/catalog/prices.yaml.
    """
    hard = _hard_budgets(environment)
    if not hard or environment.burst.unpriced:
        return
    for at in capacities(with_known_types(environment)):
        terms = fallbacks(at.pool, environment.region)[at.number]
        if worst_rate(terms, environment) is None:
            message = f"{at.instance} ({terms.kind}) has no known price, so the hard budget allows no launch"
            fix = f"write burst: {{prices: {{{at.instance}: …}}}}, or unpriced: true to launch it without counting"
            related = (hard[0][1], ("burst",), at.instance_path)
            yield warning(at.path, message, fix=fix, related=related)


@rule(public_aws=True)
def budget_below_one_job(environment: Environment) -> Iterator[Finding]:
    """A hard budget covers one node for one hour and its boot.

    The highest cost of a job is held before its nodes are launched; a job that exceeds the budget is not started.
    Source: the prices and their dates in landbridge/catalog/prices.yaml; docs/explanation/bursting.md.
    """
    costs = list(_hourly_costs(environment))
    for amount, path, pool in _hard_budgets(environment):
        pool_costs = [cost for cost, at in costs if pool in (None, at.pool.name)]
        if amount > 0 and pool_costs and min(pool_costs) > amount:
            message = f"one node for one hour costs {usd(min(pool_costs))} with its boot, more than the budget of {usd(amount)}"
            yield warning(path, message, fix="raise the budget", related=(POOLS,))


@rule
def block_shorter_than_jobs(environment: Environment) -> Iterator[Finding]:
    """The max_time of a partition is shorter than its Capacity Block: a longer job never starts in it.

    The last 30 minutes of a block are reserved: Slurm starts only jobs that end before them.
    Source: EC2 User Guide, "Work with Capacity Blocks"; slurm.schedmd.com/reservations.html.
    """
    for at, block in blocks(environment):
        window = length(block)
        partition = environment.scheduler.partitions.get(at.pool.name, Partition())
        max_seconds = seconds(partition.max_time)
        if window is not None and window.total_seconds() <= max_seconds:
            days = window.total_seconds() / 86_400
            message = (
                f"the block is {days:.0f} days long: a job of {at.pool.name} with the full max_time never starts in it"
            )
            fix = "submit jobs with a shorter sbatch --time"
            yield info(at.at("ends"), message, fix=fix, related=(at.at("starts"),))


def _hard_budgets(environment: Environment) -> list[tuple[float, DataPath, str | None]]:
    """Return the amount, path and pool (None: all) of each budget that stops launches."""
    budget = environment.budget
    hard_limits: list[tuple[float, DataPath, str | None]] = []
    if budget.hard and budget.monthly_usd is not None:
        hard_limits.append((budget.monthly_usd, (*_BUDGET, "monthly_usd"), None))
    for name, account in budget.accounts.items():
        if account.hard:
            hard_limits.append((account.monthly_usd, (*_BUDGET, "accounts", name, "monthly_usd"), None))
    return [*hard_limits, *((usd, (*_BUDGET, "pools", name), name) for name, usd in budget.pools.items())]


def _hourly_costs(environment: Environment) -> Iterator[tuple[float, CapacityAt]]:
    """Yield the cost of one node for one hour and its boot, for each capacity with a price."""
    for at in capacities(with_known_types(environment)):
        rate = worst_rate(fallbacks(at.pool, environment.region)[at.number], environment)
        if rate is not None:
            yield rate * (1 + boot_seconds(at.pool) / 3600), at


def _in_aws(environment: Environment, token: str) -> bool:
    """Return true if an entry of a partition's nodes contains nodes of a pool."""
    pools = {pool.name: pool for pool in environment.aws.pools}
    if token in ("aws", MAIN) or token in pools:
        return bool(pools)
    pool_nodes = {name for pool in pools.values() for name in pool_node_names(pool)}
    return not pool_nodes.isdisjoint(hostlist.expand(token))
