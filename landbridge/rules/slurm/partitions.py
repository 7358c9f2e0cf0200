"""Rules about Slurm's partitions and node names."""

import re
from collections.abc import Iterator

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.environment.base import SITES
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.slurm.nodes import pool_node_names
from landbridge.plan.slurm.partitions import MAIN, ONPREM, seconds
from landbridge.rules.registry import rule

_PARTITIONS: DataPath = ("scheduler", "partitions")
_TIME = re.compile(r"\d+|\d+-\d+|(\d+-)?\d+:\d\d(:\d\d)?|INFINITE|UNLIMITED")


@rule
def no_nodes(environment: Environment) -> Iterator[Finding]:
    """The cluster has nodes: slurmctld does not start without any.

    Source: slurmctld: "fatal: No nodes configured".
    """
    if not environment.node_groups and not environment.aws.pools:
        related: tuple[DataPath, ...] = (("onprem", "nodes"), ("aws", "pools"))
        yield error(related[0], "the cluster has neither on-prem nodes nor pools", related=related)


@rule
def node_name_clash(environment: Environment) -> Iterator[Finding]:
    """No cloud node has the name of an on-prem host.

    Source: slurm.conf(5), NodeName and NodeAddr.
    """
    hosts = service_hosts(environment)
    host_names = dict.fromkeys([*hosts.addresses, *hosts.names])
    for group in environment.node_groups:
        host_names.update(dict.fromkeys(hostlist.expand(group.hosts)))
    for index, pool in enumerate(environment.aws.pools):
        clash = [name for name in pool_node_names(pool) if name in host_names]
        if clash:
            path: DataPath = ("aws", "pools", index, "name")
            related: tuple[DataPath, ...] = (("onprem", "nodes", "*", "hosts"), ("aws", "pools", index, "max_nodes"))
            owner = "an on-prem host" if hosts.site == "onprem" else "a host of the services"
            yield error(path, f"the pool's node {clash[0]} has the name of {owner}", related=related)


@rule
def unknown_node(environment: Environment) -> Iterator[Finding]:
    """A partition's nodes are nodes of the cluster, pools, `onprem` or `aws`.

    Source: slurm.conf(5), PartitionName: slurmctld does not start with an unknown node.
    """
    groups = [*SITES, MAIN, *(pool.name for pool in environment.aws.pools)]
    nodes = {name for group in environment.node_groups for name in hostlist.expand(group.hosts)}
    nodes |= {name for pool in environment.aws.pools for name in pool_node_names(pool)}
    related: tuple[DataPath, ...] = (
        ("onprem", "nodes", "*", "hosts"),
        ("aws", "pools", "*", "name"),
        ("aws", "pools", "*", "max_nodes"),
    )
    for name, partition in environment.scheduler.partitions.items():
        for index, token in enumerate(partition.nodes):
            unknown = [] if token in groups else [host for host in hostlist.expand(token) if host not in nodes]
            if unknown:
                near = did_you_mean(token, groups)
                fix = f'did you mean "{near}"?' if near else f"write nodes, or one of {', '.join(groups)}"
                path: DataPath = (*_PARTITIONS, name, "nodes", index)
                yield error(path, f'there is no node "{unknown[0]}"', fix=fix, related=related)
        if not partition.nodes and name not in (MAIN, ONPREM, *(pool.name for pool in environment.aws.pools)):
            path = (*_PARTITIONS, name)
            also = (*related, (*path, "nodes"))
            yield error(path, f"the partition {name} has no nodes", fix="write nodes:", related=also)


@rule
def duplicate_default_partition(environment: Environment) -> Iterator[Finding]:
    """At most one partition is the default: of two, Slurm uses the last, without an error.

    Source: slurm.conf(5), Default.
    """
    defaults = [name for name, partition in environment.scheduler.partitions.items() if partition.default]
    for name in defaults[1:]:
        message = f"{name} and {defaults[0]} are both the default partition"
        path: DataPath = (*_PARTITIONS, name, "default")
        yield error(path, message, related=((*_PARTITIONS, defaults[0], "default"),))


@rule
def partition_time(environment: Environment) -> Iterator[Finding]:
    """max_time of a partition is above 0, and DefaultTime is not longer.

    Source: slurm.conf(5), MaxTime and DefaultTime.
    """
    for name, partition in environment.scheduler.partitions.items():
        path: DataPath = (*_PARTITIONS, name, "max_time")
        max_seconds = seconds(partition.max_time)
        if max_seconds == 0:
            yield error(path, f"max_time of {name} is 0, so no job can run in it")
        for key, value in partition.settings.items():
            if key.casefold() != "defaulttime" or not isinstance(value, str) or not _TIME.fullmatch(value):
                continue
            if max_seconds > 0 and seconds(value) > max_seconds:
                message = (
                    f"DefaultTime {value} is longer than max_time {partition.max_time}: no job starts without --time"
                )
                setting_path: DataPath = (*_PARTITIONS, name, "settings", key)
                yield error(setting_path, message, related=(path,))


@rule(public_aws=True)
def cgroup_version(environment: Environment) -> Iterator[Finding]:
    """Nodes use cgroup v2: Slurm has deprecated v1.

    Source: Slurm 25.05, RELEASE_NOTES: cgroup/v1 is deprecated.
    """
    scheduler = environment.scheduler
    if scheduler.cgroup == "v1" and scheduler.slurm.version >= "25.05":
        message = f"cgroup v1 is deprecated in Slurm {scheduler.slurm.version}"
        path: DataPath = ("scheduler", "cgroup")
        related: tuple[DataPath, ...] = (("scheduler", "slurm", "version"),)
        yield warning(path, message, fix="write v2, which every supported Debian has", related=related)
