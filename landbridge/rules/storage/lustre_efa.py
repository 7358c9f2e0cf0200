"""Rules about the clients of FSx for Lustre over EFA."""

from collections.abc import Iterator

from landbridge.catalog.aws.storage import storage as facts
from landbridge.environment import Environment, FsxLustre
from landbridge.findings import Finding, warning
from landbridge.plan.aws.storage.lustre_efa import client_interfaces
from landbridge.rules.environment_paths import POOLS, cloud_file_systems
from landbridge.rules.registry import rule


@rule
def lustre_efa_connections(environment: Environment) -> Iterator[Finding]:
    """The EFA interfaces of all nodes are within the limit of a file system's connections.

    Each EFA interface that a node uses for Lustre is a connection.
    Source: FSx for Lustre User Guide, "Configuring EFA clients" (landbridge/catalog/storage.yaml).
    """
    most = facts().fsx_lustre.efa.connections
    count = sum(pool.max_nodes * client_interfaces(environment, pool) for pool in environment.aws.pools)
    for path, share in cloud_file_systems(environment):
        if isinstance(share, FsxLustre) and share.efa and count > most:
            message = f"all nodes have {count} EFA interfaces for Lustre, and a file system accepts {most} connections"
            fix = "lower max_nodes of the pools, or use a second file system"
            yield warning((*path, "efa"), message, fix=fix, related=(POOLS,))
