"""Benchmark of the comments of 4,000 refused jobs: reconcile passes with a real journal and a scontrol that does nothing.

`python -m bench.burst.comments` prints two rows: one command and one write of the journal for each job, and the passes of
the burst controller. "CPU s" is the process's own time, "commands' CPU s" that of scontrol.
"""

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.burst.reconcile import NAMES, NOW, POLICY, POWERED_DOWN
from bench.limits import Limit, show_limits
from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.journal.store import Store
from landbridge.burst.model import (
    Backoff,
    BurstPolicy,
    Ec2View,
    JobComment,
    SlurmJob,
    SlurmNode,
    SlurmView,
    State,
)
from landbridge.burst.slurm import slurm

JOBS = 4_000
MAX_CPU_SECONDS = 2.0
REASON = "p5.48xlarge/use1-az4/on-demand: InsufficientInstanceCapacity"


class RefusedJobs:
    """Slurm with pending jobs; comments are written by the real adapter."""

    comment = staticmethod(slurm.comment)

    def view(self, policy: BurstPolicy, need_pending: bool = True, need_address: object = ()) -> SlurmView:
        jobs = {number: SlurmJob(number, "PENDING", partition="p5", account="vision") for number in range(1, JOBS + 1)}
        return SlurmView(NOW, jobs, {name: SlurmNode(name, POWERED_DOWN) for name in NAMES})


class NoInstances:
    """EC2 without instances."""

    def view(self) -> Ec2View:
        return Ec2View(NOW, ())


def one_by_one(store: Store) -> None:
    """Write one comment with one command, then the journal, for each job."""
    state = store.load()
    for number, backoff in state.backoffs.items():
        slurm.comment([JobComment(number, str(number), REASON, backoff.until)])
        after = replace(state, backoffs={**state.backoffs, number: replace(backoff, reported=True)})
        store.save(state, after)
        state = after


def passes(store: Store) -> None:
    """Make passes until all comments are written."""
    while not all(backoff.reported for backoff in store.load().backoffs.values()):
        one_pass(store, NoInstances(), RefusedJobs(), POLICY, NOW)  # type: ignore[arg-type]


def measure(name: str, write: Callable[[Store], None], folder: Path) -> float:
    """Print a row; return the processor seconds of this process and its commands."""
    store = Store(folder / f"{write.__name__}.db")
    store.save(State(), State(backoffs={n: Backoff(NOW + 600, 1, "CAPACITY", REASON) for n in range(1, JOBS + 1)}))
    saves, wall, own_seconds = store.saves, time.perf_counter(), time.process_time()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    write(store)
    own_seconds, wall = time.process_time() - own_seconds, time.perf_counter() - wall
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    commands = used.ru_utime + used.ru_stime - children.ru_utime - children.ru_stime
    if not all(backoff.reported for backoff in store.load().backoffs.values()):
        raise RuntimeError(f"{name}: jobs without a comment")
    print(f"{own_seconds:8.2f} {commands:16.2f} {wall:8.2f} {store.saves - saves:8}  {name}", flush=True)
    store.close()
    return own_seconds + commands


def limits() -> list[Limit]:
    """Measure both ways; print a row for each."""
    with tempfile.TemporaryDirectory(prefix="landbridge-comments-") as name:
        folder = Path(name)
        program = folder / "scontrol"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        before = os.environ["PATH"]
        os.environ["PATH"] = f"{folder}:{before}"
        print(f"{JOBS} comments\n{'CPU s':>8} {'commands CPU s':>16} {'wall s':>8} {'writes':>8}")
        try:
            measure("a command and a write for each job", one_by_one, folder)
            seconds = measure("passes", passes, folder)
        finally:
            os.environ["PATH"] = before
    return [Limit(f"comments of {JOBS:,} refused jobs", seconds, MAX_CPU_SECONDS, "CPU s with commands")]


def main() -> int:
    """Return 0 if the passes are within the limit."""
    return 0 if show_limits(limits()) else 1


if __name__ == "__main__":
    sys.exit(main())
