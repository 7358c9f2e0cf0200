"""Typed journal: orders of the programs, the controller's State, its lease and its decision records."""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from landbridge.burst.journal import charges as charge_table
from landbridge.burst.journal.database import CHARGES, VERSION, connect, reserve, version, write_order
from landbridge.burst.journal.paths import SNAPSHOT
from landbridge.burst.journal.rows import RowReader, RowTexts, differences, read_record, record_fields, text_of
from landbridge.burst.journal.snapshot import read_snapshot
from landbridge.burst.model import Charge, DecisionRecord, OrderKind, SlurmOrder, State
from landbridge.burst.slurm.resume_file import read_jobs, read_nodes, write_jobs
from landbridge.hostlist import compress

T = TypeVar("T")
LOCK_TIMEOUT_SECONDS = 10.0
MAX_RECORDS = 100_000


class Store:
    """SQLite journal in one file. If the file is missing, damaged or of another version, the journal starts empty; the
    old file is renamed.

    Several processes may have it open: programs and commands write rows, and `save` writes only the rows that it
    changes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.saves = 0  # count of saves with a change
        self._reader = RowReader()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._is_reserved = False
        self._loaded: tuple[tuple[int, int], State] | None = None  # the last state, and the changes before it
        self._days_to_copy: set[str] | None = None  # days with charges that the copy does not have; None: all

    def append(self, kind: OrderKind, nodes: Iterable[str], jobs: Mapping[int, tuple[str, ...]], at: float) -> None:
        """Append an order, in the form in which the programs write it."""
        names = compress(nodes)
        self._do(lambda connection: write_order(connection, kind, names, write_jobs(jobs), at))

    def load(self) -> State:
        return self._do(self._load)

    def load_with_charges(self) -> tuple[State, list[Charge]]:
        """Return the state and all charges, of the same time."""

        def act(connection: sqlite3.Connection) -> tuple[State, list[Charge]]:
            return self._read(connection), list(charge_table.read_charges(connection))

        return self._do(lambda connection: _transaction(connection, act, "DEFERRED"))

    def save(self, before: State, after: State) -> None:
        """Change the journal from `before` to `after` in one transaction that is on disk when this returns.

        The charges of `after` begin with those of `before`, which are in the journal already.
        """
        write, delete = differences(before, after)
        seqs = {order.seq for order in after.orders}
        completed = [(order.seq,) for order in before.orders if order.seq not in seqs]
        charges = after.charges[len(before.charges) :]
        if not (write or delete or completed or charges):
            return

        def act(connection: sqlite3.Connection) -> set[str]:
            _write(connection, write, delete)
            connection.executemany("DELETE FROM orders WHERE seq = ?", completed)
            return charge_table.add_charges(connection, charges)

        self._saved(self._do(lambda connection: _transaction(connection, act)))

    def update(self, change: Callable[[State], State]) -> State:
        """Change the journal by a function of its state, and return the new one: no other process writes in between."""

        def act(connection: sqlite3.Connection) -> tuple[State, set[str]]:
            before = self._read(connection)
            after = change(before)
            write, delete = differences(before, after)
            _write(connection, write, delete)
            return after, charge_table.add_charges(connection, after.charges[len(before.charges) :])

        state, days = self._do(lambda connection: _transaction(connection, act))
        self._saved(days)
        return state

    def take_lease(self, holder: str, now: float, seconds: float) -> bool:
        """Take the controller lease until `now + seconds`; return whether `holder` has it.

        A lease of another holder with a later end is ignored: it means that a clock went back.
        """

        def act(connection: sqlite3.Connection) -> bool:
            row = connection.execute("SELECT holder, until FROM lease").fetchone()
            if row is not None and row[0] != holder and now < row[1] <= now + seconds:
                return False
            connection.execute("INSERT OR REPLACE INTO lease VALUES (1, ?, ?)", (holder, now + seconds))
            return True

        return self._do(lambda connection: _transaction(connection, act))

    def lease(self) -> tuple[str, float] | None:
        """Return the active controller and its lease's end; None before the first pass."""
        row = self._do(lambda connection: connection.execute("SELECT holder, until FROM lease").fetchone())
        return (str(row[0]), float(row[1])) if row is not None else None

    def record(self, records: Iterable[DecisionRecord]) -> None:
        """Add decision records for `records`; the oldest above MAX_RECORDS are deleted."""
        new_records = tuple(records)
        if not new_records:
            return

        def act(connection: sqlite3.Connection) -> None:
            last = 0
            for record in new_records:
                row = connection.execute(
                    "INSERT INTO records (at, body) VALUES (?, ?)", (record.at, text_of(record_fields(record)))
                )
                last = row.lastrowid or 0
                rows = [(job, last) for job in set(record.jobs)]
                connection.executemany("INSERT OR IGNORE INTO record_jobs VALUES (?, ?)", rows)
            connection.execute("DELETE FROM records WHERE id <= ?", (last - MAX_RECORDS,))
            if last % 1000 < len(new_records):
                connection.execute("DELETE FROM record_jobs WHERE record <= ?", (last - MAX_RECORDS,))

        self._do(lambda connection: _transaction(connection, act))

    def records(self, job: int | None = None, limit: int = 100) -> tuple[DecisionRecord, ...]:
        """Return the last `limit` records, of one job if `job` is given; the oldest first."""
        query, values = "SELECT body FROM records ORDER BY id DESC LIMIT ?", (limit,)
        if job is not None:
            query = "SELECT body FROM records JOIN record_jobs ON record = id WHERE job = ? ORDER BY id DESC LIMIT ?"
            values = (job, limit)  # type: ignore[assignment]
        rows = self._do(lambda connection: connection.execute(query, values).fetchall())
        return tuple(record for (body,) in reversed(rows) if (record := read_record(body)) is not None)

    def snapshot(self, folder: Path) -> None:
        """Copy orders, state and lease to `folder` for the other controller of a pair. As JSON: the folder may be on
        NFS."""
        orders, rows, lease = self._do(_everything)
        text = json.dumps({"orders": orders, "facts": rows, "lease": lease})
        # Created by this process: NFS may squash root, so that no Ansible role can create the folder.
        folder.mkdir(mode=0o750, exist_ok=True)
        new = folder / f".{SNAPSHOT}.{os.getpid()}"
        with new.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(folder / SNAPSHOT)
        # After the state: a crash in between leaves spending without its items, never items twice.
        self._do(lambda connection: charge_table.write_copy(connection, folder, self._days_to_copy))
        self._days_to_copy = self._days_to_copy or set()

    def restore(self, folder: Path) -> bool:
        """Load the other controller's snapshot if that has acted later; return whether it was loaded. Its state
        replaces this journal's, its lease has to expire first, and the orders of both are kept.

        A damaged snapshot is ignored. Raise OSError for one that exists and cannot be read.
        """
        try:
            copy = read_snapshot(folder)
        except (FileNotFoundError, ValueError):
            return False

        def act(connection: sqlite3.Connection) -> bool:
            last = connection.execute("SELECT until FROM lease").fetchone()
            if last is not None and (not copy.lease or last[0] >= copy.lease[0][1]):
                return False
            own_orders = {tuple(row) for row in connection.execute("SELECT kind, nodes, resume, at FROM orders")}
            for order in copy.orders:
                if order not in own_orders:
                    write_order(connection, *order)
            connection.execute("DELETE FROM facts")
            connection.executemany("INSERT INTO facts VALUES (?, ?, ?)", copy.facts)
            charge_table.replace_charges(connection, copy.charges)
            connection.executemany("INSERT OR REPLACE INTO lease VALUES (1, ?, ?)", copy.lease)
            return True

        is_loaded = self._do(lambda connection: _transaction(connection, act))
        if is_loaded:
            self._days_to_copy = None
        return is_loaded

    def reserve(self) -> None:
        """Keep space on the disk with which passes go on and renew leases while it is full."""
        self._do(lambda connection: reserve(connection, always=not self._is_reserved))
        self._is_reserved = True

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = self._loaded = None

    def _saved(self, days: set[str]) -> None:
        if self._days_to_copy is not None:
            self._days_to_copy |= days
        self.saves += 1

    def _load(self, connection: sqlite3.Connection) -> State:
        changes = _changes(connection)
        if self._loaded is None or self._loaded[0] != changes:
            self._loaded = changes, _transaction(connection, self._read, "DEFERRED")
        return self._loaded[1]

    def _read(self, connection: sqlite3.Connection) -> State:
        rows: RowTexts = {(kind, key): value for kind, key, value in connection.execute("SELECT * FROM facts")}
        orders = tuple(
            SlurmOrder(seq, kind, read_nodes(nodes), at, read_jobs(resume))
            for seq, kind, nodes, resume, at in connection.execute("SELECT * FROM orders ORDER BY seq")
        )
        return self._reader.state(rows, orders)

    def _do(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """Run `act` on the journal; rename a damaged journal, and run `act` on a new one."""
        try:
            return act(self._open())
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise  # its subclasses are not damage: busy, disk full, no permission
            self._set_aside()
            return act(self._open())

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._file != _identity(self.path):
            self.close()  # the file was removed or replaced: no other process writes to the open one
        if self._connection is None:
            self._connection = connect(str(self.path), LOCK_TIMEOUT_SECONDS)
            self._days_to_copy, self._is_reserved = None, False
            self._file = _identity(self.path)
            if version(self._connection) != VERSION:
                raise sqlite3.DatabaseError(f"{self.path} is of another version")
            self._connection.execute(CHARGES)
        return self._connection

    def _set_aside(self) -> None:
        self.close()
        path = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
        with contextlib.suppress(FileNotFoundError):
            self.path.rename(path)
        for suffix in ("-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                self.path.with_name(self.path.name + suffix).rename(path.with_name(path.name + suffix))


def _changes(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return two numbers of which one is another after each change: by other connections, and by this one."""
    (others,) = connection.execute("PRAGMA data_version").fetchone()
    return others, connection.total_changes


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _transaction(connection: sqlite3.Connection, act: Callable[[sqlite3.Connection], T], kind: str = "IMMEDIATE") -> T:
    connection.execute(f"BEGIN {kind}")
    try:
        result = act(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _write(connection: sqlite3.Connection, write: RowTexts, delete: list[tuple[str, str]]) -> None:
    connection.executemany("DELETE FROM facts WHERE kind = ? AND key = ?", delete)
    rows = [(kind, key, value) for (kind, key), value in write.items()]
    connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", rows)


def _everything(connection: sqlite3.Connection) -> tuple[list[object], list[object], list[object]]:
    def act(connection: sqlite3.Connection) -> tuple[list[object], list[object], list[object]]:
        queries = (
            "SELECT kind, nodes, resume, at FROM orders ORDER BY seq",
            "SELECT * FROM facts",
            "SELECT holder, until FROM lease",
        )
        orders, facts, lease = ([tuple(row) for row in connection.execute(query)] for query in queries)
        return orders, facts, lease  # type: ignore[return-value]

    return _transaction(connection, act, "DEFERRED")
