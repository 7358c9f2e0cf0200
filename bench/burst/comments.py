"""Benchmark of the comments of 4,000 refused jobs: reconcile passes with a real journal and a scontrol that does nothing.

`python -m bench.burst.comments` prints a row. "CPU s" is the process's own time, "commands CPU s" the time of scontrol.
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from bench import calibration
from bench.burst.reconcile import NAMES, NOW, POLICY, POWERED_DOWN
from bench.limits import read_limits, show_limits
from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.journal.store import Store
from landbridge.burst.model import (
    Backoff,
    BurstPolicy,
    Ec2View,
    SlurmJob,
    SlurmNode,
    SlurmView,
    State,
)
from landbridge.burst.slurm import slurm

JOBS = 4_000
REASON = "p5.48xlarge/use1-az4/on-demand: InsufficientInstanceCapacity"


class RefusedJobs:
    """Slurm with pending jobs; comments are written by the real adapter."""

    comment = staticmethod(slurm.comment)

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def view(
        self, policy: BurstPolicy, need_pending: object = (), need_address: object = (), *, all_pending: bool = False
    ) -> SlurmView:
        jobs = {n: SlurmJob(n, "PENDING", partition="p5", account="vision") for n in range(1, self.jobs + 1)}
        return SlurmView(NOW, jobs, {name: SlurmNode(name, POWERED_DOWN) for name in NAMES})


class NoInstances:
    """EC2 without instances."""

    def view(self, expected: object = ()) -> Ec2View:
        return Ec2View(NOW, ())


def passes(store: Store, jobs: int) -> None:
    """Make passes until all comments are written."""
    while not all(backoff.reported for backoff in store.load().backoffs.values()):
        one_pass(store, NoInstances(), RefusedJobs(jobs), POLICY, NOW)  # type: ignore[arg-type]


def measure(folder: Path, jobs: int) -> float:
    """Print a row; return the processor seconds of this process and its commands."""
    store = Store(folder / "burst.db")
    store.save(State(), State(backoffs={n: Backoff(NOW + 600, 1, "CAPACITY", REASON) for n in range(1, jobs + 1)}))
    saves, wall, own_seconds = store.saves, time.perf_counter(), time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    passes(store, jobs)
    own_seconds, wall = time.process_time() - own_seconds, time.perf_counter() - wall
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    commands = used.ru_utime + used.ru_stime - children.ru_utime - children.ru_stime
    print(f"{own_seconds:8.2f} {commands:16.2f} {wall:8.2f} {store.saves - saves:8}", flush=True)
    store.close()
    return own_seconds + commands


def values(jobs: int = JOBS) -> dict[str, float]:
    """Measure the passes; print a row."""
    with tempfile.TemporaryDirectory(prefix="landbridge-comments-") as name:
        folder = Path(name)
        program = folder / "scontrol"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        before = os.environ["PATH"]
        os.environ["PATH"] = f"{folder}:{before}"
        print(f"{jobs} comments\n{'CPU s':>8} {'commands CPU s':>16} {'wall s':>8} {'writes':>8}")
        try:
            seconds = measure(folder, jobs)
        finally:
            os.environ["PATH"] = before
    return {f"comments of {jobs:,} refused jobs: CPU s": seconds}


def main() -> int:
    """Return 0 if the passes are within the limit."""
    return 0 if show_limits(read_limits({"comments"}), calibration.values_with([values])) else 1


if __name__ == "__main__":
    sys.exit(main())
