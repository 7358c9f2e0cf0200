"""Deletion of objects that no manifest names, beside uploads."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from landbridge.findings import FindingsError
from landbridge.live.datasets import check_objects, collect, unreferenced
from landbridge.live.datasets.markers import DeletionMarker, UploadMarker
from tests.unit.live.datasets.conftest import SMALL, StorageHost

NONE, WEEK = timedelta(0), timedelta(days=7)


def abandoned(host: StorageHost, folder: Path) -> set[str]:
    """Put another dataset and remove its manifest; return the keys that no manifest names."""
    before = set(host.keys("datasets/objects/"))
    (folder / "other.bin").write_bytes(b"other" * 300_000)
    manifest = host.put(folder, "other", "v1").manifest
    host.operator.delete(["datasets/manifests/other/v1.json"])
    assert check_objects(host.operator, manifest) == []
    return set(host.keys("datasets/objects/")) - before


def test_only_objects_without_a_manifest_and_older_than_the_grace_are_deleted(
    host: StorageHost, source: Path, tmp_path: Path
) -> None:
    manifest = host.put(source, version="v1").manifest
    other = tmp_path / "other"
    shutil.copytree(source, other)
    garbage = abandoned(host, other)
    assert len(garbage) >= 2
    now = datetime.now(UTC) + timedelta(seconds=2)
    assert {item.key for item in unreferenced(host.operator, now, NONE)} == garbage
    assert unreferenced(host.operator, now, WEEK) == []
    assert collect(host.operator, SMALL, WEEK).deleted == ()
    collected = collect(host.operator, SMALL, NONE)
    assert {item.key for item in collected.deleted} == garbage and collected.refused == {}
    assert check_objects(host.operator, manifest, read=True) == []
    assert unreferenced(host.operator, now, NONE) == []


def test_nothing_is_deleted_while_an_upload_is_running(host: StorageHost, source: Path) -> None:
    abandoned(host, source)
    before = host.keys("datasets/objects/")
    marker = UploadMarker(host.bucket(), SMALL, "corpus")
    with pytest.raises(FindingsError, match="uploads of corpus are running"):
        collect(host.operator, SMALL, NONE)
    assert host.keys("datasets/objects/") == before
    marker.end()
    assert collect(host.operator, SMALL, NONE).deleted


def test_an_upload_and_a_second_deletion_wait_for_a_deletion(host: StorageHost, source: Path) -> None:
    with DeletionMarker(host.operator, SMALL):
        with pytest.raises(FindingsError, match="are being deleted"):
            host.put(source)
        with pytest.raises(FindingsError, match="another"):
            collect(host.operator, SMALL, NONE)
    assert host.keys("datasets/objects/") == [] and host.put(source).is_new


def test_the_marker_of_a_killed_upload_expires(host: StorageHost, source: Path) -> None:
    abandoned(host, source)
    UploadMarker(host.bucket(), SMALL, "corpus")
    soon = SMALL.model_copy(update={"put_silent_hours": SMALL.put_silent_hours.model_copy(update={"value": 0})})
    assert collect(host.operator, soon, NONE).deleted


def test_nothing_is_deleted_if_a_manifest_cannot_be_read(host: StorageHost, source: Path) -> None:
    import hashlib

    abandoned(host, source)
    host.operator.put("datasets/manifests/corpus/v1.json", b"{}", hashlib.sha256(b"{}").hexdigest())
    with pytest.raises(FindingsError, match="damaged"):
        collect(host.operator, SMALL, NONE)
    assert host.keys("datasets/objects/")
