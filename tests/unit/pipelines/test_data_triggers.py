"""Triggers by datasets: partitions of a day each, and an owner who empties the folder of ended runs."""

from pathlib import Path
from typing import Any

import pytest

from landbridge.pipelines.runs.names import run_name
from landbridge.pipelines.service.store import MAX_PAST, RunStore
from tests.unit.pipelines.pipeline_world import World, source

STEPS = [{"name": "train", "inputs": [{"kind": "dataset", "dataset": "days"}]}]


def definition(*, each: bool) -> dict[str, Any]:
    trigger = {"kind": "dataset", "dataset": "days", **({"each": True} if each else {})}
    return {**source(STEPS, triggers=[trigger]).to_json(), "registered": 6_000.0, "datasets": ["days"]}


@pytest.mark.parametrize(("each", "keys"), [(False, ["days:d-28"]), (True, ["days:d-27", "days:d-28"])])
def test_versions_that_are_complete_together_start_one_run_or_one_each(each: bool, keys: list[str]) -> None:
    world = World(versions={"days": {"d-26": 5_000.0, "d-28": 7_001.0, "d-27": 7_000.0}})
    world.definitions["digits"] = definition(each=each)
    world.run(80)
    assert [record.request.key for record in world.ended.values()] == keys
    assert [dict(record.request.datasets) for record in world.ended.values()] == [
        {"days": key.removeprefix("days:")} for key in keys
    ]


@pytest.mark.parametrize("each", [False, True])
def test_a_folder_of_ended_runs_that_its_owner_empties_starts_no_run_again(each: bool) -> None:
    world = World(versions={"days": {"d-28": 7_000.0}})
    world.definitions["digits"] = definition(each=each)
    world.run(40)
    assert len(world.jobs) == 1 and world.ended.keys() == {run_name("digits", "dataset", "days:d-28")}
    world.ended.clear()
    world.run(40)
    assert len(world.jobs) == 1
    world.versions["days"]["d-29"] = world.now
    world.run(40)
    assert len(world.jobs) == 2


def test_the_journal_keeps_ended_runs_by_owner_and_forgets_the_oldest(tmp_path: Path) -> None:
    store, run = RunStore(tmp_path), run_name("digits", "hand", "1")
    assert store.remember("ann", {run: 5.0, "../other": 6.0}) == {run: 5.0}
    assert RunStore(tmp_path).remember("ann", {}) == {run: 5.0} and store.remember("bob", {}) == {}
    many = {run_name("digits", "hand", str(number)): float(number) for number in range(10, MAX_PAST + 11)}
    kept_runs = store.remember("ann", many)
    assert len(kept_runs) == MAX_PAST and run not in kept_runs and max(kept_runs.values()) == MAX_PAST + 10
    (tmp_path / "past" / "ann.json").write_text("{")
    assert store.remember("ann", {run: 5.0}) == {run: 5.0}
