"""Slurm's partitions: `gpu` over both sites, `onprem`, `mig` for MIG instances, one for each pool, and the site's own."""

import math
from collections.abc import Iterable, Sequence

from landbridge import hostlist
from landbridge.environment import Environment, Partition
from landbridge.environment.base import SITES, Scalar, Site
from landbridge.plan.slurm.gpu_minutes import partition_qos
from landbridge.plan.slurm.nodes import Nodes
from landbridge.plan.slurm.setting_overrides import setting_text, with_overrides
from landbridge.plan.slurm.topology import queue_topology

MAIN, ONPREM, MIG = "gpu", "onprem", "mig"
# Slurm's administrators keep an account of their own; it is never a user's.
OPERATORS = "root"


def partition_names(environment: Environment) -> tuple[str, ...]:
    """Return every partition, the default one first."""
    groups = environment.node_groups
    parts = [MIG] if any(group.mig for group in groups) else []
    built_in = [MAIN, *([ONPREM] if groups else []), *parts, *(pool.name for pool in environment.aws.pools)]
    return tuple(dict.fromkeys([*built_in, *environment.scheduler.partitions]))


def partition_lines(environment: Environment, nodes: Sequence[Nodes]) -> list[str]:
    """The PartitionName lines."""
    configured = environment.scheduler.partitions
    default = default_partition(environment)
    lines = []
    for name in partition_names(environment):
        partition = configured.get(name, Partition())
        members = _of_queue(environment, name, partition, nodes)
        if members:
            lines.append(_line(environment, name, partition, list(dict.fromkeys(members)), nodes, name == default))
    return lines


def partition_sites(environment: Environment, nodes: Sequence[Nodes]) -> dict[str, frozenset[Site]]:
    """Return the sites where a job of each partition may start, including partitions that it is promoted to."""
    sites = {}
    for name in partition_names(environment):
        partition = environment.scheduler.partitions.get(name, Partition())
        members = frozenset(_of_queue(environment, name, partition, nodes))
        if members:
            sites[name] = _sites(group for group in nodes if not members.isdisjoint(group.names))
    # Source: slurm.conf(5), Alternate: jobs go there while the queue itself takes none.
    for name, partition in environment.scheduler.partitions.items():
        alternates = [str(value) for key, value in partition.settings.items() if key.casefold() == "alternate"]
        if name in sites:
            sites[name] = sites[name].union(*(sites.get(other, frozenset(SITES)) for other in alternates))
    return sites


def default_partition(environment: Environment) -> str:
    """Return the partition of a job that names none."""
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
    """A time limit as Slurm writes it (`90`, `4:00:00`, `7-00:00:00`), in seconds; unlimited is infinite."""
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
        **_share_of_a_gpu(groups),
        "OverSubscribe": "NO",
        **({"Topology": topology} if topology else {}),
    }
    if environment.scheduler.accounts:
        # Default deny: an account that the environment does not know starts nothing here.
        settings["AllowAccounts"] = ",".join([OPERATORS, *allowed_accounts(environment, sites)])
    cap = partition_qos(environment, members, nodes)
    if cap is not None:
        settings["QOS"] = cap
    settings["State"] = "UP"
    merged = with_overrides(settings, partition.settings)
    return " ".join([f"PartitionName={name}", *(f"{key}={setting_text(value)}" for key, value in merged.items())])


def _share_of_a_gpu(groups: Sequence[Nodes]) -> dict[str, Scalar]:
    """A GPU brings its share of the smallest node's processors and memory, so that eight jobs of one GPU fit."""
    with_gpus = [group for group in groups if group.gpu_count]
    if not with_gpus:
        return {}
    return {
        "DefCpuPerGPU": min(group.cores_per_gpu * group.threads_per_core for group in with_gpus),
        "DefMemPerGPU": min(group.memory_per_gpu for group in with_gpus),
    }


def _sites(groups: Iterable[Nodes]) -> frozenset[Site]:
    sites = {group.site for group in groups}
    return frozenset(site for site in SITES if site in sites)


def _of_queue(environment: Environment, name: str, partition: Partition, nodes: Sequence[Nodes]) -> list[str]:
    """A queue's nodes. Where jobs are to wait on-prem first, `gpu` is the site's: the controller lets them on later."""
    waits = name == MAIN and environment.burst.wait_minutes is not None and environment.node_groups
    words = partition.nodes or ((ONPREM,) if waits else (name,))
    return [node for word in words for node in _members(word, nodes)]


def _members(token: str, nodes: Sequence[Nodes]) -> list[str]:
    """The nodes a word stands for: `gpu` is all, a site's or pool's name its nodes, anything else a host range.

    Nodes with GPUs in parts are in `mig` instead, as long as there are others: who asks for a GPU means a whole one, and
    a queue's default share of processors and memory fits either whole GPUs or parts.
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
