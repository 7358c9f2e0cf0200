"""Journal of GPU health on the operator's machine: records and repairs as one JSON file, changes as lines of another."""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from landbridge import timestamps
from landbridge.ops.gpu_health.values import HealthAction, HealthJournal, HealthRecord, HealthState

JOURNAL = "gpu-health.json"
CHANGES = "gpu-health.log"


class HealthJournalError(Exception):
    """Journal that cannot be read, or that another pass uses; the message contains the file."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the journal for one pass. Raises HealthJournalError if another pass runs."""
    with (folder / f".{JOURNAL}.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HealthJournalError(f"{folder / JOURNAL}: another pass runs") from None
        yield


def load_journal(folder: Path) -> HealthJournal:
    """Return the journal; an empty one if the file does not exist. Raises HealthJournalError."""
    path = folder / JOURNAL
    try:
        return from_json(json.loads(path.read_text()))
    except FileNotFoundError:
        return HealthJournal()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise HealthJournalError(f"{path}: {error}; remove it: drains are read from their reasons in Slurm") from None


def save_journal(folder: Path, journal: HealthJournal) -> None:
    """Replace the journal in one rename."""
    temporary = folder / f".{JOURNAL}.new"
    with temporary.open("w") as handle:
        json.dump(asdict(journal), handle, indent=1, sort_keys=True)
        handle.flush()
        os.fsync(handle.fileno())
    temporary.chmod(0o600)
    temporary.replace(folder / JOURNAL)


def append_changes(folder: Path, before: HealthJournal, after: HealthJournal, now: float) -> None:
    """Append a line for each node whose state changed."""
    lines = [json.dumps({"at": timestamps.iso(now), **change}) for change in changes(before, after)]
    if lines:
        with (folder / CHANGES).open("a") as handle:
            handle.write("".join(f"{line}\n" for line in lines))


def changes(before: HealthJournal, after: HealthJournal) -> Iterator[dict[str, Any]]:
    """Yield node, states and cause of each changed record."""
    for name, record in sorted(after.records.items()):
        old = before.records.get(name, HealthRecord(name))
        if old.state is not record.state:
            yield {
                "node": name,
                "from": str(old.state),
                "to": str(record.state),
                "detail": record.detail,
                "gpus": list(record.gpus),
            }


def action_texts(actions: Iterable[HealthAction]) -> list[str]:
    """Return each action as a line of text."""
    return [
        " ".join(part for part in (action.node, str(action.step), action.reason or ",".join(action.gpus)) if part)
        for action in actions
    ]


def from_json(data: Any) -> HealthJournal:
    """Return the journal of plain data. Raises KeyError, TypeError or ValueError for other data."""
    records = {
        name: HealthRecord(
            **{
                **entry,
                "state": HealthState(entry["state"]),
                "gpus": tuple(entry["gpus"]),
                "attempts": dict(entry["attempts"]),
            }
        )
        for name, entry in data["records"].items()
    }
    return HealthJournal(records, {gpu: tuple(times) for gpu, times in data["repairs"].items()})
