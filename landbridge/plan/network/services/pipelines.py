"""Service of pipelines: its settings, if its host can have one."""

from landbridge.environment import Environment
from landbridge.environment.pipelines import Pipelines
from landbridge.plan.network.cloud_hosts import cloud_hosts


def pipelines_of(environment: Environment) -> Pipelines | None:
    """Return the settings; None without them, without accounts, without homes on the MLflow host, and for a Slurm that
    runs already. A rule reports each.
    """
    if environment.existing_slurm is not None or not environment.scheduler.accounts:
        return None
    return environment.mlops.pipelines if has_homes(environment) else None


def has_homes(environment: Environment) -> bool:
    """Return whether the MLflow host can have the homes: in AWS only a login host mounts them."""
    services = environment.aws.services
    return environment.onprem is not None or services is None or not cloud_hosts(environment, services).logins
