"""sackd: signs requests of controllers to slurmdbd under auth/slurm."""

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts


def needs_sackd(environment: Environment) -> bool:
    """True if slurmdbd is not on a controller's host: before slurmctld runs, no other daemon on that host signs
    requests.

    Source: Slurm's documentation of authentication plugins: sackd, slurmd, slurmctld and slurmdbd sign for their host.
    """
    served = service_hosts(environment)
    is_separate = any(name != served.database for name in served.controllers)
    return environment.scheduler.auth == "slurm" and has_accounting_storage(environment) and is_separate


def has_accounting_storage(environment: Environment) -> bool:
    """True unless the site's overrides remove AccountingStorageType: then slurmctld does not wait for slurmdbd."""
    overridden = environment.scheduler.overrides.slurm_conf.items()
    return not any(key.casefold() == "accountingstoragetype" and value is None for key, value in overridden)
