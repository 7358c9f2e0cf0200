"""Training loop of a job: `python -m tests.unit.checkpoints_of_jobs.trainer JSON`. It prints the loss of each step.

Gradient descent on fixed points; the state is three numbers, written as two files in two folders. `pause_at`: after this
step and the last upload it prints "paused" and waits for the end.
"""

import json
import sys
from pathlib import Path
from typing import Any

from landbridge_checkpoints import CheckpointStore, StopSignals

POINTS = [(x / 10, 2.0 * x / 10 - 0.7 + (-1) ** x * 0.1) for x in range(40)]
PADDING = b"layer" * 50_000


def train_step(state: dict[str, float], step: int) -> tuple[dict[str, float], float]:
    """Return the new state and the loss of one point; the point depends on the step alone."""
    x, y = POINTS[step * 7 % len(POINTS)]
    error = state["slope"] * x + state["offset"] - y
    moment = 0.9 * state["moment"] + error * x
    return {
        "slope": state["slope"] - 0.01 * moment,
        "offset": state["offset"] - 0.05 * error,
        "moment": moment,
    }, error**2


def save(folder: Path, state: dict[str, float]) -> None:
    """Write the state as a sharded checkpoint has it: files in folders, one empty folder."""
    (folder / "shards/0").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "shards/0/.metadata").write_bytes(PADDING)
    (folder / "state.json").write_text(json.dumps(state))


def main(words: dict[str, Any]) -> None:
    """Train up to step `steps`, with a checkpoint every `every` steps."""
    store = CheckpointStore(words["run"], local=words["local"], shared=words.get("shared"), keep=words.get("keep", 3))
    state, done = {"slope": 0.0, "offset": 0.0, "moment": 0.0}, 0
    with StopSignals() as stop:
        if restored := store.restore(wait=60):
            state, done = json.loads((restored.path / "state.json").read_text()), restored.step
        for step in range(done + 1, int(words["steps"]) + 1):
            state, loss = train_step(state, step)
            print(f"step {step} loss={loss!r}", flush=True)
            if stop.requested or step % words["every"] == 0:
                with store.writing(step, {"loss": loss}) as folder:
                    save(folder, state)
            if stop.requested:
                break
            if step == words.get("pause_at"):
                store.finish(60)
                print("paused", flush=True)
                stop.wait(3600)
        print("finished" if store.finish(60) else "not sent", flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
