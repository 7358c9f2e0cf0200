"""Damaged objects, manifests and folders: they are refused with their names, and put again."""

import hashlib
from pathlib import Path

import pytest

from landbridge.datasets import object_key
from landbridge.findings import FindingsError
from landbridge.live.datasets import ContentStore, check_folder, check_objects, find_manifest, stage
from tests.unit.live.datasets.conftest import StorageHost, contents


def test_a_damaged_object_is_refused_with_its_name_and_put_again(
    host: StorageHost, source: Path, tmp_path: Path
) -> None:
    manifest = host.put(source, version="v1").manifest
    large = next(file for file in manifest.content.files if file.path == "large.bin")
    block = manifest.content.blocks[large.block + 2]
    damaged = b"x" * block.size
    host.operator.put(object_key(block.sha256), damaged, hashlib.sha256(damaged).hexdigest())
    bucket, store = host.bucket(), ContentStore(tmp_path / "store")
    for findings in (check_objects(bucket, manifest), check_objects(bucket, manifest, read=True)):
        assert [finding.rule for finding in findings] == ["dataset-object"]
        assert block.sha256 in findings[0].message and "'large.bin'" in findings[0].message
    with pytest.raises(FindingsError, match=block.sha256):
        stage(bucket, manifest, tmp_path / "staged", store)
    assert not (tmp_path / "staged").exists()
    assert large.path not in {path.name for path in (tmp_path / "store").rglob("*")}
    again = host.put(source, version="v1")
    assert (again.is_new, again.sent_blocks) == (False, 1)
    # The other blocks of the site are not read again.
    assert stage(bucket, manifest, tmp_path / "staged", store).read_blocks == 1
    assert contents(tmp_path / "staged") == contents(source)


def test_an_absent_object_is_named(host: StorageHost, source: Path, tmp_path: Path) -> None:
    manifest = host.put(source, version="v1").manifest
    script = next(file for file in manifest.content.files if file.path == "run.sh")
    key = object_key(manifest.content.blocks[script.block].sha256)
    assert host.operator.delete([key]) == {}
    (finding,) = check_objects(host.bucket(), manifest)
    assert key in finding.message and "absent" in finding.message and "more" in finding.message
    with pytest.raises(FindingsError, match="absent"):
        stage(host.bucket(), manifest, tmp_path / "staged", ContentStore(tmp_path / "store"))


def test_a_manifest_that_was_changed_or_copied_is_refused(host: StorageHost, source: Path) -> None:
    host.put(source, version="v1")
    key = "datasets/manifests/corpus/v1.json"
    text = host.operator.get(key)
    assert text is not None
    changed = text.replace(b'"path":"empty"', b'"path":"/etc/x"')
    for copy, content in ((key, changed), ("datasets/manifests/corpus/v2.json", text)):
        host.operator.put(copy, content, hashlib.sha256(content).hexdigest())
        with pytest.raises(FindingsError, match="damaged"):
            find_manifest(host.bucket(), "corpus", copy.rpartition("/")[2].removesuffix(".json"))


def test_a_changed_file_of_a_staged_folder_is_named(host: StorageHost, source: Path, tmp_path: Path) -> None:
    manifest, folder = host.put(source).manifest, tmp_path / "staged"
    stage(host.bucket(), manifest, folder, ContentStore(tmp_path / "store"), copied=True)
    (folder / "empty").write_text("x")
    (folder / "run.sh").unlink()
    (folder / "shards/new").touch()
    messages = [finding.message for finding in check_folder(folder, manifest, 2)]
    assert len(messages) == 3
    assert all(any(name in message for message in messages) for name in ("'empty'", "'run.sh'", "'shards/new'"))
