"""Model folders of the model gateway's host: NAME/VERSION, of the versions that a slot has."""

import shutil
from collections.abc import Collection
from pathlib import Path

from landbridge.models.drift.reference import ModelReference, parse_reference
from landbridge.models.manifest import ModelManifest
from landbridge.models.names import MANIFEST_FILE


def model_folder(root: Path, model: str, version: str) -> Path:
    """Return the place of a version."""
    return root / model / version


def manifest_in(root: Path, model: str, version: str) -> ModelManifest | None:
    """Return the manifest of a version that was fetched; None before, and without a version."""
    file = model_folder(root, model, version or "0") / MANIFEST_FILE
    manifest = ModelManifest.parse(file.read_text()) if file.exists() else None
    return manifest if isinstance(manifest, ModelManifest) else None


def reference_in(root: Path, model: str, version: str) -> ModelReference | None:
    """Return the distributions of a fetched version's training data; None without them."""
    manifest = manifest_in(root, model, version)
    try:
        return parse_reference(manifest.reference) if manifest is not None else None
    except (KeyError, TypeError, ValueError):
        return None


def collect(folder: Path, wanted: Collection[str]) -> None:
    """Remove the versions of a model that are not wanted, and the rest of a transfer that did not end."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in wanted:
            shutil.rmtree(path)
