"""Benchmark of a reading of Slurm, in processor seconds without those of Slurm's commands, a line for each situation.

`python -m bench.burst.read`
"""

import os
import tempfile
import time
from pathlib import Path

from bench.burst.reconcile import NODES, POLICY
from bench.burst.site import recorded_job, write_scripts
from landbridge.burst.slurm import slurm

PENDING_JOBS, RUNNING_JOBS = 15_000, 6_000


def prepare(folder: Path, pending: int, running: int) -> None:
    """Write the answers of a Slurm with `NODES` nodes, of which the first `running` have a job each."""
    write_scripts(folder)
    jobs = [recorded_job({"JobID": n, "State": "PENDING", "NodeList": ""}) for n in range(1, pending + 1)]
    jobs += [
        recorded_job({"JobID": pending + n, "State": "RUNNING", "NodeList": f"p5-{n}"}) for n in range(1, running + 1)
    ]
    states = [(range(1, running + 1), "allocated+cloud"), (range(running + 1, NODES + 1), "idle+cloud+powered_down")]
    (folder / "now").mkdir(exist_ok=True)
    (folder / "now" / "squeue.txt").write_text("".join(jobs))
    (folder / "now" / "sinfo.txt").write_text(
        "".join(f"p5-[{part.start}-{part.stop - 1}] {state}\n" for part, state in states if part)
    )


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="landbridge-read-") as name:
        os.environ["PATH"] = f"{name}/bin:{os.environ['PATH']}"
        for pending, running in ((0, 0), (PENDING_JOBS, 0), (0, RUNNING_JOBS)):
            prepare(Path(name), pending, running)
            began = time.process_time()
            view = slurm.view(POLICY, all_pending=True)
            seconds = time.process_time() - began
            if (len(view.nodes), len(view.jobs)) != (NODES, pending + running):
                raise AssertionError(f"{len(view.nodes)} nodes and {len(view.jobs)} jobs were read")
            print(f"{seconds:.3f} {pending:,} pending and {running:,} running jobs", flush=True)


if __name__ == "__main__":
    main()
