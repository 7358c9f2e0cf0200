"""Findings about addresses: nodes in AWS connect to controllers, login hosts and nodes of the site.

slurmd forwards slurmctld's messages to other nodes in a tree, so a node in AWS may have to reach a node of the site by
its name. Source: slurm.conf(5), TreeWidth; NodeAddr.
"""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.existing_slurm.cluster import ExistingCluster, placed
from landbridge.existing_slurm.hosts import controllers, known_addresses
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.findings import Finding, Severity

_HOSTS_FIX = "give --hosts FILE with their addresses, in the format of /etc/hosts"


def address_findings(cluster: ExistingCluster, request: AdoptRequest) -> Iterator[Finding]:
    """Yield the findings about the addresses of controllers, nodes, gateway and database, and about ranges."""
    known = known_addresses(cluster, request)
    at = cluster.at("SlurmctldHost", "ControlMachine")
    for name in controllers(cluster):
        if name not in known:
            message = f"the address of the controller {name} is unknown; nodes in AWS have no DNS when they boot"
            yield placed("controller-address", Severity.ERROR, at, message, _HOSTS_FIX)
    if not controllers(cluster):
        yield placed("no-controller", Severity.ERROR, at, "slurm.conf has no SlurmctldHost", "write SlurmctldHost")
    for host in dict.fromkeys([request.gateway, *request.logins, *_database(cluster)]):
        if host not in known and host not in request.addresses:
            message = f"the address of {host} is unknown"
            yield placed("host-address", Severity.ERROR, cluster.at(), message, _HOSTS_FIX)
    missing = [name for name in cluster.node_names if name.casefold() not in known]
    if missing:
        first = next(group for group in cluster.nodes if missing[0] in group.names)
        message = f"the addresses of {hostlist.compress(missing)} are unknown; slurmd in AWS forwards messages to them"
        yield placed("node-address", Severity.WARNING, first.at, message, _HOSTS_FIX)
    yield from _ranges(cluster, request)


def _database(cluster: ExistingCluster) -> tuple[str, ...]:
    host = cluster.value("AccountingStorageHost").casefold()
    return (host,) if host and host != "localhost" else ()


def _ranges(cluster: ExistingCluster, request: AdoptRequest) -> Iterator[Finding]:
    if request.aws_cidr.overlaps(request.onprem_cidr):
        message = f"--aws-cidr {request.aws_cidr} overlaps --onprem-cidr {request.onprem_cidr}"
        yield placed("overlapping-ranges", Severity.ERROR, cluster.at(), message, "choose a range that nothing uses")
    positions = {name.casefold(): group.at for group in cluster.nodes for name in group.names}
    for name, address in known_addresses(cluster, request).items():
        at = positions.get(name, cluster.at("SlurmctldHost", "ControlMachine"))
        if address in request.aws_cidr:
            message = f"{name}'s address {address} is inside --aws-cidr {request.aws_cidr}"
            yield placed("address-in-aws", Severity.ERROR, at, message, "choose a range that nothing uses")
        elif address not in request.onprem_cidr:
            message = (
                f"{name}'s address {address} is outside --onprem-cidr {request.onprem_cidr}, which is routed to AWS"
            )
            yield placed("address-outside-site", Severity.ERROR, at, message, "widen --onprem-cidr")
