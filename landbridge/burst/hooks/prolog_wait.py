"""PrologSlurmctld: ends when the nodes of a job are up, or one of them is down.

Slurm starts a job on resumed nodes at its next 30 s tick, or when this program ends. A job whose node goes down is
requeued by Slurm; the program has to end then too, or the job stays in Cleaning. Standard library only. Many may wait at
once: each asks for its own nodes alone, in the way that costs slurmctld least, and the less often the longer it waits.

No process of a job starts before this program has ended well. So a job whose data must stay does not run on a node in AWS
that happened to be up: it waits here until the daemon has given its nodes up, and where no daemon does, Slurm is told to
take the job back (a failing PrologSlurmctld requeues a batch job and ends an interactive one).
"""

import contextlib
import os
import sqlite3
import sys
import time
from collections.abc import Iterable

from landbridge.burst.config.config import BurstConfig, ConfigError, load
from landbridge.burst.hooks.programs import wake
from landbridge.burst.journal.store import Store
from landbridge.burst.reconcile.observed import pools_of
from landbridge.burst.reconcile.residency import reject_if_restricted
from landbridge.burst.slurm.slurm import SlurmError, run_json
from landbridge.burst.slurm.slurm_json import hosts, node_states_of

NOT_UP = frozenset(
    {"POWERING_UP", "POWER_UP", "POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN", "NOT_RESPONDING", "UNKNOWN"}
)
LOST = frozenset({"DOWN", "FAIL", "INVALID_REG"})
MAX_WAIT_SECONDS = 3600.0
#: For how long a job that may not be in AWS waits for the daemon to give its nodes up: four of its intervals.
REFUSED_SECONDS = 60.0


def verdict(states: Iterable[frozenset[str]]) -> str:
    """`up` when every node is, `down` when one is lost, else `wait`."""
    node_states = list(states)
    if any(state & LOST for state in node_states):
        return "down"
    return "wait" if not node_states or any(state & NOT_UP for state in node_states) else "up"


def seconds_until_next_check(waited: float) -> float:
    """Seconds until the next look: a fortieth of the wait so far, from a quarter of a second to two seconds."""
    return min(2.0, 0.25 + waited / 40)


def main() -> int:
    """0 but for a job that may not be where it is: Slurm's own time-outs are the better judge of everything else."""
    nodes = os.environ.get("SLURM_JOB_NODELIST", "")
    if not nodes:
        _say("SLURM_JOB_NODELIST is not set")
        return 0
    config = _config()
    why = config and reject_nodes_if_restricted(
        config, nodes, os.environ.get("SLURM_JOB_ACCOUNT", ""), os.environ.get("SLURM_WCKEY", "")
    )
    if config and why:
        _say(f"job {os.environ.get('SLURM_JOB_ID', '?')} does not run on {nodes}: {why}")
        wake(str(config.socket))
        return 0 if _wait(nodes, frozenset({"down"}), REFUSED_SECONDS) else 1
    _wait(nodes, frozenset({"up", "down"}), MAX_WAIT_SECONDS)
    return 0


def reject_nodes_if_restricted(config: BurstConfig, nodes: str, account: str, wckey: str = "") -> str | None:
    """Return why a job of the account may not run on these nodes; None: it may, or none of them is in AWS."""
    pools = pools_of(hosts(nodes), config.policy)
    if not pools:
        return None
    why = reject_if_restricted(config.policy, account, wckey)
    elsewhere = (
        {offering.region for pool in pools.values() for offering in pool.offerings if offering.region}
        if why is None
        else ()
    )
    barred = {
        region: text for region in elsewhere if (text := reject_if_restricted(config.policy, account, wckey, region))
    }
    return why or (barred.get(_region_of(config, frozenset(pools), frozenset(barred))) if barred else None)


def _region_of(config: BurstConfig, nodes: frozenset[str], among: frozenset[str]) -> str:
    """The first of some regions that the journal has the last launch of one of the nodes in; empty: none of them."""
    offerings = {offering.key: offering.region for pool in config.policy.pools.values() for offering in pool.offerings}
    try:
        with contextlib.closing(Store(config.database)) as store:
            attempts = store.load().attempts.values()
    except (OSError, sqlite3.Error) as error:
        _say(f"{config.database}: {error}")
        return ""  # the daemon looks where its instances are, and ends what may not be
    last: dict[str, str] = {}
    for attempt in sorted(attempts, key=lambda attempt: attempt.created_at):
        last.update(dict.fromkeys(nodes.intersection(attempt.instances), offerings.get(attempt.offering, "")))
    return next((region for region in last.values() if region in among), "")


def _config() -> BurstConfig | None:
    """Return the configuration; None without a usable file: the daemon, which launches, does not run without it either."""
    try:
        return load()
    except ConfigError as error:
        _say(str(error))
        return None


def _wait(nodes: str, ends: frozenset[str], limit: float) -> bool:
    """Return whether the nodes reached a verdict in `ends` within `limit` seconds."""
    began, last_error = time.monotonic(), ""
    while (waited := time.monotonic() - began) < limit:
        try:
            if verdict(states(nodes).values()) in ends:
                return True
        except SlurmError as error:
            if str(error) != last_error:
                _say(str(error))
            last_error = str(error)
        time.sleep(seconds_until_next_check(waited))
    return False


def _say(text: str) -> None:
    print(f"landbridge-prolog-wait: {text}", file=sys.stderr)


def states(nodes: str) -> dict[str, frozenset[str]]:
    """States of the nodes of a host list."""
    return node_states_of(run_json(["sinfo", "--json", "--all", f"--nodes={nodes}"]))


if __name__ == "__main__":
    sys.exit(main())
