"""Table of charges in the journal: what each job, boot and idle time has cost, by day; and its copy, a file for each day.

A day's file is written again only if the day has new charges, because the copy may be on NFS and most days do not change.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from landbridge.burst.journal.paths import CHARGES
from landbridge.burst.model import Charge, ChargeKey, ChargeKind
from landbridge.burst.model.charges import add_up
from landbridge.burst.model.errors import facts

FIRST_DAY, LAST_DAY = "0000-00-00", "9999-99-99"
_ADD = (
    "INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
    "node_seconds = node_seconds + excluded.node_seconds, usd = usd + excluded.usd, "
    "unpriced_seconds = unpriced_seconds + excluded.unpriced_seconds"
)
Row = tuple[str, str, str, int, str, str, float, float, float]


def add_charges(connection: sqlite3.Connection, charges: Iterable[Charge]) -> set[str]:
    """Add charges to the rows with the same keys, delete the oldest days above the limits; return the changed days."""
    sums = add_up(charges)
    if not sums:
        return set()
    (last,) = connection.execute("SELECT max(day) FROM charges").fetchone()
    connection.executemany(_ADD, map(_row, sums))
    days = {charge.key.day for charge in sums}
    if last is None or max(days) > last:
        _delete_old(connection, max(days))
    return days


def read_charges(connection: sqlite3.Connection, first: str = FIRST_DAY, last: str = LAST_DAY) -> Iterator[Charge]:
    """Yield the charges of the days from `first` to `last`, both included."""
    query = "SELECT * FROM charges WHERE day BETWEEN ? AND ? ORDER BY day, pool, account, job, kind, instance_type"
    for row in connection.execute(query, (first, last)):
        yield _charge(row)


def replace_charges(connection: sqlite3.Connection, charges: Iterable[Charge]) -> None:
    """Replace all rows."""
    connection.execute("DELETE FROM charges")
    connection.executemany(_ADD, map(_row, add_up(charges)))


def write_copy(connection: sqlite3.Connection, folder: Path, changed: set[str] | None) -> None:
    """Write the files of the changed days (None: of all), and remove the files of days that the table does not have.

    Each day is removed from `changed` when its file is on disk.
    """
    if changed is not None and not changed:
        return
    days = {day for (day,) in connection.execute("SELECT DISTINCT day FROM charges")}
    target = folder / CHARGES
    target.mkdir(mode=0o750, exist_ok=True)
    for day in sorted(days if changed is None else days & changed):
        text = json.dumps([_row(charge) for charge in read_charges(connection, day, day)])
        new = target / f".{day}.{os.getpid()}"
        with new.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(target / f"{day}.json")
        if changed is not None:
            changed.discard(day)
    for path in target.glob("*.json"):
        if path.stem not in days:
            path.unlink(missing_ok=True)


def read_copy(folder: Path) -> list[Charge]:
    """Return the charges of a copy; a file that cannot be read is omitted, and its days are not itemised."""
    charges: list[Charge] = []
    for path in sorted((folder / CHARGES).glob("*.json")):
        try:
            charges += [_charge(row) for row in json.loads(path.read_text(encoding="utf-8"))]
        except (OSError, TypeError, ValueError):
            continue
    return charges


def _delete_old(connection: sqlite3.Connection, today: str) -> None:
    limits = facts()["charges"]
    oldest = (date.fromisoformat(today) - timedelta(days=int(limits["days"]) - 1)).isoformat()
    rows = 0
    for day, count in connection.execute("SELECT day, count(*) FROM charges GROUP BY day ORDER BY day DESC").fetchall():
        rows += count
        if day < today and (day < oldest or rows > int(limits["rows"])):
            connection.execute("DELETE FROM charges WHERE day <= ?", (day,))
            return


def _row(charge: Charge) -> Row:
    key = charge.key
    place = (key.day, key.pool, key.account, key.job, str(key.kind), key.instance_type)
    return (*place, charge.node_seconds, charge.usd, charge.unpriced_seconds)


def _charge(row: Any) -> Charge:
    day, pool, account, job, kind, instance_type, node_seconds, usd, unpriced_seconds = row
    key = ChargeKey(str(day), str(pool), str(account), int(job), ChargeKind(kind), str(instance_type))
    return Charge(key, float(node_seconds), float(usd), float(unpriced_seconds))
