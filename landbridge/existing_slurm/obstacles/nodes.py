"""Findings about nodes and partitions: names that exist already, partitions of all nodes, and weights."""

from collections.abc import Iterator

from landbridge.existing_slurm.cluster import ConfiguredNodes, ExistingCluster, placed
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.findings import Finding, Severity
from landbridge.plan.slurm.nodes import CLOUD_WEIGHT


def node_findings(cluster: ExistingCluster, request: AdoptRequest) -> Iterator[Finding]:
    """Yield the findings about NodeName and PartitionName lines."""
    nodes = {name.casefold() for name in cluster.node_names}
    partitions = {partition.name.casefold(): partition for partition in cluster.partitions}
    for pool in request.pools:
        clash = next((name for name in pool.node_names if name.casefold() in nodes), None)
        if clash is not None:
            group = next(group for group in cluster.nodes if clash.casefold() in map(str.casefold, group.names))
            message = f"the pool {pool.name} gets nodes {pool.name}-1 and further, and {clash} exists already"
            yield placed("node-name", Severity.ERROR, group.at, message, "give the pool another name (--pool)")
        if pool.name.casefold() in partitions:
            message = f"the pool {pool.name} gets a partition of its name, which exists already"
            fix = "give the pool another name (--pool)"
            yield placed("partition-name", Severity.ERROR, partitions[pool.name.casefold()].at, message, fix)
    for partition in cluster.partitions:
        pair = partition.pairs.get("nodes")
        if pair is not None and any(word.casefold() == "all" for word in pair.value.split(",")):
            message = f"partition {partition.name} has Nodes=ALL, which would contain the nodes in AWS"
            fix = "nothing to do: the changes list its present nodes instead"
            yield placed("partition-of-all-nodes", Severity.INFO, pair.at, message, fix)
    heaviest = max(cluster.nodes, key=_weight, default=None)
    if heaviest is not None and _weight(heaviest) >= CLOUD_WEIGHT:
        message = f"{heaviest.names[0]} has Weight={heaviest.value('Weight')}; nodes in AWS have {CLOUD_WEIGHT}"
        fix = "use smaller weights, so that a partition of both sites prefers nodes of the site"
        yield placed("node-weight", Severity.INFO, heaviest.at, message, fix)
    limit = cluster.value("MaxNodeCount")
    count = len(nodes) + sum(pool.max_nodes for pool in request.pools)
    if limit.isdigit() and int(limit) < count:
        message = f"MaxNodeCount={limit}, and with the pools the cluster has {count} nodes"
        yield placed("node-count", Severity.ERROR, cluster.at("MaxNodeCount"), message, f"set MaxNodeCount={count}")


def _weight(group: ConfiguredNodes) -> int:
    text = group.value("Weight")
    return int(text) if text.isdigit() else 1
