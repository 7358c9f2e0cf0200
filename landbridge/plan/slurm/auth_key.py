"""Where the cluster's key of auth/slurm is on a host: one that all share, or several of which one is used."""

from landbridge.catalog import slurm_releases
from landbridge.environment import Environment


def has_multiple_keys(environment: Environment) -> bool:
    """Whether daemons take several keys at once, so that one can be replaced while jobs run.

    Source: Slurm's guide to authentication plugins, "Multiple Key Setup" (from 24.05 on).
    """
    return environment.scheduler.auth == "slurm" and slurm_releases()[environment.scheduler.slurm.version].jwks


def key_file(environment: Environment) -> str:
    """The file, of a cluster with auth/slurm. Daemons that do not find the first of the two look for the second."""
    return "/etc/slurm/slurm.jwks" if has_multiple_keys(environment) else "/etc/slurm/slurm.key"
