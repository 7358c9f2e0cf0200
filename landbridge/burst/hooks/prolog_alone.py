"""Decision of PrologSlurmctld while the daemon does not run: refuse what may not be in AWS, else let Slurm wait.

Nothing is asked of slurmctld: it starts a permitted job itself at its check every 30 s when the nodes are up. What
cannot be read refuses the job: only the daemon, or a readable file, permits a start on a node in AWS.
"""

import contextlib
import sqlite3
from collections.abc import Mapping

from landbridge.burst.config.config import BurstConfig, ConfigError, load
from landbridge.burst.journal.store import Store
from landbridge.burst.reconcile.job_start import (
    JobStart,
    cloud_nodes,
    refusal,
    refusal_in_regions,
    refused_regions,
    regions_of_nodes,
)
from landbridge.hostlist import HostlistError, expand


def reject_job(environ: Mapping[str, str]) -> str | None:
    """Return the reason why the job of PrologSlurmctld's environment does not start; None if it may."""
    nodes = environ.get("SLURM_JOB_NODELIST", "")
    reason = reject(nodes, environ.get("SLURM_JOB_ACCOUNT", ""), environ.get("SLURM_WCKEY", ""))
    return reason and f"job {environ.get('SLURM_JOB_ID', '?')} does not start on {nodes}: {reason}"


def reject(nodes: str, account: str, wckey: str = "") -> str | None:
    """Return the reason why a job of the account may not start on these nodes; None if it may."""
    try:
        config = load()
    except ConfigError as error:
        return f"the data that may be in AWS cannot be read: {error}"
    try:
        start = JobStart("", tuple(expand(nodes)), account, wckey)
    except HostlistError as error:
        return str(error)
    reason, refused = refusal(start, config.policy), refused_regions(start, config.policy)
    if reason is not None or not refused:
        return reason
    try:
        regions = _regions(config)
    except (OSError, sqlite3.Error) as error:
        return f"the regions of the nodes cannot be read: {config.database}: {error}"
    return refusal_in_regions(cloud_nodes(start, config.policy), refused, regions)


def _regions(config: BurstConfig) -> dict[str, str]:
    with contextlib.closing(Store(config.database)) as store:
        return regions_of_nodes(store.load(), None, config.policy)
