"""sackd: signs requests of controllers to slurmdbd under auth/slurm."""

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts


def needs_sackd(environment: Environment) -> bool:
    """True if slurmdbd is on another host than a controller: before slurmctld runs, no other daemon there signs
    requests.

    Source: Slurm's documentation of authentication plugins: sackd, slurmd, slurmctld and slurmdbd sign for their host.
    """
    served = service_hosts(environment)
    apart = any(name != served.database for name in served.controllers)
    return environment.scheduler.auth == "slurm" and has_accounting_storage(environment) and apart


def has_accounting_storage(environment: Environment) -> bool:
    """True unless the site's overrides remove AccountingStorageType: then slurmctld does not wait for slurmdbd."""
    overridden = environment.scheduler.overrides.slurm_conf.items()
    return not any(key.casefold() == "accountingstoragetype" and value is None for key, value in overridden)
