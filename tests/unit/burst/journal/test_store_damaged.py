"""A journal that was cut off, damaged, removed or of another version: it starts empty, and the old file is kept."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.burst.journal.store import Store
from landbridge.burst.model import State
from tests.unit.burst.journal.journals import FULL

WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from landbridge.burst.model import BudgetHold, State
from landbridge.burst.journal.store import Store
from tests.unit.burst.journal.journals import attempt

store = Store(Path(sys.argv[1]))
state = store.load()
print("ready", flush=True)
for number in range(int(sys.argv[2]), 10**9):
    token = f"lb-{number}"
    keep = dict(list(state.attempts.items())[-20:]) | {token: attempt(token)}
    after = replace(state, attempts=keep, holds={key: BudgetHold("a", "p5", 1.0, 1.0, 2.0) for key in keep})
    store.save(state, after)
    state = after
    print(token, flush=True)
"""


def test_a_save_killed_at_any_time_is_complete_or_absent(tmp_path: Path) -> None:
    path, rng = tmp_path / "burst.db", random.Random(7)
    for turn in range(6):
        command = [sys.executable, "-c", WRITER, str(path), str(turn * 1_000_000)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[4])
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0.0, 0.1))
        process.send_signal(signal.SIGKILL)
        saved_tokens = process.stdout.read().split()
        process.wait()
        process.stdout.close()
        store = Store(path)
        state = store.load()
        assert set(state.attempts) == set(state.holds)
        if saved_tokens:  # a save that has returned is on disk
            assert saved_tokens[-1] in state.attempts or len(saved_tokens) < 2
        store.close()
    assert not list(tmp_path.glob("*.damaged-*"))


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be looked at" * 50, b"SQLite format 3\0" + b"\xff" * 8192]
)
def test_a_damaged_journal_starts_empty_and_is_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "burst.db"
    path.write_bytes(content)
    store = Store(path)
    assert store.load() == State()
    store.save(State(), FULL)
    assert Store(path).load() == FULL
    (backup,) = tmp_path.glob("burst.db.damaged-*[0-9]")
    assert backup.read_bytes() == content


def test_a_journal_with_damaged_pages_starts_empty_and_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "burst.db"
    store = Store(path)
    store.save(State(), replace(FULL, terminated_at={f"i-{n:017x}": float(n) for n in range(3000)}))
    store.close()
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        for offset in range(4096, size, 4096):
            file.seek(offset)
            file.write(b"\xa5" * 2048)
    assert Store(path).load() == State()
    assert len(list(tmp_path.glob("burst.db.damaged-*[0-9]"))) == 1


def test_a_journal_of_another_version_is_kept_aside(store: Store) -> None:
    store.save(State(), FULL)
    store.close()
    connection = sqlite3.connect(store.path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    assert Store(store.path).load() == State()
    assert list(store.path.parent.glob("*.damaged-*"))


def test_a_row_of_another_version_is_left_out(store: Store) -> None:
    store.save(State(), FULL)
    connection = sqlite3.connect(store.path)
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('attempts', 'lb-1', '{\"token\": \"lb-1\", \"new\": 1}')")
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('backoffs', 'x', '{}')")
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('weather', 'x', 'not json')")
    connection.commit()
    connection.close()
    assert store.load() == replace(FULL, attempts={"lb-2": FULL.attempts["lb-2"]})


def test_a_deleted_journal_is_created_again(store: Store) -> None:
    store.save(State(), FULL)
    for path in store.path.parent.glob("burst.db*"):
        path.unlink()
    assert store.load() == State()
    store.append("resume", ["p5-1"], {}, 1.0)
    assert len(Store(store.path).load().orders) == 1
