"""Slurm's queues: `gpu` over both sites, `onprem`, one for each pool, and the site's own."""

import math
from collections.abc import Sequence

from landbridge import hostlist
from landbridge.environment import Environment, Partition
from landbridge.environment.base import SITES, Scalar, Site
from landbridge.plan.nodes import Nodes
from landbridge.plan.settings import merged, written

MAIN, ONPREM = "gpu", "onprem"
# Slurm's administrators keep an account of their own; it is never a user's.
OPERATORS = "root"


def partition_names(environment: Environment) -> tuple[str, ...]:
    """Every queue, the default one first."""
    built_in = [MAIN, *([ONPREM] if environment.onprem.nodes else []), *(pool.name for pool in environment.aws.pools)]
    return tuple(dict.fromkeys([*built_in, *environment.scheduler.partitions]))


def partition_lines(environment: Environment, nodes: Sequence[Nodes]) -> list[str]:
    """The PartitionName lines."""
    own = environment.scheduler.partitions
    default = next((name for name, partition in own.items() if partition.default), MAIN)
    lines = []
    for name in partition_names(environment):
        partition = own.get(name, Partition())
        members = [node for token in partition.nodes or (name,) for node in _members(token, nodes)]
        if members:
            lines.append(_line(environment, name, partition, list(dict.fromkeys(members)), nodes, name == default))
    return lines


def allowed_accounts(environment: Environment, sites: frozenset[Site]) -> tuple[str, ...]:
    """The accounts whose data may be at every one of `sites`."""
    classes = environment.data_classes
    return tuple(
        name
        for name, account in environment.scheduler.accounts.items()
        if account.data_class in classes and sites <= frozenset(classes[account.data_class].sites)
    )


def seconds(limit: str) -> float:
    """A time limit as Slurm writes it (`90`, `4:00:00`, `7-00:00:00`), in seconds; unlimited is infinite."""
    if limit in ("INFINITE", "UNLIMITED"):
        return math.inf
    days, dash, rest = limit.rpartition("-")
    parts = [int(part) for part in rest.split(":")]
    if dash:
        parts += [0] * (3 - len(parts))
    elif len(parts) == 1:
        parts = [0, parts[0], 0]
    hours, minutes, left = ([0] * (3 - len(parts))) + parts
    return int(days or 0) * 86_400 + hours * 3600 + minutes * 60 + left


def _line(
    environment: Environment, name: str, partition: Partition, members: list[str], nodes: Sequence[Nodes], default: bool
) -> str:
    groups = [group for group in nodes if not set(group.names).isdisjoint(members)]
    sites: frozenset[Site] = frozenset(site for site in SITES if any(group.site == site for group in groups))
    settings: dict[str, Scalar] = {
        "Nodes": hostlist.compress(members),
        "Default": "YES" if default else "NO",
        "MaxTime": partition.max_time,
        "DefaultTime": partition.max_time if seconds(partition.max_time) < 3600 else "1:00:00",
        **_share_of_a_gpu(groups),
        "OverSubscribe": "NO",
    }
    if environment.scheduler.accounts:
        # Default deny: an account that the environment does not know starts nothing here.
        settings["AllowAccounts"] = ",".join([OPERATORS, *allowed_accounts(environment, sites)])
    settings["State"] = "UP"
    found = merged(settings, partition.settings)
    return " ".join([f"PartitionName={name}", *(f"{key}={written(value)}" for key, value in found.items())])


def _share_of_a_gpu(groups: Sequence[Nodes]) -> dict[str, Scalar]:
    """A GPU brings its share of the smallest node's processors and memory, so that eight jobs of one GPU fit."""
    with_gpus = [group for group in groups if group.gpu_count]
    if not with_gpus:
        return {}
    return {
        "DefCpuPerGPU": min(group.cpus // group.gpu_count for group in with_gpus),
        "DefMemPerGPU": min(group.memory_mib // group.gpu_count for group in with_gpus),
    }


def _members(token: str, nodes: Sequence[Nodes]) -> list[str]:
    """The nodes a word stands for: `gpu` is all, a site's or pool's name its nodes, anything else a host range."""
    if token == MAIN:
        return [name for group in nodes for name in group.names]
    if token in SITES:
        return [name for group in nodes if group.site == token for name in group.names]
    pool = [name for group in nodes if group.switch == f"aws-{token}" for name in group.names]
    known = {name for group in nodes for name in group.names}
    return pool or [name for name in hostlist.expand(token) if name in known]
