"""The steps by which Slurm's reservations become the calendar of an environment's Capacity Blocks."""

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
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def moment(at: int | None) -> str | None:
    return None if at is None else time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at))


def one(starts: int | None, ends: int | None, nodes: str = "p5-[1-4]") -> dict[str, Any]:
    return {"name": NAME, "nodes": nodes, "starts": moment(starts), "ends": moment(ends)}


def shown(starts: int, ends: int, nodes: str = "p5-[1-4]", name: str = NAME) -> dict[str, Any]:
    """As scontrol tells it, in the way of the newer releases."""
    when = {"set": True, "infinite": False}
    return {
        "name": name,
        "node_list": nodes,
        "start_time": {**when, "number": starts},
        "end_time": {**when, "number": ends},
        "flags": ["IGNORE_JOBS", "OVERLAP", "SPEC_NODES"],
    }


def steps(module: ModuleType, wanted: list[dict[str, Any]], *present: dict[str, Any]) -> Any:
    found = module.parse(json.dumps({"reservations": list(present)}), PREFIX)
    return module.plan(wanted, found, NOW, lambda first, other: first == other)


def test_what_is_missing_is_made_for_nobody_and_over_running_jobs(module: ModuleType) -> None:
    (made,) = steps(module, [one(NOW + DAY, NOW + 2 * DAY)])
    assert made[:3] == ["create", f"ReservationName={NAME}", "Nodes=p5-[1-4]"]
    assert made[3:5] == ["StartTime=2027-01-16T08:00:00", "EndTime=2027-01-17T08:00:00"]
    assert made[5:] == ["Users=root", "Flags=IGNORE_JOBS,OVERLAP"] and "MAINT" not in str(made)


def test_from_now_and_without_an_end(module: ModuleType) -> None:
    (made,) = steps(module, [one(None, None)])
    assert made[3:5] == ["StartTime=now", "Duration=infinite"]
    (late,) = steps(module, [one(NOW - DAY, NOW + DAY)])
    assert late[3] == "StartTime=now", "Slurm takes no start in the past"


def test_a_second_run_does_nothing(module: ModuleType) -> None:
    assert steps(module, [one(NOW + DAY, NOW + 2 * DAY)], shown(NOW + DAY, NOW + 2 * DAY)) == []
    assert steps(module, [one(None, NOW + DAY)], shown(NOW - DAY, NOW + DAY)) == []
    assert steps(module, [one(NOW - DAY, None)], shown(NOW - DAY, NOW + 364 * DAY)) == []


def test_what_is_otherwise_is_changed_and_what_has_begun_keeps_its_beginning(module: ModuleType) -> None:
    future = one(NOW + 2 * DAY, NOW + 3 * DAY, "p5-[1-8]")
    (changed,) = steps(module, [future], shown(NOW + DAY, NOW + 2 * DAY))
    assert changed[2:] == ["Nodes=p5-[1-8]", "StartTime=2027-01-17T08:00:00", "EndTime=2027-01-18T08:00:00"]
    (longer,) = steps(module, [one(NOW + DAY, NOW + 3 * DAY)], shown(NOW - DAY, NOW + 2 * DAY))
    assert longer[2:] == ["EndTime=2027-01-18T08:00:00"]
    (again,) = steps(module, [one(NOW - DAY, None)], shown(NOW - DAY, NOW + DAY))
    assert again[2:] == ["Duration=infinite"], "a year of Slurm's forever is nearly over"
    (sooner,) = steps(module, [one(None, NOW + 2 * DAY)], shown(NOW + DAY, NOW + 2 * DAY))
    assert sooner[2:] == ["StartTime=now"]


def test_ours_that_nobody_names_go_and_others_stay(module: ModuleType) -> None:
    other = shown(NOW, NOW + DAY, name="maintenance")
    assert steps(module, [], shown(NOW, NOW + DAY), other) == [["delete", f"ReservationName={NAME}"]]


def test_what_is_over_is_not_made_and_goes_where_it_is(module: ModuleType) -> None:
    assert steps(module, [one(NOW - 2 * DAY, NOW - DAY)]) == []
    assert steps(module, [one(None, NOW - DAY)], shown(NOW - DAY, NOW - 1)) == [["delete", f"ReservationName={NAME}"]]


def test_older_releases_write_plain_numbers_and_none_at_all_is_none(module: ModuleType) -> None:
    plain = {**shown(0, 0), "start_time": NOW + DAY, "end_time": NOW + 2 * DAY}
    assert steps(module, [one(NOW + DAY, NOW + 2 * DAY)], plain) == []
    assert module.parse("", PREFIX) == {} and module.parse('{"reservations": null}', PREFIX) == {}
