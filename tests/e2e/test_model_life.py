"""A model's life as a whole: the demonstration's outcomes with a real MLflow, model servers and HAProxy."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CANARIES = ("better", "wrong", "crashing", "late", "unsure")


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("life") / "life.json"
    command = [sys.executable, "-m", "sandbox.model_life", "--json", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return dict(json.loads(path.read_text()))


def test_every_step_is_done(life: dict[str, Any]) -> None:
    assert {step["state"] for step in life["steps"]} == {"done"}


def test_the_better_version_becomes_champion_and_the_others_are_rolled_back(life: dict[str, Any]) -> None:
    outcomes = life["outcomes"]
    assert [outcomes[name]["action"] for name in CANARIES] == ["promote", *["roll_back"] * 4]
    assert outcomes["wrong"]["reason"].startswith("quality: candidate ")
    assert outcomes["crashing"]["reason"].startswith("no server of the candidate has been ready")
    assert outcomes["late"]["reason"].startswith("latency: candidate ")
    assert outcomes["unsure"]["reason"].startswith("drift: candidate ")
    first, better, *flawed = outcomes["versions"]
    assert outcomes["champion"] == better
    moves = [tuple(move) for move in outcomes["history"]]
    assert [move for move in moves if move[0] == "champion"] == [("champion", "", first), ("champion", first, better)]
    assert len(flawed) == 4 and {("staging", version, "") for version in flawed} <= set(moves)


def test_no_request_of_a_client_failed(life: dict[str, Any]) -> None:
    canaries = [life["outcomes"][name] for name in CANARIES]
    assert all(each["requests"] >= 400 and each["errors"] == 0 for each in canaries)


def test_folders_are_refused_at_load_with_the_reason(life: dict[str, Any]) -> None:
    refused = life["outcomes"]["refused"]
    assert "model.onnx does not match the SHA-256" in refused["tampered"]
    assert "the model is not signed" in refused["unsigned"]
    assert "its content is a pickle" in refused["pickle"]


def test_drift_wrote_the_trigger_of_a_retraining(life: dict[str, Any]) -> None:
    trigger = life["outcomes"]["trigger"]
    assert (trigger["model"], trigger["version"]) == ("digits", life["outcomes"]["champion"])
    assert "PSI" in trigger["reason"]
