"""Findings about gres.conf: a line without NodeName is valid for nodes in AWS too."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.existing_slurm.cluster import ExistingCluster, placed
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.findings import Finding, Severity


def device_findings(cluster: ExistingCluster, request: AdoptRequest) -> Iterator[Finding]:
    """Yield the findings about GPUs: slurmd in AWS reads the same gres.conf."""
    for entry in cluster.gres:
        keys = {pair.key.casefold() for pair in entry.pairs}
        if "name" in keys and "nodename" not in keys:
            message = (
                "this line of gres.conf has no NodeName, so it is valid for nodes in AWS too, and they become invalid"
            )
            nodes = _with_gres(cluster)
            fix = f"begin it with NodeName={nodes}" if nodes else "begin it with NodeName="
            yield placed("devices-of-all-nodes", Severity.ERROR, entry.at, message, fix)


def _with_gres(cluster: ExistingCluster) -> str:
    names = [name for group in cluster.nodes if group.value("Gres") for name in group.names]
    return hostlist.compress(names)
