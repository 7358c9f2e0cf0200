"""Recorded runs of both examples on one H100 (2026-11-26): kills, other numbers of ranks, losses, and damaged checkpoints."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

RECORDED = json.loads((Path(__file__).parent / "recorded/h100.json").read_text())
CHAINS = {"dcp": (7, 1e-4), "orbax": (3, 0.0)}


@pytest.mark.parametrize("kind", CHAINS)
def test_each_start_goes_on_after_the_newest_complete_checkpoint(kind: str) -> None:
    chain: dict[str, Any] = RECORDED[kind]
    kills, _ = CHAINS[kind]
    starts = chain["starts"]
    assert chain["kills"] == kills == sum(start["killed"] is not None for start in starts)
    for before, start in itertools.pairwise(starts):
        assert start["newest_before"] == before["published"][-1] == before["in_bucket_after"][-1]
        assert start["first"] == start["newest_before"] + 1
        assert start["restored"][0].startswith(f"restored step {start['newest_before']} with ")
        # A checkpoint that was announced is never lost; at most three are kept.
        assert len(start["in_bucket_after"]) <= 3
    assert starts[-1]["finished"] and set(starts[-1]["codes"]) == {0}
    if kind == "dcp":
        assert all(before["ranks"] != start["ranks"] for before, start in itertools.pairwise(starts))
        assert {start["killed"] for start in starts[:-1]} == {"all ranks", "rank 3", "rank 0"}


@pytest.mark.parametrize("kind", CHAINS)
def test_the_losses_are_those_of_an_undisturbed_run(kind: str) -> None:
    whole, resumed = RECORDED[kind]["whole"], RECORDED[kind]["resumed"]
    assert list(whole) == [str(step) for step in range(1, len(whole) + 1)] and set(whole) == set(resumed)
    _, tolerance = CHAINS[kind]
    differences = [abs(float(whole[step]) - float(resumed[step])) / float(whole[step]) for step in whole]
    assert max(differences) <= tolerance and float(whole["1"]) > 1.5 * float(whole[str(len(whole))])


def test_damaged_checkpoints_were_refused() -> None:
    outcomes = RECORDED["damages"]["dcp"]
    assert outcomes["whole"]["restored_step"] == outcomes["whole again"]["restored_step"] == 48
    for case in ("one bit", "truncated"):
        assert "does not match its SHA-256" in outcomes[case]["refused"]
        assert outcomes[f"{case}, next start"]["restored_step"] == 40
    for case in ("block absent", "manifest cut", "no manifest, as after a rank that was killed"):
        assert outcomes[case]["restored_step"] == 40
