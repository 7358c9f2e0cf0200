"""A model's life with a pipeline that trains on both sites: the embedded level of the demonstration, with the real burst controller."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("life")
    command = [sys.executable, "-m", "sandbox.model_life", "--level", "embedded", "--json", str(folder / "life.json")]
    environ = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return dict(json.loads((folder / "life.json").read_text()))


def test_the_pipeline_trained_on_prem_and_with_the_nodes_full_in_aws(life: dict[str, Any]) -> None:
    outcomes = life["outcomes"]
    assert {step["state"] for step in life["steps"]} == {"done"}
    assert (outcomes["first run"]["trigger"], outcomes["second run"]["trigger"]) == ("digits:v1", "digits:v2")
    assert all(node.startswith("dgx") for node in outcomes["first run"]["nodes"])
    assert all(node.startswith("p5-") for node in outcomes["second run"]["nodes"])
    assert outcomes["second run"]["usd"] > 0


def test_the_version_of_the_second_run_became_champion_and_the_flawed_ones_were_rolled_back(
    life: dict[str, Any],
) -> None:
    outcomes = life["outcomes"]
    assert outcomes["better"]["action"] == "promote" and outcomes["champion"] == "2"
    flawed = ("wrong", "crashing", "late", "unsure")
    assert {outcomes[name]["action"] for name in flawed} == {"roll_back"}
    assert [outcomes[name]["errors"] for name in ("better", *flawed)] == [0] * 5


def test_a_registered_version_and_the_drift_started_runs(life: dict[str, Any]) -> None:
    outcomes = life["outcomes"]
    assert re.fullmatch(r"digits@candidate:1#1-[0-9a-f]{16}", outcomes["triggered by a model"])
    assert outcomes["retraining"]["trigger"].startswith("digits:") and int(outcomes["retrained"]) > 2
