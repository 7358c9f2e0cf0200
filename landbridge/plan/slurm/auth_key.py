"""File of the cluster's auth/slurm key on a host: a single key, or a set of several."""

from landbridge.catalog import slurm_releases
from landbridge.environment import Environment


def has_multiple_keys(environment: Environment) -> bool:
    """True if daemons accept several keys at once, so that a key can be rotated while jobs run.

    Source: Slurm's guide to authentication plugins, "Multiple Key Setup" (from 24.05 on).
    """
    return environment.scheduler.auth == "slurm" and slurm_releases()[environment.scheduler.slurm.version].jwks


def key_file(environment: Environment) -> str:
    """Return the key file of auth/slurm. Daemons that do not find the first file look for the second."""
    return "/etc/slurm/slurm.jwks" if has_multiple_keys(environment) else "/etc/slurm/slurm.key"
