"""A model's life with the lab's cluster: `make demo-mlops LEVEL=full`, with real Slurm jobs on-prem and in the emulated AWS, twice on one lab."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox.demo.bring_up import BringUp

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.lab, pytest.mark.engine, pytest.mark.slow, pytest.mark.long]


def life(folder: Path) -> dict[str, Any]:
    """Run the demonstration as its user does, and return its outcomes."""
    path = folder / "life.json"
    command = [sys.executable, "-m", "sandbox.model_life", "--level", "full", "--json", str(path)]
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    shown = json.loads(path.read_text())
    assert {step["state"] for step in shown["steps"]} == {"done"}
    return dict(shown["outcomes"])


def test_the_pipeline_trains_at_both_sites_and_a_second_demonstration_makes_its_own_runs(
    deployment: BringUp, tmp_path: Path
) -> None:
    triggers = []
    for _ in range(2):
        outcomes = life(tmp_path)
        assert all(node.startswith("dgx") for node in outcomes["first run"]["nodes"])
        assert all(node.startswith("p5-") for node in outcomes["second run"]["nodes"])
        assert outcomes["first run"]["usd"] > 0 and outcomes["second run"]["usd"] > 0
        assert (outcomes["better"]["action"], outcomes["champion"]) == ("promote", "2")
        flawed = ("wrong", "crashing", "late", "unsure")
        assert {outcomes[name]["action"] for name in flawed} == {"roll_back"}
        assert [outcomes[name]["errors"] for name in ("better", *flawed)] == [0] * 5
        assert len(outcomes["refused"]) == 3 and int(outcomes["retrained"]) > 2
        triggers += [outcomes["first run"]["trigger"], outcomes["second run"]["trigger"]]
    assert len(set(triggers)) == 4
