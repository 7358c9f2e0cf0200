"""Rules about a Slurm that runs already: keys that only a site that Landbridge configures can have."""

from collections.abc import Iterator

from landbridge.environment import Environment, NfsHome
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.slurm.reservations import unavailable_windows
from landbridge.rules.registry import rule

_EXISTING: DataPath = ("onprem", "existing_slurm")


@rule
def existing_slurm_nodes(environment: Environment) -> Iterator[Finding]:
    """Nodes and home directories of a Slurm that runs already are configured by others.

    Its slurm.conf has the nodes; the environment has only their addresses, for nodes in AWS.
    Source: docs/explanation/existing-slurm.md.
    """
    if environment.existing_slurm is None:
        return
    if environment.node_groups:
        message = "the nodes of a Slurm that runs already are in its slurm.conf, and Landbridge does not configure them"
        fix = "write their addresses in onprem.addresses, and remove onprem.nodes"
        yield error(("onprem", "nodes"), message, fix=fix, related=(_EXISTING,))
    if isinstance(environment.storage.home, NfsHome):
        message = "Landbridge does not configure an NFS server beside a Slurm that runs already"
        fix = "write storage.home: {kind: external_nfs, host: ..., export: ...}"
        yield error(("storage", "home"), message, fix=fix, related=(_EXISTING,))


@rule
def existing_slurm_inert(environment: Environment) -> Iterator[Finding]:
    """Keys of a scheduler that Landbridge configures have no effect on a Slurm that runs already.

    Source: docs/explanation/existing-slurm.md.
    """
    if environment.existing_slurm is None:
        return
    inert: dict[DataPath, bool] = {
        ("burst", "wait_minutes"): environment.burst.wait_minutes is not None,
        ("scheduler", "qos"): bool(environment.scheduler.qos),
        ("scheduler", "rest"): environment.scheduler.rest is not None,
        ("mlops", "registry"): environment.mlops.registry is not None,
    }
    for path, is_set in inert.items():
        if is_set:
            message = f"{'.'.join(map(str, path))} has no effect: others configure this Slurm"
            yield warning(path, message, fix="remove it, and configure the site's own Slurm", related=(_EXISTING,))


@rule
def existing_slurm_blocks(environment: Environment) -> Iterator[Finding]:
    """Nodes of a Capacity Block are in a reservation without users outside of its window.

    Landbridge creates such reservations on clusters that it configures. On another cluster a job may be scheduled to
    these nodes before the block begins, and waits there.
    Source: slurm.schedmd.com/reservations.html.
    """
    if environment.existing_slurm is None:
        return
    for index, pool in enumerate(environment.aws.pools):
        if any(True for _ in unavailable_windows(pool, environment.region)):
            message = f"pool {pool.name} has capacity only in the window of its block, and its nodes accept jobs always"
            fix = "create a reservation of its nodes with scontrol until the block begins, and one from its end"
            path: DataPath = ("aws", "pools", index, "capacity")
            yield warning(path, message, fix=fix, related=(_EXISTING,))
