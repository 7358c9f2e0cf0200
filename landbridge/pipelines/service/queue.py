"""Folder of an owner, `~/.landbridge/pipelines`: requests, definitions with triggers, cancellations and records.

Only processes of the owner read and write it: the command `landbridge pipeline`, and the service as the owner.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from landbridge.pipelines.runs.names import is_run_name
from landbridge.user_files import read_user_json

FOLDER = Path(".landbridge/pipelines")
REQUESTS, ENDED, RECORDS, CANCELS = "requests", "ended", "records", "cancel"
DEFINITIONS, DRIFTS, WORK, REFUSED = "definitions", "drift", "work", "refused"
#: Definition and scripts of a run; above it a file is not read.
MAX_BYTES = 16 << 20
#: Files of one kind that are read in one pass.
MAX_FILES = 500
FOLDERS = (REQUESTS, ENDED, RECORDS, CANCELS, DEFINITIONS, DRIFTS, WORK, REFUSED)


def read_json(path: Path) -> Any:
    """Return the content of a regular file, with the rights of its owner. Raises OSError or ValueError."""
    return read_user_json(path, MAX_BYTES, follow=True)


def write_json(path: Path, data: Any) -> None:
    """Write a file as a whole: another process reads the earlier content or the new one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    incoming = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with incoming.open("w", encoding="utf-8") as stream:
            json.dump(data, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        incoming.replace(path)
        _sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            incoming.unlink(missing_ok=True)


def names_in(folder: Path) -> list[str]:
    """Return the names of JSON files in a folder, without `.json`; empty for an absent folder."""
    try:
        files = sorted(entry.name for entry in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name.removesuffix(".json") for name in files if name.endswith(".json") and not name.startswith(".")]


def read_folder(home: Path, datasets: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of an owner's folder as plain data.

    `datasets`: folders of data classes in which versions of datasets are searched.
    """
    root = home / FOLDER
    content: dict[str, Any] = {"faults": []}
    for kind in (REQUESTS, RECORDS, DEFINITIONS, DRIFTS):
        content[kind] = dict(_files(root / kind, content["faults"], only_runs=kind in (REQUESTS, RECORDS)))
    content[CANCELS] = [name for name in names_in(root / CANCELS) if is_run_name(name)]
    content[ENDED] = {name: _modified(root / ENDED / f"{name}.json") for name in names_in(root / ENDED)}
    wanted = {str(name) for each in content[DEFINITIONS].values() for name in _wanted(each)}
    content["versions"] = {
        data_class: {name: dict(_versions(Path(folder) / name)) for name in sorted(wanted)}
        for data_class, folder in datasets.items()
    }
    return content


def prepare(home: Path, run: str, record: Mapping[str, Any]) -> None:
    """Write the copy of a run's record, and create the run's folder for results. Raises OSError."""
    root = home / FOLDER
    (root / WORK / run).mkdir(parents=True, exist_ok=True, mode=0o700)
    write_json(root / RECORDS / f"{run}.json", record)


def finish(home: Path, run: str, record: Mapping[str, Any]) -> None:
    """Write the copy of an ended run's record, and remove its request and its cancellation. Raises OSError."""
    root = home / FOLDER
    write_json(root / ENDED / f"{run}.json", record)
    for kind in (REQUESTS, CANCELS, RECORDS):
        (root / kind / f"{run}.json").unlink(missing_ok=True)


def discard(home: Path, run: str) -> None:
    """Remove the request of a run that has ended before. Raises OSError."""
    (home / FOLDER / REQUESTS / f"{run}.json").unlink(missing_ok=True)


def refuse(home: Path, run: str, reason: str) -> None:
    """Move away a request that cannot become a run, and record the reason. Raises OSError."""
    root = home / FOLDER
    write_json(root / REFUSED / f"{run}.json", {"reason": reason})
    (root / REQUESTS / f"{run}.json").unlink(missing_ok=True)


def _files(folder: Path, faults: list[str], *, only_runs: bool) -> Iterator[tuple[str, Any]]:
    for name in names_in(folder)[:MAX_FILES]:
        if only_runs and not is_run_name(name):
            faults.append(f"{folder.name}/{name}.json is not the name of a run")
            continue
        try:
            yield name, read_json(folder / f"{name}.json")
        except (OSError, ValueError) as error:
            faults.append(f"{folder.name}/{name}.json: {error}")


def _wanted(definition: Any) -> list[str]:
    names = definition.get("datasets") if isinstance(definition, dict) else None
    return [name for name in names if isinstance(name, str) and "/" not in name] if isinstance(names, list) else []


def _versions(folder: Path) -> Iterator[tuple[str, float]]:
    from landbridge.datasets import DATASET_FILE

    with contextlib.suppress(OSError):
        for entry in folder.iterdir():
            modified = _modified(entry / DATASET_FILE)
            if modified and not entry.name.startswith("."):
                yield entry.name, modified


def _modified(path: Path) -> float:
    """Return the time of the last change of a file; 0 if there is none."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
