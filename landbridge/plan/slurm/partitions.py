"""Slurm's partitions: `gpu` over both sites, `onprem`, `mig` for MIG instances, one for each pool, and the site's own."""

import math
from collections.abc import Iterable, Sequence

from landbridge import hostlist
from landbridge.environment import Environment, Partition
from landbridge.environment.base import SITES, Scalar, Site
from landbridge.plan.slurm.jobs.gpu_minutes import partition_qos
from landbridge.plan.slurm.nodes import Nodes
from landbridge.plan.slurm.setting_overrides import setting_text, with_overrides
from landbridge.plan.slurm.topology import AWS_TREE, queue_topology

MAIN, ONPREM, MIG = "gpu", "onprem", "mig"
# Slurm's default account of administrators; users are not in it.
OPERATORS = "root"


def partition_names(environment: Environment) -> tuple[str, ...]:
    """Return the names of all partitions, the built-in ones first."""
    if environment.existing_slurm is not None:
        # The site's own partitions are in its slurm.conf.
        pools = (pool.name for pool in environment.aws.pools)
        return tuple(dict.fromkeys([*pools, *environment.scheduler.partitions]))
    groups = environment.node_groups
    parts = [MIG] if any(group.mig for group in groups) else []
    built_in = [MAIN, *([ONPREM] if groups else []), *parts, *(pool.name for pool in environment.aws.pools)]
    return tuple(dict.fromkeys([*built_in, *environment.scheduler.partitions]))


def partition_lines(environment: Environment, nodes: Sequence[Nodes]) -> list[str]:
    """Return the PartitionName lines of slurm.conf."""
    configured = environment.scheduler.partitions
    default_name = default_partition(environment)
    lines = []
    for name in partition_names(environment):
        partition = configured.get(name, Partition())
        members = _partition_nodes(environment, name, partition, nodes)
        if members:
            lines.append(_line(environment, name, partition, list(dict.fromkeys(members)), nodes, name == default_name))
    return lines


def partition_sites(environment: Environment, nodes: Sequence[Nodes]) -> dict[str, frozenset[Site]]:
    """Return the sites where a job of each partition may start, including partitions that it is promoted to."""
    sites = {}
    for name in partition_names(environment):
        partition = environment.scheduler.partitions.get(name, Partition())
        members = frozenset(_partition_nodes(environment, name, partition, nodes))
        if members:
            sites[name] = _sites(group for group in nodes if not members.isdisjoint(group.names))
    # Source: slurm.conf(5), Alternate: Slurm uses it while the partition itself accepts no jobs.
    for name, partition in environment.scheduler.partitions.items():
        alternates = [str(value) for key, value in partition.settings.items() if key.casefold() == "alternate"]
        if name in sites:
            sites[name] = sites[name].union(*(sites.get(other, frozenset(SITES)) for other in alternates))
    return sites


def partition_members(environment: Environment, nodes: Sequence[Nodes]) -> dict[str, frozenset[str]]:
    """Return the nodes of each partition that has any, by its name."""
    configured = environment.scheduler.partitions
    members = {
        name: frozenset(_partition_nodes(environment, name, configured.get(name, Partition()), nodes))
        for name in partition_names(environment)
    }
    return {name: names for name, names in members.items() if names}


def default_partition(environment: Environment) -> str:
    """Return the partition of jobs without --partition."""
    return next((name for name, partition in environment.scheduler.partitions.items() if partition.default), MAIN)


def allowed_accounts(environment: Environment, sites: frozenset[Site]) -> tuple[str, ...]:
    """Return the accounts whose data may be at every one of `sites`."""
    classes = environment.data_classes
    return tuple(
        name
        for name, account in environment.scheduler.accounts.items()
        if account.data_class in classes and sites <= frozenset(classes[account.data_class].sites)
    )


def seconds(limit: str) -> float:
    """Return a time limit in Slurm's form (`90`, `4:00:00`, `7-00:00:00`) in seconds; infinite if unlimited."""
    if limit in ("INFINITE", "UNLIMITED"):
        return math.inf
    days, dash, clock = limit.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    if dash:
        parts += [0] * (3 - len(parts))
    elif len(parts) == 1:
        parts = [0, parts[0], 0]
    hours, minutes, leftover_seconds = ([0] * (3 - len(parts))) + parts
    return int(days or 0) * 86_400 + hours * 3600 + minutes * 60 + leftover_seconds


