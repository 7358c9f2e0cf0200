"""Growth of `landbridge check` with the number of pools, and its time by phase."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import environments
from bench.measure import Contender, Figures

SIZES = (50, 100, 200, 500)


def name(pools: int) -> str:
    """Return the name of a size in the tables."""
    return f"check, {pools} pools"


def contenders(landbridge: str, folder: Path) -> list[Contender]:
    """Return one contender for each size; their files are written to `folder`."""
    return [Contender(name(pools), (landbridge, "check", "-f", str(file(folder, pools)))) for pools in SIZES]


def file(folder: Path, pools: int) -> Path:
    """Write an environment with `pools` pools, and return its path."""
    path = folder / f"Pulumi.pools{pools}.yaml"
    path.write_text(environments.text(pools))
    return path


def show(figures: dict[str, Figures], folder: Path) -> None:
    """Print a row for each size: the whole process, the cost of each further pool, and the phases."""
    print(f"{'pools':>6} {'median s':>9} {'peak MiB':>9} {'ms/pool':>8} {'ms/pool more':>13}   inside, s: ", end="")
    print("imports   yaml  model  rules   slowest rules")
    previous: tuple[int, float] | None = None
    for pools in SIZES:
        figure = figures[name(pools)]
        increment = "" if previous is None else f"{1000 * (figure.median - previous[1]) / (pools - previous[0]):.2f}"
        inside = _inside(folder / f"Pulumi.pools{pools}.yaml")
        spent = " ".join(f"{inside['seconds'][phase]:6.3f}" for phase in ("imports", "yaml", "model", "rules"))
        slowest = ", ".join(f"{rule} {1000 * took:.0f} ms" for rule, took in inside["slowest"].items())
        row = (
            f"{pools:6} {figure.median:9.3f} {figure.peak_mib:9.1f} {1000 * figure.median / pools:8.2f} {increment:>13}"
        )
        print(f"{row}              {spent}   {slowest}")
        previous = pools, figure.median


def _inside(path: Path) -> Any:
    completed = subprocess.run(
        [sys.executable, "-m", "bench.phases", str(path)], capture_output=True, text=True, check=True
    )
    return json.loads(completed.stdout)
