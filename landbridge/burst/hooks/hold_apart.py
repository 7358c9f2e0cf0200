"""Hold of a job whose nodes are apart, in several zones or of several instance types, by the data of the journal.

The daemon moves such a job before it starts, or reports that it stays (burst.reconcile.apart). The job waits for that,
but not for a daemon or a journal that does not answer: nodes apart make a job slow, not wrong.
"""

import contextlib
import sqlite3

from landbridge.burst.config.config import BurstConfig
from landbridge.burst.journal.store import Store
from landbridge.burst.model import State
from landbridge.burst.reconcile.apart import is_left_apart
from landbridge.burst.reconcile.locations import are_apart, describe, locate_by_journal
from landbridge.burst.reconcile.observed import pools_of
from landbridge.burst.slurm.slurm_json import hosts


def locations_apart(config: BurstConfig, nodes: str) -> str:
    """Return the locations of the nodes of a host list if they are apart, else an empty text."""
    pools = pools_of(hosts(nodes), config.policy)
    locations = {(offering.zone, offering.instance_type) for pool in pools.values() for offering in pool.offerings}
    if len(pools) < 2 or len(locations) < 2:
        return ""
    state = _journal(config)
    by_node = locate_by_journal(state, config.policy, pools) if state is not None else {}
    return describe(by_node) if are_apart(by_node, pools) else ""


def is_reported(config: BurstConfig, job: str) -> bool:
    """Return whether the daemon leaves the job on its nodes, or the journal cannot be read."""
    state = _journal(config)
    return state is None or (job.isdigit() and is_left_apart(state, int(job)))


def _journal(config: BurstConfig) -> State | None:
    try:
        with contextlib.closing(Store(config.database)) as store:
            return store.load()
    except (OSError, sqlite3.Error):
        return None