def _line(
    environment: Environment, name: str, partition: Partition, members: list[str], nodes: Sequence[Nodes], default: bool
) -> str:
    groups = [group for group in nodes if not set(group.names).isdisjoint(members)]
    sites, topology = _sites(groups), queue_topology(environment, groups)
    settings: dict[str, Scalar] = {
        "Nodes": hostlist.compress(members),
        "Default": "YES" if default else "NO",
        "MaxTime": partition.max_time,
        "DefaultTime": partition.max_time if seconds(partition.max_time) < 3600 else "1:00:00",
        **_defaults_per_gpu(groups),
        "OverSubscribe": "NO",
        **({"Topology": topology} if topology else {}),
        **_existing_settings(environment, groups),
    }
    if environment.scheduler.accounts:
        # Default deny: accounts that are not in the environment cannot use the partition.
        settings["AllowAccounts"] = ",".join([OPERATORS, *allowed_accounts(environment, sites)])
    qos = partition_qos(environment, members, nodes)
    if qos is not None:
        settings["QOS"] = qos
    settings["State"] = "UP"
    merged = with_overrides(settings, partition.settings)
    return " ".join([f"PartitionName={name}", *(f"{key}={setting_text(value)}" for key, value in merged.items())])


def _defaults_per_gpu(groups: Sequence[Nodes]) -> dict[str, Scalar]:
    """Return the defaults of CPUs and memory per GPU: a GPU's share of the smallest node, so that one job for each GPU
    fits.
    """
    with_gpus = [group for group in groups if group.gpu_count]
    if not with_gpus:
        return {}
    return {
        "DefCpuPerGPU": min(group.cores_per_gpu * group.threads_per_core for group in with_gpus),
        "DefMemPerGPU": min(group.memory_per_gpu for group in with_gpus),
    }


def _existing_settings(environment: Environment, groups: Sequence[Nodes]) -> dict[str, Scalar]:
    """Return the settings of a partition in a Slurm that runs already: SuspendTime, and the topology of the pools.

    SuspendTime of the whole cluster would also suspend nodes that the site adds later. Nodes that are in no partition
    with a SuspendTime are never suspended (slurm.conf(5); power_save_set_timeouts in power_save.c of 23.11 to 26.05).
    """
    existing = environment.existing_slurm
    idle_seconds = [group.suspend_after for group in groups if group.suspend_after is not None]
    if existing is None or not idle_seconds:
        return {}
    topology = {"Topology": AWS_TREE} if existing.topology == "yaml" else {}
    return {"SuspendTime": max(idle_seconds), **topology}


def _sites(groups: Iterable[Nodes]) -> frozenset[Site]:
    sites = {group.site for group in groups}
    return frozenset(site for site in SITES if site in sites)


def _partition_nodes(environment: Environment, name: str, partition: Partition, nodes: Sequence[Nodes]) -> list[str]:
    """Return a partition's nodes. If jobs wait for on-prem nodes first, `gpu` has only these; the burst controller
    promotes jobs later.
    """
    onprem_first = name == MAIN and environment.burst.wait_minutes is not None and environment.node_groups
    tokens = partition.nodes or ((ONPREM,) if onprem_first else (name,))
    return [node for token in tokens for node in _members(token, nodes)]


def _members(token: str, nodes: Sequence[Nodes]) -> list[str]:
    """Return the nodes of a token: `gpu` is all nodes, a site's or pool's name its nodes, any other text a host list.

    Nodes with partitioned GPUs are in `mig` instead, if other nodes exist: a job that requests a GPU expects an
    unpartitioned one, and a partition's default CPUs and memory per GPU suit either GPUs or MIG instances.
    """
    if token == MIG and any(group.parts for group in nodes):
        return [name for group in nodes if group.parts for name in group.names]
    if token == MAIN or token in SITES:
        members = [group for group in nodes if token == MAIN or group.site == token]
        unpartitioned = [group for group in members if not group.parts]
        return [name for group in unpartitioned or members for name in group.names]
    pool = [name for group in nodes if group.switch == f"aws-{token}" for name in group.names]
    names = {name for group in nodes for name in group.names}
    return pool or [name for name in hostlist.expand(token) if name in names]
