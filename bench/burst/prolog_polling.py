"""PrologSlurmctld as it was before the daemon answered: each program queries Slurm itself. Peer of bench.burst.job_starts."""

import os
import sys
import time

from landbridge.burst.config.config import load
from landbridge.burst.journal.store import Store  # noqa: F401 - the program loaded the journal's modules
from landbridge.burst.slurm.slurm import node_states


def main() -> int:
    """Query the states of the job's nodes until they are up: after 0.25 s first, then less often, at least every 2 s."""
    load()
    began = time.monotonic()
    while any("POWERING_UP" in states for states in node_states(os.environ["SLURM_JOB_NODELIST"]).values()):
        time.sleep(min(2.0, 0.25 + (time.monotonic() - began) / 40))
    return 0


if __name__ == "__main__":
    sys.exit(main())
