"""SQLite file of the journal, in WAL mode: a commit returns when the data are on disk.

The programs that Slurm runs import this module, so it imports little. store.py interprets the rows.
"""

import os
import sqlite3
import time

VERSION = 1
#: Space that the daemon keeps for changes while the disk is full: thousands of decision records. More than the 1,000 pages
#: after which SQLite begins its write-ahead log again.
RESERVE_BYTES = 8 * 2**20
#: Later than version 1: a journal without it gets it, and an older program does not read it.
CHARGES = "CREATE TABLE IF NOT EXISTS charges (day TEXT NOT NULL, pool TEXT NOT NULL, account TEXT NOT NULL, job INTEGER NOT NULL, kind TEXT NOT NULL, instance_type TEXT NOT NULL, node_seconds REAL NOT NULL, usd REAL NOT NULL, unpriced_seconds REAL NOT NULL, PRIMARY KEY (day, pool, account, job, kind, instance_type)) WITHOUT ROWID"
_TABLES = (
    CHARGES,
    # AUTOINCREMENT: an order's number is never reused, so that a completed order is not confused with a later one.
    "CREATE TABLE IF NOT EXISTS orders (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, nodes TEXT NOT NULL, resume TEXT, at REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS facts (kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS records (id INTEGER PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS record_jobs (job INTEGER NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (job, record)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS lease (one INTEGER PRIMARY KEY CHECK (one = 1), holder TEXT NOT NULL, until REAL NOT NULL)",
)


def connect(path: str, patience: float) -> sqlite3.Connection:
    """Open the journal, and create it if it does not exist; raise sqlite3.Error if that fails within `patience`
    seconds."""
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=FULL")
        if version(connection) == 0:
            _create(connection, path, time.monotonic() + patience)
    except BaseException:
        connection.close()
        raise
    return connection


def reserve(connection: sqlite3.Connection, always: bool) -> None:
    """Take space on the disk: free pages in the file, and a write-ahead log as long as it becomes between two checkpoints.
    SQLite uses both again, so that changes need no space on the disk. Only if few pages are free, or `always`."""
    free, page = (int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("freelist_count", "page_size"))
    if not always and free * page >= RESERVE_BYTES / 2:
        return
    connection.execute("DROP TABLE IF EXISTS reserve")
    connection.execute("CREATE TABLE reserve (bytes BLOB)")
    # Random: a file system may not store zeros. In rows: a blob would be in memory as a whole.
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT randomblob(65536) FROM n"
    connection.execute(f"INSERT INTO reserve {rows}", (RESERVE_BYTES // 65_536,))
    connection.execute("DROP TABLE reserve")


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def write_order(connection: sqlite3.Connection, kind: str, nodes: str, resume: str | None, at: float) -> None:
    """Append the order of one program call: its host list and the text of its resume file, both unchanged."""
    connection.execute("INSERT INTO orders (kind, nodes, resume, at) VALUES (?, ?, ?, ?)", (kind, nodes, resume, at))


def _create(connection: sqlite3.Connection, path: str, deadline: float) -> None:
    while True:  # a change of the mode does not wait for another process that creates the journal too
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
    if os.geteuid() == 0:  # created by an operator's command: the file gets the owner of the folder
        owner = os.stat(os.path.dirname(os.path.abspath(path)))
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.chown(path + suffix, owner.st_uid, owner.st_gid)
