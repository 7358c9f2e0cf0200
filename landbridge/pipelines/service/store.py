"""Journal of the service: a file for each live run, and one for the ended runs of each owner, written as a whole."""

from collections.abc import Mapping
from pathlib import Path

from landbridge.pipelines.runs.names import is_run_name
from landbridge.pipelines.runs.record import RunRecord
from landbridge.pipelines.service.queue import names_in, read_json, write_json

LOCK = "lock"
#: Ended runs of an owner that the journal keeps, the newest; older causes of triggers are not read any more.
MAX_PAST = 5_000


class RunStore:
    """Records of live runs. A file that cannot be read counts as lost: the record is built again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.past = folder / "runs", folder / "past"
        for each in (self.folder, self.past):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)

    def load(self) -> dict[str, RunRecord]:
        """Return the records by the name of their run."""
        records = {}
        for name in filter(is_run_name, names_in(self.folder)):
            try:
                record = RunRecord.parse(read_json(self.folder / f"{name}.json"))
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if record.name == name:
                records[name] = record
        return records

    def save(self, record: RunRecord) -> None:
        """Write a record. Raises OSError."""
        write_json(self.folder / f"{record.name}.json", record.to_json())

    def remove(self, name: str) -> None:
        """Delete the record of an ended run. Raises OSError."""
        (self.folder / f"{name}.json").unlink(missing_ok=True)

    def remember(self, owner: str, runs: Mapping[str, float]) -> dict[str, float]:
        """Add ended runs of an owner with their times, and return all that are known. Raises OSError.

        The owner's folder has them too, but the owner may empty it, and no run may start again for that.
        """
        path = self.past / f"{owner}.json"
        try:
            before = {str(name): float(at) for name, at in dict(read_json(path)).items()}
        except (OSError, ValueError, TypeError):
            before = {}
        known = {**{name: at for name, at in runs.items() if is_run_name(name)}, **before}
        newest = dict(sorted(known.items(), key=lambda each: each[1])[-MAX_PAST:])
        if newest != before:
            write_json(path, newest)
        return newest
