"""Replay of a queue once, on a site without AWS: `python -m bench.replay_once plain|hard|files QUEUE [FOLDER]`.

It prints the number of jobs and their mean wait in seconds; `files` writes AccaSim's files instead and prints the number.
"""

import sys
from pathlib import Path

from bench import accasim
from landbridge.burst.model import BurstPolicy
from landbridge.simulation.conditions import NO_CONDITIONS, Conditions
from landbridge.simulation.mapping import AccountMapping, simulated_jobs
from landbridge.simulation.replay import replay
from landbridge.simulation.result import SimulatedJob
from landbridge.simulation.scenario import Scenario
from landbridge.trace import read

NODES, GPUS = 8, 8
#: Failures, checkpoints and fair share together.
HARD = Conditions(mtbf_hours=1000.0, checkpoint_seconds=3600.0, half_life_hours=168.0)


def site_and_jobs(path: Path) -> tuple[Scenario, list[SimulatedJob]]:
    """Return a site without AWS, and the jobs of a queue that fit on it."""
    policy = BurstPolicy("bench", "us-east-1", {}, {})
    jobs = [job for job in read(path).jobs if job.gpus <= NODES * GPUS]
    return Scenario("bench", ((NODES, GPUS),), (), policy), simulated_jobs(jobs, policy, AccountMapping())


def main() -> None:
    """Replay the queue, or write AccaSim's files."""
    way, path = sys.argv[1], Path(sys.argv[2])
    if way == "files":
        _, jobs = site_and_jobs(path)
        accasim.write_files(Path(sys.argv[3]), jobs, NODES, GPUS)
        print(len(jobs))
        return
    conditions = HARD if way == "hard" else NO_CONDITIONS
    site, jobs = site_and_jobs(path)
    began = replay(site, jobs, bursting=False, conditions=conditions).began
    waits = [start - job.submitted for start, job in zip(began, jobs, strict=True) if start is not None]
    print(len(jobs), sum(waits) / len(waits))


if __name__ == "__main__":
    main()
