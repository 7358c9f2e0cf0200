"""PrologSlurmctld that waits until the nodes of a job are up, or one of them is down.

Slurm starts a job on resumed nodes at its next 30 s tick, or when this program ends. A job whose node goes down is
requeued by Slurm; the program has to end then too, or the job stays in Cleaning. Standard library only. Many programs
may wait at the same time: each queries only its own nodes, with the call that costs slurmctld least, and less often the
longer it waits.

No process of a job starts before this program has ended with status 0. So a job whose data must stay on-prem does not
run on a node in AWS that is up for another job: the program waits until the daemon has set the job's nodes down. If no
daemon does, the program fails, and Slurm requeues a batch job or ends an interactive one. A job on nodes of several zones
or instance types waits until the daemon moves or reports it.
"""

import contextlib
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable

from landbridge.burst.config.config import BurstConfig, ConfigError, load
from landbridge.burst.hooks.hold_apart import is_reported, locations_apart
from landbridge.burst.hooks.programs import wake
from landbridge.burst.journal.store import Store
from landbridge.burst.reconcile.observed import pools_of
from landbridge.burst.reconcile.residency import reject_if_restricted
from landbridge.burst.slurm.slurm import SlurmError, node_states
from landbridge.burst.slurm.slurm_json import hosts

#: Not POWER_DOWN: Slurm powers such a node down when it has no job, and starts this one (power_save.c,
#: _node_state_suspendable; job_mgr.c, test_job_nodes_ready).
NOT_UP = frozenset({"POWERING_UP", "POWER_UP", "POWERED_DOWN", "POWERING_DOWN", "NOT_RESPONDING", "UNKNOWN"})
LOST = frozenset({"DOWN", "FAIL", "INVALID_REG"})
MAX_WAIT_SECONDS = 3600.0
#: Time for which a job that may not be in AWS waits until the daemon sets its nodes down: four intervals of the daemon.
REFUSED_SECONDS = 60.0
#: Time for which a job on nodes of several zones or instance types waits until the daemon moves it.
APART_SECONDS = 60.0


def verdict(states: Iterable[frozenset[str]]) -> str:
    """Return `up` when every node is up, `down` when one is lost, else `wait`."""
    node_states = list(states)
    if any(state & LOST for state in node_states):
        return "down"
    return "wait" if not node_states or any(state & NOT_UP for state in node_states) else "up"


def seconds_until_next_check(waited: float) -> float:
    """Return the seconds until the next check: a fortieth of the wait so far plus a quarter of a second, at most two."""
    return min(2.0, 0.25 + waited / 40)


def main() -> int:
    """Return 1 only for a job that may not run on its nodes, else 0: Slurm's own time-outs handle all other problems."""
    nodes = os.environ.get("SLURM_JOB_NODELIST", "")
    if not nodes:
        _log("SLURM_JOB_NODELIST is not set")
        return 0
    config = _config()
    reason = config and reject_nodes_if_restricted(
        config, nodes, os.environ.get("SLURM_JOB_ACCOUNT", ""), os.environ.get("SLURM_WCKEY", "")
    )
    if config and reason:
        _log(f"job {os.environ.get('SLURM_JOB_ID', '?')} does not run on {nodes}: {reason}")
        wake(str(config.socket))
        return 0 if _wait(nodes, frozenset({"down"}), REFUSED_SECONDS) else 1
    _wait(nodes, frozenset({"up", "down"}), MAX_WAIT_SECONDS)
    if config and (locations := locations_apart(config, nodes)):
        job = os.environ.get("SLURM_JOB_ID", "")
        _log(f"job {job or '?'} waits, because its nodes are in {locations}")
        wake(str(config.socket))
        _wait(nodes, frozenset({"down"}), APART_SECONDS, lambda: is_reported(config, job))
    return 0


def reject_nodes_if_restricted(config: BurstConfig, nodes: str, account: str, wckey: str = "") -> str | None:
    """Return the reason why a job of the account may not run on these nodes; None if it may or if none is in AWS."""
    pools = pools_of(hosts(nodes), config.policy)
    if not pools:
        return None
    reason = reject_if_restricted(config.policy, account, wckey)
    other_regions = (
        {offering.region for pool in pools.values() for offering in pool.offerings if offering.region}
        if reason is None
        else ()
    )
    refused = {
        region: text
        for region in other_regions
        if (text := reject_if_restricted(config.policy, account, wckey, region))
    }
    return reason or (refused.get(_region_of(config, frozenset(pools), frozenset(refused))) if refused else None)


def _region_of(config: BurstConfig, nodes: frozenset[str], among: frozenset[str]) -> str:
    """Return the first region in `among` that has the last launch of one of the nodes by the journal; else empty."""
    offerings = {offering.key: offering.region for pool in config.policy.pools.values() for offering in pool.offerings}
    try:
        with contextlib.closing(Store(config.database)) as store:
            attempts = store.load().attempts.values()
    except (OSError, sqlite3.Error) as error:
        _log(f"{config.database}: {error}")
        return ""  # the daemon checks the regions of its instances, and terminates those that are not permitted
    last: dict[str, str] = {}
    for attempt in sorted(attempts, key=lambda attempt: attempt.created_at):
        last.update(dict.fromkeys(nodes.intersection(attempt.instances), offerings.get(attempt.offering, "")))
    return next((region for region in last.values() if region in among), "")


def _config() -> BurstConfig | None:
    """Return the configuration; None without a usable file: the daemon, which launches, does not run without it either."""
    try:
        return load()
    except ConfigError as error:
        _log(str(error))
        return None


def _wait(nodes: str, ends: frozenset[str], limit: float, may_end: Callable[[], bool] = lambda: False) -> bool:
    """Return whether the nodes reached a verdict in `ends` within `limit` seconds, and before `may_end`."""
    began, last_error = time.monotonic(), ""
    while (waited := time.monotonic() - began) < limit:
        try:
            if verdict(states(nodes).values()) in ends:
                return True
            if may_end():
                return False
        except SlurmError as error:
            if str(error) != last_error:
                _log(str(error))
            last_error = str(error)
        time.sleep(seconds_until_next_check(waited))
    return False


def _log(text: str) -> None:
    print(f"landbridge-prolog-wait: {text}", file=sys.stderr)


def states(nodes: str) -> dict[str, frozenset[str]]:
    """Return the states of the nodes of a host list."""
    return node_states(nodes)


if __name__ == "__main__":
    sys.exit(main())
