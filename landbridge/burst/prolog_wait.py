"""PrologSlurmctld: ends when the nodes of a job are up, or one of them is down.

Slurm starts a job on resumed nodes at its next 30 s tick, or when this program ends. A job whose node goes down is
requeued by Slurm; the program has to end then too, or the job stays in Cleaning. Standard library only.
"""

import os
import sys
import time
from collections.abc import Iterable

from landbridge.burst.slurm import SlurmError, node_states
from landbridge.hostlist import HostlistError, expand

NOT_UP = frozenset(
    {"POWERING_UP", "POWER_UP", "POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN", "NOT_RESPONDING", "UNKNOWN"}
)
LOST = frozenset({"DOWN", "FAIL", "INVALID_REG"})
LIMIT_SECONDS = 3600.0


def verdict(states: Iterable[frozenset[str]]) -> str:
    """`up` when every node is, `down` when one is lost, else `wait`."""
    known = list(states)
    if any(state & LOST for state in known):
        return "down"
    return "wait" if not known or any(state & NOT_UP for state in known) else "up"


def main() -> int:
    """Never fails: a prolog that fails drains the job, and Slurm's own time-outs are the better judge."""
    try:
        nodes = expand(os.environ["SLURM_JOB_NODELIST"])
    except (KeyError, HostlistError) as error:
        print(f"landbridge-prolog-wait: SLURM_JOB_NODELIST: {error}", file=sys.stderr)
        return 0
    deadline, pause = time.monotonic() + LIMIT_SECONDS, 0.2
    while time.monotonic() < deadline:
        try:
            if verdict(node_states(nodes).values()) != "wait":
                return 0
        except SlurmError as error:
            print(f"landbridge-prolog-wait: {error}", file=sys.stderr)
        time.sleep(pause)
        pause = min(pause * 1.2, 2.0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
