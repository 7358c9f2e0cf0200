"""Monitoring host, the exporters on its targets and on nodes in AWS, and whether slurmctld has metrics."""

from landbridge.catalog import instances
from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.catalog.slurm.versions import slurm_releases
from landbridge.environment import Environment
from landbridge.environment.observability import SiteTimers


def monitoring_host(environment: Environment) -> str | None:
    """Return the host of Prometheus; None without one, and for a Slurm that runs already and that others configure."""
    if environment.onprem is None or environment.existing_slurm is not None:
        return None
    return environment.onprem.services.monitoring


def timers_of(environment: Environment) -> SiteTimers | None:
    """Return the settings of the site's timers; None without a monitoring host, whose alerts report a timer that stops."""
    return environment.observability.timers if monitoring_host(environment) is not None else None


def compares_training(environment: Environment) -> bool:
    """Return whether a timer compares the burst controller's ledger with SageMaker's training jobs: a site without pools has no ledger."""
    return (
        timers_of(environment) is not None and environment.mlops.sagemaker is not None and bool(environment.aws.pools)
    )


def exporter_port(exporter: str) -> int:
    """Return the port of an exporter. Raises KeyError for one whose metrics come through another one."""
    port = metrics_contract().exporters[exporter].port
    if port is None:
        raise KeyError(exporter)
    return port


def monitors_cloud_nodes(environment: Environment) -> bool:
    """Return whether the site's Prometheus reads the metrics of nodes in AWS."""
    return monitoring_host(environment) is not None and bool(environment.aws.pools)


def cloud_exporters(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the pools whose nodes have an exporter, by exporter; empty if no node in AWS is monitored.

    The contract of node images requires DCGM on the nodes of a pool with GPUs.
    """
    if not monitors_cloud_nodes(environment):
        return {}
    with_gpus = tuple(pool.name for pool in environment.aws.pools if _has_gpus(pool.instance))
    return {"node": tuple(pool.name for pool in environment.aws.pools), **({"dcgm": with_gpus} if with_gpus else {})}


def _has_gpus(instance_type: str) -> bool:
    kind = instances().get(instance_type)
    return kind is not None and kind.accelerators is not None and kind.accelerators.kind == "gpu"


def has_slurm_metrics(environment: Environment) -> bool:
    """Return whether slurmctld gives metrics to Prometheus: since 25.11, and beside PrivateData since 26.05.

    Landbridge sets PrivateData for pools in AWS (plan/slurm/conf.py).
    """
    release = slurm_releases()[environment.scheduler.slurm.version]
    hides_data = bool(environment.aws.pools)
    return monitoring_host(environment) is not None and (
        release.metrics_with_private_data or (release.metrics and not hides_data)
    )
