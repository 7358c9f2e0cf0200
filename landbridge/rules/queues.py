"""Rules about Slurm's queues and node names."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.environment.base import SITES
from landbridge.findings import DataPath, Finding, did_you_mean
from landbridge.plan.nodes import pool_node_names
from landbridge.plan.partitions import MAIN, ONPREM
from landbridge.rules.registry import rule

_PARTITIONS: DataPath = ("scheduler", "partitions")


@rule
def no_nodes(environment: Environment) -> Iterator[Finding]:
    """Slurm does not start without a node, and a cluster without GPUs at either site is none."""
    if not environment.onprem.nodes and not environment.aws.pools:
        related: tuple[DataPath, ...] = (("onprem", "nodes"), ("aws", "pools"))
        yield Finding("no-nodes", "there are neither on-prem nodes nor pools", related[0], related=related)


@rule
def node_name_clash(environment: Environment) -> Iterator[Finding]:
    """A cloud node named like an on-prem host would take its jobs' traffic."""
    taken = dict.fromkeys([*environment.onprem.addresses, *environment.onprem.services.hosts()])
    for group in environment.onprem.nodes:
        taken.update(dict.fromkeys(hostlist.expand(group.hosts)))
    for index, pool in enumerate(environment.aws.pools):
        clash = [name for name in pool_node_names(pool) if name in taken]
        if clash:
            path: DataPath = ("aws", "pools", index, "name")
            related: tuple[DataPath, ...] = (("onprem", "nodes"), ("aws", "pools", index, "max_nodes"))
            yield Finding(
                "node-name-clash", f"the pool's node {clash[0]} is an on-prem host too", path, related=related
            )


@rule
def unknown_node(environment: Environment) -> Iterator[Finding]:
    """A queue's nodes are nodes of the cluster, pools, `onprem` or `aws`."""
    groups = [*SITES, MAIN, *(pool.name for pool in environment.aws.pools)]
    nodes = {name for group in environment.onprem.nodes for name in hostlist.expand(group.hosts)}
    nodes |= {name for pool in environment.aws.pools for name in pool_node_names(pool)}
    related: tuple[DataPath, ...] = (("onprem", "nodes"), ("aws", "pools"))
    for name, partition in environment.scheduler.partitions.items():
        for index, token in enumerate(partition.nodes):
            strangers = [] if token in groups else [host for host in hostlist.expand(token) if host not in nodes]
            if strangers:
                near = did_you_mean(token, groups)
                fix = f'did you mean "{near}"?' if near else f"name nodes, or one of {', '.join(groups)}"
                path: DataPath = (*_PARTITIONS, name, "nodes", index)
                yield Finding("unknown-node", f'there is no node "{strangers[0]}"', path, fix, related=related)
        if not partition.nodes and name not in (MAIN, ONPREM, *(pool.name for pool in environment.aws.pools)):
            path = (*_PARTITIONS, name)
            yield Finding(
                "unknown-node", f"the queue {name} has no nodes", path, "name some in nodes:", related=related
            )


@rule
def two_defaults(environment: Environment) -> Iterator[Finding]:
    """Slurm sends a job without a queue to one default; of two, the last one in the file silently wins."""
    defaults = [name for name, partition in environment.scheduler.partitions.items() if partition.default]
    for name in defaults[1:]:
        message = f"{name} and {defaults[0]} are both the default queue"
        path: DataPath = (*_PARTITIONS, name, "default")
        yield Finding("two-defaults", message, path, related=((*_PARTITIONS, defaults[0], "default"),))


@rule
def protected_setting(environment: Environment) -> Iterator[Finding]:
    """Keys that follow from the rest of the file: set there, they stay true for roles, components and burst too."""
    instead = {
        "clustername": "the environment's name",
        "slurmctldhost": "onprem.services.controller",
        "authtype": "scheduler.auth",
        "nodename": "onprem.nodes and aws.pools",
        "partitionname": "scheduler.partitions",
    }
    for key in environment.scheduler.overrides.slurm_conf:
        if key.casefold() in instead:
            path: DataPath = ("scheduler", "overrides", "slurm_conf", key)
            yield Finding("protected-setting", f"{key} follows from {instead[key.casefold()]}", path, "set it there")
