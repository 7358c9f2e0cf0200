"""Steps of the demonstration's pipeline, run as jobs: `python -m sandbox.model_life.steps train|evaluate DATASETS`.

The results are in $LANDBRIDGE_RUN_FOLDER: the model folder, and metrics.json for the gate. `landbridge model register` is the third step.
"""

import json
import os
import sys
from pathlib import Path

from sandbox.model_life import digits

ROWS = "rows"


def main(step: str, datasets: str) -> int:
    """Run a step."""
    folder = Path(os.environ["LANDBRIDGE_RUN_FOLDER"])
    if step == "train":
        versions = sorted((Path(datasets) / digits.DATASET).iterdir(), key=lambda path: path.stat().st_mtime)
        rows = int((versions[-1] / ROWS).read_text())
        # A retraining with the same images begins with other weights: equal files would be the version that is there.
        start = digits.SEED + (os.environ["LANDBRIDGE_TRIGGER"].partition(":")[0] == "drift")
        # A requeued job finds the folder of its first start.
        accuracy = digits.train(
            folder / f"model-{os.environ['SLURM_RESTART_COUNT']}", folder, passes=60, rows=rows, start=start
        )
        (folder / "model").unlink(missing_ok=True)
        (folder / "model").symlink_to(f"model-{os.environ['SLURM_RESTART_COUNT']}")
        print(f"trained with {rows} images of {versions[-1].name} on {os.environ['SLURMD_NODENAME']}: {accuracy:.3f}")
        return 0
    manifest = json.loads((folder / "model" / "model.json").read_text())
    (folder / "metrics.json").write_text(json.dumps({"accuracy": manifest["metrics"]["accuracy"]}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
