"""Steps that change Slurm's reservations to the times of an environment's Capacity Blocks."""

import importlib.util
import json
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from landbridge.plan.slurm.reservations import PREFIX

PATH = Path(__file__).parents[3] / "ansible/roles/slurm_controller/library/slurm_reservations.py"
NOW = 1_800_000_000
DAY = 86_400
NAME = f"{PREFIX}p5-1"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("slurm_reservations", PATH)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def moment(at: int | None) -> str | None:
    return None if at is None else time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at))


def block(starts: int | None, ends: int | None, nodes: str = "p5-[1-4]") -> dict[str, Any]:
    return {"name": NAME, "nodes": nodes, "starts": moment(starts), "ends": moment(ends)}


def shown(starts: int, ends: int, nodes: str = "p5-[1-4]", name: str = NAME) -> dict[str, Any]:
    """Return a reservation as scontrol of newer releases shows it."""
    when = {"set": True, "infinite": False}
    return {
        "name": name,
        "node_list": nodes,
        "start_time": {**when, "number": starts},
        "end_time": {**when, "number": ends},
        "flags": ["IGNORE_JOBS", "OVERLAP", "SPEC_NODES"],
    }


def steps(module: ModuleType, expected: list[dict[str, Any]], *present: dict[str, Any]) -> Any:
    parsed = module.parse(json.dumps({"reservations": list(present)}), PREFIX)
    return module.plan(expected, parsed, NOW, lambda first, other: first == other)


def test_a_missing_reservation_is_created_for_root_despite_running_jobs(module: ModuleType) -> None:
    (created,) = steps(module, [block(NOW + DAY, NOW + 2 * DAY)])
    assert created[:3] == ["create", f"ReservationName={NAME}", "Nodes=p5-[1-4]"]
    assert created[3:5] == ["StartTime=2027-01-16T08:00:00", "EndTime=2027-01-17T08:00:00"]
    assert created[5:] == ["Users=root", "Flags=IGNORE_JOBS,OVERLAP"] and "MAINT" not in str(created)


def test_a_block_without_start_or_end_starts_now_and_is_infinite(module: ModuleType) -> None:
    (created,) = steps(module, [block(None, None)])
    assert created[3:5] == ["StartTime=now", "Duration=infinite"]
    (late,) = steps(module, [block(NOW - DAY, NOW + DAY)])
    assert late[3] == "StartTime=now", "Slurm accepts no start in the past"


def test_a_second_run_does_nothing(module: ModuleType) -> None:
    assert steps(module, [block(NOW + DAY, NOW + 2 * DAY)], shown(NOW + DAY, NOW + 2 * DAY)) == []
    assert steps(module, [block(None, NOW + DAY)], shown(NOW - DAY, NOW + DAY)) == []
    assert steps(module, [block(NOW - DAY, None)], shown(NOW - DAY, NOW + 364 * DAY)) == []


def test_a_difference_is_changed_but_not_a_start_in_the_past(module: ModuleType) -> None:
    future = block(NOW + 2 * DAY, NOW + 3 * DAY, "p5-[1-8]")
    (changed,) = steps(module, [future], shown(NOW + DAY, NOW + 2 * DAY))
    assert changed[2:] == ["Nodes=p5-[1-8]", "StartTime=2027-01-17T08:00:00", "EndTime=2027-01-18T08:00:00"]
    (longer,) = steps(module, [block(NOW + DAY, NOW + 3 * DAY)], shown(NOW - DAY, NOW + 2 * DAY))
    assert longer[2:] == ["EndTime=2027-01-18T08:00:00"]
    (extended,) = steps(module, [block(NOW - DAY, None)], shown(NOW - DAY, NOW + DAY))
    assert extended[2:] == ["Duration=infinite"], "the year that Slurm stores as infinite is nearly over"
    (sooner,) = steps(module, [block(None, NOW + 2 * DAY)], shown(NOW + DAY, NOW + 2 * DAY))
    assert sooner[2:] == ["StartTime=now"]


def test_only_landbridges_reservations_without_a_block_are_deleted(module: ModuleType) -> None:
    other = shown(NOW, NOW + DAY, name="maintenance")
    assert steps(module, [], shown(NOW, NOW + DAY), other) == [["delete", f"ReservationName={NAME}"]]


def test_an_ended_block_gets_no_reservation_and_an_existing_one_is_deleted(module: ModuleType) -> None:
    assert steps(module, [block(NOW - 2 * DAY, NOW - DAY)]) == []
    assert steps(module, [block(None, NOW - DAY)], shown(NOW - DAY, NOW - 1)) == [["delete", f"ReservationName={NAME}"]]


def test_plain_numbers_of_older_releases_and_empty_output_are_parsed(module: ModuleType) -> None:
    plain = {**shown(0, 0), "start_time": NOW + DAY, "end_time": NOW + 2 * DAY}
    assert steps(module, [block(NOW + DAY, NOW + 2 * DAY)], plain) == []
    assert module.parse("", PREFIX) == {} and module.parse('{"reservations": null}', PREFIX) == {}
