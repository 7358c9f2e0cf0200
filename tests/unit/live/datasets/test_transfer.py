"""Put and stage against the emulated S3 with the mover's role."""

import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from landbridge.aws_api.objects import DataAccess, TransferRate
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.datasets import DATASET_FILE
from landbridge.findings import FindingsError
from landbridge.live.datasets import ContentStore, check_folder, check_objects, find_manifest, scan, stage, upload
from tests.unit.live.datasets.conftest import BUCKET, REGION, SMALL, StorageHost, contents


def test_a_staged_folder_has_the_files_of_the_source(host: StorageHost, source: Path, tmp_path: Path) -> None:
    uploaded = host.put(source, version="v1")
    # 5 MiB and 3 bytes are six blocks; the 43 small files are one or two packs.
    assert uploaded.is_new and 7 <= uploaded.sent_blocks <= 8
    bucket, folder = host.bucket(), tmp_path / "staged"
    manifest = find_manifest(bucket, "corpus", None)
    assert manifest == uploaded.manifest
    staged = stage(bucket, manifest, folder, ContentStore(tmp_path / "store"))
    assert contents(folder) == contents(source)
    assert staged.read_blocks == uploaded.sent_blocks and (staged.links, staged.copies) == (44, 0)
    assert check_objects(bucket, manifest) == check_objects(bucket, manifest, read=True) == []
    assert check_folder(folder, manifest, 4) == []


def test_a_second_stage_of_the_site_reads_and_copies_nothing(host: StorageHost, source: Path, tmp_path: Path) -> None:
    manifest, store = host.put(source).manifest, ContentStore(tmp_path / "store")
    stage(host.bucket(), manifest, tmp_path / "one", store)
    bucket = host.bucket()
    second = stage(bucket, manifest, tmp_path / "two", store)
    assert (second.read_bytes, second.copies, second.links) == (0, 0, 44) and bucket.calls == {}
    first, second_link = tmp_path / "one/large.bin", tmp_path / "two/large.bin"
    assert first.samefile(second_link) and first.stat().st_mode & 0o222 == 0
    assert stage(bucket, manifest, tmp_path / "two", store).was_present
    copied = stage(bucket, manifest, tmp_path / "three", store, copied=True)
    assert copied.copies == 44 and contents(tmp_path / "three") == contents(source)
    assert (tmp_path / "three/large.bin").stat().st_mode & 0o200


def test_a_version_that_shares_files_sends_and_reads_only_the_others(
    host: StorageHost, source: Path, tmp_path: Path
) -> None:
    first, store = host.put(source, version="v1"), ContentStore(tmp_path / "store")
    stage(host.bucket(), first.manifest, tmp_path / "v1", store)
    (source / "new.txt").write_text("new")
    second = host.put(source, version="v2")
    assert second.is_new and second.sent_blocks <= 2 and second.sent_bytes < 2**20
    staged = stage(host.bucket(), second.manifest, tmp_path / "v2", store)
    assert staged.read_blocks == 1 and contents(tmp_path / "v2") == contents(source)


def test_a_version_never_changes(host: StorageHost, source: Path) -> None:
    first = host.put(source, version="v1")
    again = host.put(source, version="v1")
    assert (again.is_new, again.sent_bytes, again.manifest) == (False, 0, first.manifest)
    (source / "empty").write_text("not any more")
    before = host.keys("datasets/objects/")
    with pytest.raises(FindingsError, match="never changes"):
        host.put(source, version="v1")
    assert host.keys("datasets/objects/") == before
    unnamed = host.put(source)
    assert unnamed.manifest.version == unnamed.manifest.content.digest[:16]


def test_a_folder_with_other_content_is_not_replaced(host: StorageHost, source: Path, tmp_path: Path) -> None:
    manifest = host.put(source).manifest
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").touch()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("full", "link", "full/mine"):
        with pytest.raises(FindingsError, match="exists already, and is not"):
            stage(host.bucket(), manifest, tmp_path / name, ContentStore(tmp_path / "store"))
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]


def test_files_that_a_dataset_cannot_have_are_findings(source: Path) -> None:
    (source / "link").symlink_to("empty")
    os.mkfifo(source / "pipe")
    (source / "a\nb").touch()
    (Path(os.fsencode(source).decode()) / os.fsdecode(b"\xff")).touch()
    (source / "EMPTY").touch()
    (source / DATASET_FILE).write_text("{}")
    files, findings = scan(source)
    assert len(files) == 45 and DATASET_FILE not in {file.path for file in files}
    messages = sorted((finding.rule, finding.severity.value, finding.message) for finding in findings)
    assert [rule for rule, _, _ in messages] == ["dataset-case"] + ["dataset-file"] * 4
    text = " ".join(message for _, _, message in messages)
    assert "symbolic link" in text and "named pipe" in text and "control character" in text and "not UTF-8" in text
    assert messages[0][1] == "warning"


def test_a_file_that_changes_during_the_upload_is_refused(host: StorageHost, source: Path) -> None:
    files, _ = scan(source)
    (source / "run.sh").write_text("#!/bin/bash\n")
    words = {"name": "corpus", "version": None, "data_class": "internal", "facts": SMALL, "created": datetime.now(UTC)}
    with pytest.raises(FindingsError, match=r"run\.sh"):
        upload(host.bucket(), source, files, **words)
    assert host.keys("datasets/manifests/") == []


def test_the_mover_may_not_delete(host: StorageHost, source: Path) -> None:
    host.put(source)
    with pytest.raises(AwsRefusal, match="AccessDenied"):
        host.bucket().delete(host.keys("datasets/objects/"))
    assert host.keys("datasets/objects/")


class StoppedTime:
    """Clock that goes on only when a transfer waits for its bandwidth limit."""

    def __init__(self) -> None:
        self.now, self._lock = 0.0, threading.Lock()

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.now += seconds

    def rate(self, limit: float) -> TransferRate:
        return TransferRate(limit, lambda: self.now, self.sleep)


def test_all_bytes_of_a_transfer_wait_for_its_bandwidth_limit(host: StorageHost, source: Path, tmp_path: Path) -> None:
    access = DataAccess(REGION, host.cloud.endpoint, "mover", str(host.credentials))
    files, _ = scan(source)
    words = {"name": "corpus", "version": None, "data_class": "internal", "facts": SMALL, "created": datetime.now(UTC)}
    sending = StoppedTime()
    # One thread: the waits of several threads overlap.
    sent = upload(access.bucket(BUCKET, 1, sending.rate(5e6), None), source, files, **words)
    assert sent.sent_bytes > 5e6 and sending.now == pytest.approx(sent.sent_bytes / 5e6, rel=0.01)
    reading = StoppedTime()
    bucket = access.bucket(BUCKET, 1, reading.rate(10e6), None)
    staged = stage(bucket, sent.manifest, tmp_path / "staged", ContentStore(tmp_path / "store"))
    assert reading.now == pytest.approx(staged.read_bytes / 10e6, rel=0.01)
    assert contents(tmp_path / "staged") == contents(source)
