"""Checkpoints: complete and verified, or absent.

A checkpoint is a folder ``epoch-000012`` with ``state.npz`` and ``manifest.json``. The manifest is written last and
carries the size and SHA-256 of every other file: a folder without a manifest, or with one that does not match, is not
a checkpoint. This module does not depend on JAX, Slurm or MLflow.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = 1
MANIFEST = "manifest.json"
STATE = "state.npz"
_FOLDER = re.compile(r"^epoch-(\d{6,})$")


class Damaged(Exception):
    """Incomplete checkpoint; the message has the reason."""


@dataclass(frozen=True)
class Checkpoint:
    """Complete, verified checkpoint."""

    path: Path
    epoch: int
    facts: Mapping[str, Any]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the saved arrays by name."""
        with np.load(self.path / STATE, allow_pickle=False) as saved:
            return {name: saved[name] for name in saved.files}


def folder_name(epoch: int) -> str:
    """Return the folder name of an epoch's checkpoint."""
    return f"epoch-{epoch:06d}"


def epoch_of(name: str) -> int | None:
    """Return the epoch of a folder name; None for other names."""
    match = _FOLDER.match(name)
    return int(match.group(1)) if match else None


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def write(root: Path, epoch: int, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> Checkpoint:
    """Write a checkpoint. A crash at any time leaves the older ones usable.

    The state is on disk (fsync) under its final name before the manifest appears, and each file appears by rename.
    """
    folder = root / folder_name(epoch)
    folder.mkdir(parents=True, exist_ok=True)
    # Remove the manifest of an earlier attempt: it does not match the new state.
    (folder / MANIFEST).unlink(missing_ok=True)
    _replace(folder / STATE, lambda temporary: _save_arrays(temporary, arrays))
    state = folder / STATE
    manifest = {
        "format": FORMAT,
        "epoch": epoch,
        "files": {STATE: {"sha256": sha256(state), "bytes": state.stat().st_size}},
        "facts": dict(facts),
    }
    _replace(folder / MANIFEST, lambda temporary: temporary.write_text(json.dumps(manifest, indent=2, sort_keys=True)))
    return Checkpoint(folder, epoch, manifest["facts"])


def verify(folder: Path) -> Checkpoint:
    """Return the checkpoint in a folder. Raises Damaged for an incomplete one."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        files = dict(manifest["files"])
        epoch, facts, version = int(manifest["epoch"]), dict(manifest["facts"]), manifest["format"]
    except FileNotFoundError:
        raise Damaged(f"{folder}: no {MANIFEST} (it was never finished)") from None
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{folder}: unreadable {MANIFEST}: {error}") from None
    if version != FORMAT:
        raise Damaged(f"{folder}: format {version!r}; this program reads {FORMAT}")
    if epoch != epoch_of(folder.name) or STATE not in files:
        raise Damaged(f"{folder}: the manifest describes another checkpoint (epoch {epoch}, files {sorted(files)})")
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            raise Damaged(f"{folder}: {name} is missing")
        if path.stat().st_size != expected["bytes"]:
            raise Damaged(f"{folder}: {name} has {path.stat().st_size} bytes, the manifest has {expected['bytes']}")
        if sha256(path) != expected["sha256"]:
            raise Damaged(f"{folder}: {name} does not match its SHA-256")
    return Checkpoint(folder, epoch, facts)


def newest(root: Path, on_damaged: Callable[[str], None] = lambda reason: None) -> Checkpoint | None:
    """Return the newest complete checkpoint under a folder; incomplete ones are reported and skipped."""
    for folder in _folders(root):
        try:
            return verify(folder)
        except Damaged as damage:
            on_damaged(str(damage))
    return None


def prune(root: Path, keep: int) -> None:
    """Remove all but the newest `keep` folders (complete or not).

    On NFS a file that is still open (in an upload) is renamed and stays until it is closed, and its folder cannot be
    removed; a later call removes it.
    """
    for folder in list(_folders(root))[keep:]:
        # Remove the manifest first: after a crash, a partly removed folder is not a checkpoint.
        (folder / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


def _folders(root: Path) -> Iterator[Path]:
    if not root.is_dir():
        return iter(())
    numbered = [(epoch, path) for path in root.iterdir() if (epoch := epoch_of(path.name)) is not None]
    return (path for _, path in sorted(numbered, reverse=True))


def _save_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    with path.open("wb") as stream:
        np.savez(stream, **arrays)


def _replace(path: Path, write_to: Callable[[Path], object]) -> None:
    temporary = path.with_name(f".{path.name}.partial")
    write_to(temporary)
    _sync(temporary)
    os.replace(temporary, path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
