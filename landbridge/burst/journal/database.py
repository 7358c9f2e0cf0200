"""The journal's file: SQLite in WAL mode, on disk before a commit returns.

The programs that Slurm runs import this: nothing heavy here. What the rows mean is store.py's business.
"""

import os
import sqlite3
import time

VERSION = 1
_TABLES = (
    # AUTOINCREMENT: an order's number is never used again, so that one dealt with is never taken for a later one.
    "CREATE TABLE IF NOT EXISTS orders (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, nodes TEXT NOT NULL, resume TEXT, at REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS facts (kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS records (id INTEGER PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS record_jobs (job INTEGER NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (job, record)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS lease (one INTEGER PRIMARY KEY CHECK (one = 1), holder TEXT NOT NULL, until REAL NOT NULL)",
)


def connect(path: str, patience: float) -> sqlite3.Connection:
    """Open the journal, making it where there is none; sqlite3.Error where that cannot be done within `patience` seconds."""
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=FULL")
        if version(connection) == 0:
            _create(connection, path, time.monotonic() + patience)
    except BaseException:
        connection.close()
        raise
    return connection


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def write_order(connection: sqlite3.Connection, kind: str, nodes: str, resume: str | None, at: float) -> None:
    """Append one call of a program: its host list and its resume file's text as they came."""
    connection.execute("INSERT INTO orders (kind, nodes, resume, at) VALUES (?, ?, ?, ?)", (kind, nodes, resume, at))


def _create(connection: sqlite3.Connection, path: str, deadline: float) -> None:
    while True:  # changing the mode does not wait for another process that is making the journal too
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    connection.execute("BEGIN IMMEDIATE")
    for table in _TABLES:
        connection.execute(table)
    connection.execute(f"PRAGMA user_version={VERSION}")
    connection.execute("COMMIT")
    if os.geteuid() == 0:  # made by a person's command: it belongs to whom the folder belongs to
        owner = os.stat(os.path.dirname(os.path.abspath(path)))
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.chown(path + suffix, owner.st_uid, owner.st_gid)
