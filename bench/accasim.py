"""AccaSim, a simulator of HPC queues in Python, as a peer of the replay: its package in a separate Python, and its files."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measure import Contender
from landbridge.paths import cache_dir

if TYPE_CHECKING:
    from landbridge.simulation.result import SimulatedJob

VERSION = "1.1.3"
NAME = f"AccaSim {VERSION}, EASY backfill"
#: Program that its Python runs. The release is of 2021: it imports from collections what Python 3.10 moved to collections.abc.
PROGRAM = """
import collections, collections.abc, logging, os, sys
collections.Mapping = collections.abc.Mapping
from accasim.base.allocator_class import BestFit
from accasim.base.scheduler_class import EASYBackfilling
from accasim.base.simulator_class import Simulator
logging.disable(logging.CRITICAL)
os.chdir(sys.argv[1])
Simulator("jobs.swf", "system.json", EASYBackfilling(BestFit()), RESULTS_FOLDER_PATH=sys.argv[1] + "/results",
          statistics_output=False, show_statistics=False).start_simulation()
"""


class Unavailable(Exception):
    """Peer that cannot be measured on this machine; the message is the reason in one line."""


def install() -> Path:
    """Install AccaSim into the cache folder on first use, about 300 MB; return its Python. Raises Unavailable."""
    home = cache_dir("bench") / f"accasim-{VERSION}"
    python, stamp = home / "bin" / "python", home / "installed"
    if not stamp.is_file():
        print(f"installing accasim=={VERSION} once, in {home}", flush=True)
        shutil.rmtree(home, ignore_errors=True)
        _step(sys.executable, "-m", "venv", str(home))
        _step(str(python), "-m", "pip", "install", "-q", f"accasim=={VERSION}")
        stamp.touch()
    return python


def write_files(folder: Path, jobs: "Iterable[SimulatedJob]", nodes: int, gpus: int) -> None:
    """Write its files: the queue in the Standard Workload Format, and equal nodes; a GPU is a core."""
    (folder / "results").mkdir(parents=True, exist_ok=True)
    with (folder / "jobs.swf").open("w") as file:
        for number, job in enumerate(jobs, start=1):
            seconds, limit = max(int(job.seconds), 1), max(int(job.limit), 1)
            file.write(
                f"{number} {int(job.submitted)} -1 {seconds} {job.gpus} -1 -1 {job.gpus} {limit} -1 1 1 1 1 1 -1 -1 -1\n"
            )
    system = {
        "groups": {"g0": {"core": gpus}},
        "resources": {"g0": nodes},
        "start_time": 0,
        "equivalence": {"processor": {"core": 1}},
    }
    (folder / "system.json").write_text(json.dumps(system))


def contender(python: Path, folder: Path) -> Contender:
    """Return the command for the files in a folder."""
    return Contender(NAME, (str(python), "-c", PROGRAM, str(folder)))


def mean_wait(folder: Path) -> float:
    """Return the mean wait in seconds of its last run."""
    waits = []
    for line in (folder / "results" / "sched-jobs.swf").read_text().splitlines():
        queued, _, started = line.split("__")
        times = queued.split(";")[2], started.split(";")[0]
        submit, start = (datetime.fromisoformat(text) for text in times)
        waits.append((start - submit).total_seconds())
    return sum(waits) / len(waits) if waits else 0.0


def _step(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise Unavailable(lines[-1] if lines else f"{command[0]} ended with {done.returncode}")
