"""Rank of a training job without GPUs: `python -m tests.unit.checkpoints_of_jobs.rank JSON`.

It writes its part of a checkpoint as PyTorch DCP does: `__RANK_0.distcp`, and `.metadata` by the first rank. The token passes
through a file. `killed_at`: step in whose checkpoint the process kills itself, after its file was written.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from landbridge_checkpoints import ShardedCheckpoints

from sandbox.demo.cluster import wait_for


def train_step(value: float, rank: int, step: int) -> float:
    """Return the new state of a rank; it depends on the state before, the rank and the step alone."""
    return value + (rank + 1.0 / step - value) / 4


def write_part(folder: Path, rank: int, value: float) -> None:
    """Write the files of a rank."""
    (folder / f"__{rank}_0.distcp").write_text(json.dumps(value) + " " * 50_000)
    if rank == 0:
        (folder / ".metadata").write_text("metadata")


def main(words: dict[str, Any]) -> None:
    """Train up to step `steps`, with a checkpoint every three steps."""
    rank, token = int(words["rank"]), Path(words["token"])
    store = ShardedCheckpoints(words["run"], rank=rank, ranks=words["ranks"], local=words["local"])
    if rank == 0:
        incoming = token.with_suffix(".new")
        incoming.write_text(store.open(wait=60))
        incoming.rename(token)
    else:
        wait_for("the token", token.exists, bool)
        store.open(token.read_text())
    restored, value, done = store.restore(wait=60), 0.0, 0
    if restored:
        value, done = json.loads((restored.path / f"__{rank}_0.distcp").read_text()), restored.step
    for step in range(done + 1, int(words["steps"]) + 1):
        value = train_step(value, rank, step)
        if step % 3 == 0:
            with store.writing(step, {"value": value}) as folder:
                write_part(folder, rank, value)
                if step == words.get("killed_at"):
                    os.kill(os.getpid(), signal.SIGKILL)
            print("finished" if store.finish(words["timeout"]) else "not complete", step, flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
