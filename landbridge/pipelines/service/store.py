"""Journal of the service: a folder with one file for each live run, written as a whole."""

from pathlib import Path

from landbridge.pipelines.runs.names import is_run_name
from landbridge.pipelines.runs.record import RunRecord
from landbridge.pipelines.service.queue import names_in, read_json, write_json

LOCK = "lock"


class RunStore:
    """Records of live runs. A file that cannot be read counts as lost: the record is built again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "runs"
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

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
