"""Rules about bursting: who may, when, and for how much."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.environment import Environment, Partition
from landbridge.findings import DataPath, Finding, did_you_mean, error, info, warning
from landbridge.plan.ansible.burst import boot_seconds
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.instances.rates import worst_rate
from landbridge.plan.slurm.nodes import pool_node_names
from landbridge.plan.slurm.partitions import MAIN, default_partition, seconds
from landbridge.plan.slurm.promotions import promotions
from landbridge.rules.capacity.blocks import blocks, length
from landbridge.rules.environment_cache import with_known_types
from landbridge.rules.environment_paths import POOLS, CapacityAt, capacities, usd
from landbridge.rules.registry import rule

_WAIT: DataPath = ("burst", "wait_minutes")
_BUDGET: DataPath = ("budget",)
_PARTITIONS: DataPath = ("scheduler", "partitions")
#: Keys of a queue with which jobs that are let on would stand there and not start.
_CLOSING = ("state", "rootonly", "allowgroups", "allowqos", "allowaccounts", "denyaccounts", "denyqos", "alternate")


@rule
def burst_without_accounts(environment: Environment) -> Iterator[Finding]:
    """Some account's data may be in AWS: an instance is launched for a job of a known account alone.

    What is not known to be allowed is denied: a job without an account, or of one that the file does not have, is sent back.
    Source: design, decision 6: restricted classes are denied in layers; docs/explanation/bursting.md.
    """
    classes = environment.data_classes
    accounts = environment.scheduler.accounts
    may = any(one.data_class in classes and "aws" in classes[one.data_class].sites for one in accounts.values())
    if environment.aws.pools and not may:
        message = "no account has data that may be in AWS, so no job ever starts in a pool"
        fix = "name accounts, each with the class of its data"
        path: DataPath = ("scheduler", "accounts")
        related: tuple[DataPath, ...] = (POOLS, ("data_classes", "*", "sites"))
        yield warning(path, message, fix=fix, related=related)


@rule
def burst_wait(environment: Environment) -> Iterator[Finding]:
    """Jobs that wait on-prem first have nodes there to wait for, and pools with such accelerators to go to afterwards.

    Source: Landbridge: what waits is the queue gpu, and it waits for the site's nodes.
    """
    if environment.burst.wait_minutes is None:
        return
    related: tuple[DataPath, ...] = (("onprem", "nodes"), (*POOLS, "*", "instance"))
    if not environment.node_groups:
        fix = "remove it: jobs start in AWS at once"
        yield error(_WAIT, "there are no on-prem nodes to wait for", fix=fix, related=related)
    elif not promotions(environment):
        message = "no pool has accelerators like the site's, so who waits is let on nowhere"
        yield error(_WAIT, message, fix="remove it, or add a pool", related=related)


@rule
def burst_wait_bypassed(environment: Environment) -> Iterator[Finding]:
    """Where jobs are to wait on-prem first, the queue that they go to unasked has no nodes in AWS.

    Source: slurm.conf(5), PartitionName: a job takes any node of its queue that is free, Weight only orders them.
    """
    if environment.burst.wait_minutes is None:
        return
    for name in dict.fromkeys((MAIN, default_partition(environment))):
        partition = environment.scheduler.partitions.get(name)
        for index, token in enumerate(partition.nodes if partition is not None else ()):
            if _in_aws(environment, token):
                message = f"jobs of {name} take nodes of {token} at once, and wait for nothing"
                path: DataPath = (*_PARTITIONS, name, "nodes", index)
                fix = "name on-prem nodes alone: the controller lets jobs on into the pools' own queues"
                yield warning(path, message, fix=fix, related=(_WAIT,))


@rule
def burst_partition_closed(environment: Environment) -> Iterator[Finding]:
    """A queue that waiting jobs are let on into takes the jobs of the one that they come from.

    A job that may run for longer than the other queue allows, or whose account it does not let in, waits there for ever.
    Source: slurm.conf(5), MaxTime, State, RootOnly, AllowAccounts, AllowGroups and AllowQos.
    """
    queues = environment.scheduler.partitions
    for promotion in promotions(environment):
        first = queues.get(promotion.partition, Partition())
        for name in promotion.partitions:
            own, base = queues.get(name, Partition()), (*_PARTITIONS, name)
            if seconds(own.max_time) < seconds(first.max_time):
                message = (
                    f"{name} ends jobs after {own.max_time}; longer ones of {promotion.partition} never start there"
                )
                fix = "give both queues one max_time"
                path: DataPath = (*base, "max_time") if "max_time" in own.model_fields_set else base
                at_first: DataPath = (*_PARTITIONS, promotion.partition)
                related = (_WAIT, at_first)
                yield warning(path, message, fix=fix, related=related)
            for key in own.settings:
                if key.casefold() in _CLOSING:
                    message = f"{key} of {name} may turn away jobs of {promotion.partition} that are let on into it"
                    at: DataPath = (*base, "settings", key)
                    yield warning(at, message, fix="remove it", related=(_WAIT,))


@rule
def budget_unknown_pool(environment: Environment) -> Iterator[Finding]:
    """A pool's budget is of a pool that there is: of another it limits nothing.

    Source: Landbridge, budget.pools.
    """
    known = [pool.name for pool in environment.aws.pools]
    for name in environment.budget.pools:
        if name not in known:
            near = did_you_mean(name, known)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(known) or 'none'}"
            path: DataPath = (*_BUDGET, "pools", name)
            yield error(path, f'there is no pool "{name}"', fix=fix, related=((*POOLS, "*", "name"),))


@rule
def hard_budget_without_price(environment: Environment) -> Iterator[Finding]:
    """Where a hard budget holds, every capacity has a price that is known: without one, nothing is launched in it.

    Nobody can say that a launch stays inside a budget when nobody knows what it costs.
    Source: the prices and their dates in landbridge/catalog/prices.yaml.
    """
    hard = _hard(environment)
    if not hard or environment.burst.unpriced:
        return
    for at in capacities(with_known_types(environment)):
        terms = fallbacks(at.pool, environment.region)[at.number]
        if worst_rate(terms, environment) is None:
            message = (
                f"no price of {at.instance} ({terms.kind}) is known here, so a hard budget lets nothing start in it"
            )
            fix = f"say what you pay: burst: {{prices: {{{at.instance}: …}}}}; with unpriced: true it starts uncounted"
            related = (hard[0][1], ("burst",), at.instance_path)
            yield warning(at.path, message, fix=fix, related=related)


@rule(public_aws=True)
def budget_below_one_job(environment: Environment) -> Iterator[Finding]:
    """A hard budget has room for the shortest useful job: one node for an hour, and its boot.

    What a job may cost at worst is held before its nodes are launched; what does not fit is not started.
    Source: the prices and their dates in landbridge/catalog/prices.yaml; docs/explanation/bursting.md.
    """
    costs = list(_an_hour(environment))
    for amount, path, pool in _hard(environment):
        fitting = [cost for cost, at in costs if pool in (None, at.pool.name)]
        if amount > 0 and fitting and min(fitting) > amount:
            message = f"one node for an hour and its boot costs {usd(min(fitting))}, more than the whole budget"
            yield warning(path, message, related=(POOLS,))


@rule
def block_shorter_than_jobs(environment: Environment) -> Iterator[Finding]:
    """A job starts in a Capacity Block only if its time limit ends before the block: with the queue's longest, never.

    The last half hour of a block is kept free, and so is everything after it: Slurm starts there what is over by then.
    Source: EC2 User Guide, "Work with Capacity Blocks"; slurm.schedmd.com/reservations.html.
    """
    for at, block in blocks(environment):
        span = length(block)
        queue = environment.scheduler.partitions.get(at.pool.name, Partition())
        longest = seconds(queue.max_time)
        if span is not None and span.total_seconds() <= longest:
            days = span.total_seconds() / 86_400
            message = f"the block is {days:.0f} days long; a job of {at.pool.name} that asks for its longest time never starts in it"
            fix = "ask for what a job needs: sbatch --time"
            yield info(at.at("ends"), message, fix=fix, related=(at.at("starts"),))


def _hard(environment: Environment) -> list[tuple[float, DataPath, str | None]]:
    """Every budget that stops launches: how much, where it is written, and of which pool alone."""
    budget = environment.budget
    found: list[tuple[float, DataPath, str | None]] = []
    if budget.hard and budget.monthly_usd is not None:
        found.append((budget.monthly_usd, (*_BUDGET, "monthly_usd"), None))
    for name, own in budget.accounts.items():
        if own.hard:
            found.append((own.monthly_usd, (*_BUDGET, "accounts", name, "monthly_usd"), None))
    return [*found, *((usd, (*_BUDGET, "pools", name), name) for name, usd in budget.pools.items())]


def _an_hour(environment: Environment) -> Iterator[tuple[float, CapacityAt]]:
    """What a node costs for an hour's job, by capacity, where that is known."""
    for at in capacities(with_known_types(environment)):
        rate = worst_rate(fallbacks(at.pool, environment.region)[at.number], environment)
        if rate is not None:
            yield rate * (1 + boot_seconds(at.pool) / 3600), at


def _in_aws(environment: Environment, token: str) -> bool:
    """Whether a word of a queue's nodes names nodes of a pool."""
    pools = {pool.name: pool for pool in environment.aws.pools}
    if token in ("aws", MAIN) or token in pools:
        return bool(pools)
    ours = {name for pool in pools.values() for name in pool_node_names(pool)}
    return not ours.isdisjoint(hostlist.expand(token))
