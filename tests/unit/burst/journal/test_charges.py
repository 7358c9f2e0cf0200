"""Charges in the journal: written with the state that they explain, bounded, and copied by day."""

import json
import sqlite3
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from landbridge.burst.journal import charges as charge_table
from landbridge.burst.journal.database import VERSION
from landbridge.burst.journal.snapshot import read_snapshot, state_of
from landbridge.burst.journal.store import Store
from landbridge.burst.model import Charge, ChargeKey, ChargeKind, State
from landbridge.burst.model.errors import facts

KEY = ("2026-11", "vision", "p5")


def charge(day: str = "2026-11-25", job: int = 7, usd: float = 1.5, **fields: str) -> Charge:
    key = ChargeKey(day, "p5", "vision", job, ChargeKind.JOB, "p5.48xlarge")
    return Charge(replace(key, **fields), usd * 60, usd)


def grown(state: State, *charges: Charge) -> State:
    """Return the state after a pass with these charges."""
    spent = state.spent.get(KEY, 0.0) + sum(member.usd for member in charges)
    return replace(state, spent={KEY: spent}, charges=(*state.charges, *charges))


def days_of(store: Store) -> list[str]:
    return [member.key.day for member in store.load_with_charges()[1]]


def test_charges_with_the_same_key_are_added_up_and_not_loaded_with_the_state(store: Store) -> None:
    first = grown(store.load(), charge(), charge(job=8))
    store.save(State(), first)
    store.save(first, first)  # the outcome of an action: nothing new
    second = grown(first, charge(usd=2.0))
    store.save(first, second)
    state, charges = store.load_with_charges()
    assert state.charges == () == store.load().charges
    assert charges == [charge(usd=3.5), charge(job=8)] and state.spent == {KEY: 5.0}


@pytest.mark.parametrize("event", ["INSERT", "UPDATE"])
def test_a_failed_write_leaves_neither_the_spending_nor_its_charges(store: Store, event: str) -> None:
    before = grown(State(), charge())
    store.save(State(), before)
    trigger = f"CREATE TEMP TRIGGER full BEFORE {event} ON charges BEGIN SELECT RAISE(ABORT, 'full'); END"
    store._open().execute(trigger)
    with pytest.raises(sqlite3.IntegrityError, match="full"):
        store.save(before, grown(before, charge(usd=2.0)))
    state, charges = Store(store.path).load_with_charges()
    assert state.spent == {KEY: 1.5} and charges == [charge()]


def test_a_journal_of_an_earlier_release_gets_the_table_and_keeps_its_rows(store: Store) -> None:
    store.save(State(), State(spent={KEY: 4.0}))
    store.close()
    old = sqlite3.connect(store.path)
    old.execute("DROP TABLE charges")
    old.commit()
    assert old.execute("PRAGMA user_version").fetchone() == (VERSION,)
    old.close()
    assert store.load_with_charges() == (State(spent={KEY: 4.0}), [])
    before = store.load()
    store.save(before, grown(before, charge()))
    assert store.load().spent == {KEY: 5.5} and store.load_with_charges()[1] == [charge()]


def test_days_above_the_retention_are_deleted_when_a_new_day_begins(store: Store) -> None:
    today = date(2026, 11, 25)
    limit = int(facts()["charges"]["days"])
    before = [(today - timedelta(days=days)).isoformat() for days in (limit + 5, limit, limit - 1, 1)]
    first = grown(State(), *(charge(day) for day in before))
    store.save(State(), first)
    store.save(first, grown(first, charge(today.isoformat())))
    assert days_of(store) == [before[2], before[3], today.isoformat()]


def test_the_oldest_days_are_deleted_above_the_number_of_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(facts()["charges"], "rows", 5)
    state = State()
    for day in ("2026-11-21", "2026-11-22", "2026-11-23"):
        after = grown(state, charge(day, 1), charge(day, 2))
        store.save(state, after)
        state = after
    assert days_of(store) == ["2026-11-22"] * 2 + ["2026-11-23"] * 2
    store.save(state, grown(state, *(charge("2026-11-24", job) for job in range(1, 9))))
    assert days_of(store) == ["2026-11-24"] * 8  # never the newest day


