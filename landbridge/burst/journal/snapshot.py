"""Reading of the journal's copy beside Slurm's StateSaveLocation: JSON, because the folder may be on NFS."""

import json
from dataclasses import dataclass
from pathlib import Path

from landbridge.burst.journal.charges import read_copy
from landbridge.burst.journal.paths import SNAPSHOT
from landbridge.burst.journal.rows import RowReader
from landbridge.burst.model import Charge, State


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Rows of a copy: orders (kind, nodes, resume file, time), facts (kind, key, value), lease (holder, end), charges."""

    orders: tuple[tuple[str, str, str | None, float], ...]
    facts: tuple[tuple[str, str, str], ...]
    lease: tuple[tuple[str, float], ...]
    charges: tuple[Charge, ...]


def read_snapshot(folder: Path) -> Snapshot:
    """Return the copy in `folder`. Raises OSError if it cannot be read, ValueError if it is not a copy."""
    try:
        raw = json.loads((folder / SNAPSHOT).read_text(encoding="utf-8"))
        orders = tuple((str(kind), str(nodes), resume, float(at)) for kind, nodes, resume, at in raw["orders"])
        facts = tuple((str(kind), str(key), str(value)) for kind, key, value in raw["facts"])
        lease = tuple((str(holder), float(until)) for holder, until in raw["lease"])[:1]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{SNAPSHOT} is not a copy of a journal: {error}") from error
    return Snapshot(orders, facts, lease, tuple(read_copy(folder)))


def state_of(snapshot: Snapshot) -> State:
    """Return the state of a copy without its orders."""
    return RowReader().state({(kind, key): value for kind, key, value in snapshot.facts}, ())
