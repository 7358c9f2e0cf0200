"""Model folders of the model gateway's host: NAME/VERSION, of the versions that a slot has."""

import shutil
from collections.abc import Collection
from pathlib import Path


def model_folder(root: Path, model: str, version: str) -> Path:
    """Return the place of a version."""
    return root / model / version


def collect(folder: Path, wanted: Collection[str]) -> None:
    """Remove the versions of a model that are not wanted, and the rest of a transfer that did not end."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in wanted:
            shutil.rmtree(path)