def test_only_changed_days_are_copied_again(store: Store, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    first = grown(State(), charge("2026-11-24"), charge("2026-11-25"))
    store.save(State(), first)
    store.snapshot(copy)
    folder = copy / "burst-charges"
    assert sorted(path.name for path in folder.iterdir()) == ["2026-11-24.json", "2026-11-25.json"]
    (folder / "2026-11-24.json").write_text("[]")  # would be written again if its day had changed
    (folder / "2025-01-01.json").write_text("[]")  # a day that the journal has deleted
    second = grown(first, charge("2026-11-25", 9))
    store.save(first, second)
    store.snapshot(copy)
    assert (folder / "2026-11-24.json").read_text() == "[]" and not (folder / "2025-01-01.json").exists()
    assert len(json.loads((folder / "2026-11-25.json").read_text())) == 2
    Store(store.path).snapshot(copy)  # a new process does not know what has been copied
    assert [member.key.day for member in charge_table.read_copy(copy)] == ["2026-11-24", "2026-11-25", "2026-11-25"]


def test_a_day_that_could_not_be_copied_is_copied_by_the_next_snapshot(store: Store, tmp_path: Path) -> None:
    first = grown(State(), charge("2026-11-24"))
    store.save(State(), first)
    store.snapshot(tmp_path / "copy")
    store.save(first, grown(first, charge("2026-11-25")))
    (tmp_path / "copy" / "burst-charges" / "2026-11-25.json").mkdir()  # an obstacle for the rename
    with pytest.raises(OSError):
        store.snapshot(tmp_path / "copy")
    (tmp_path / "copy" / "burst-charges" / "2026-11-25.json").rmdir()
    store.snapshot(tmp_path / "copy")
    assert len(charge_table.read_copy(tmp_path / "copy")) == 2


def test_the_other_controller_continues_with_the_charges_of_the_copy(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    first, second = Store(tmp_path / "one.db"), Store(tmp_path / "two.db")
    second.save(State(), grown(State(), charge(job=1)))
    first.take_lease("ctl01", 1000.0, 60.0)
    first.save(State(), grown(State(), charge(job=7), charge(job=8)))
    first.snapshot(shared)
    assert second.restore(shared)
    assert second.load_with_charges() == first.load_with_charges()
    copy = read_snapshot(shared)
    assert (state_of(copy), list(copy.charges)) == first.load_with_charges()
    second.save(second.load(), replace(second.load(), charges=(charge(job=7),)))
    second.snapshot(shared)
    assert list(read_snapshot(shared).charges) == [charge(job=7, usd=3.0), charge(job=8)]


def test_a_copy_of_an_earlier_release_and_a_damaged_day_have_no_charges(store: Store, tmp_path: Path) -> None:
    store.take_lease("ctl01", 1000.0, 60.0)
    store.save(State(), grown(State(), charge("2026-11-24"), charge("2026-11-25")))
    store.snapshot(tmp_path)
    for text in ("{", "[1]", '[["2026-11-25"]]', '[["2026-11-25", "p5", "vision", 7, "free", "", 1, 1, 0]]'):
        (tmp_path / "burst-charges" / "2026-11-25.json").write_text(text)
        assert [member.key.day for member in read_snapshot(tmp_path).charges] == ["2026-11-24"]
    for path in (tmp_path / "burst-charges").iterdir():
        path.unlink()
    (tmp_path / "burst-charges").rmdir()
    other = Store(tmp_path / "other.db")
    assert other.restore(tmp_path) and other.load_with_charges() == (store.load(), [])


@pytest.mark.parametrize("text", ["{", "[]", '{"orders": []}', '{"orders": 1, "facts": [], "lease": []}'])
def test_a_file_that_is_no_copy_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "burst-journal.json").write_text(text)
    with pytest.raises(ValueError, match="not a copy of a journal"):
        read_snapshot(tmp_path)
