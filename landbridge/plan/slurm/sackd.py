"""Who signs what a controller asks slurmdbd, with auth/slurm."""

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts


def needs_sackd(environment: Environment) -> bool:
    """Whether controllers ask a slurmdbd on another host: before slurmctld runs, nothing there signs for them.

    Source: Slurm's documentation of authentication plugins: sackd, slurmd, slurmctld and slurmdbd sign for their host.
    """
    served = service_hosts(environment)
    apart = any(name != served.database for name in served.controllers)
    return environment.scheduler.auth == "slurm" and has_accounting_storage(environment) and apart


def has_accounting_storage(environment: Environment) -> bool:
    """Whether slurm.conf, with what the site overrides, names a place for accounting: else nobody waits for a database."""
    overridden = environment.scheduler.overrides.slurm_conf.items()
    return not any(key.casefold() == "accountingstoragetype" and value is None for key, value in overridden)
