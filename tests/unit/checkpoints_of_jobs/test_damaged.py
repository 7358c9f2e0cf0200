"""Damaged checkpoints are refused, and another place or the next older checkpoint is used."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from landbridge_checkpoints import Damaged
from landbridge_checkpoints.manifest import Generation, Manifest, checkpoint_name, read_manifest

from tests.unit.checkpoints_of_jobs.conftest import BUCKET, Hub, save

PREFIX = "vision/run/"


def change(hub: Hub, key: str, edit: Callable[[bytes], bytes]) -> None:
    body = hub.s3.get_object(Bucket=BUCKET, Key=PREFIX + key)["Body"].read()
    hub.s3.put_object(Bucket=BUCKET, Key=PREFIX + key, Body=edit(body))


@pytest.mark.parametrize(
    ("part", "edit", "reason"),
    [
        ("blocks", lambda body: bytes([body[0] ^ 1]) + body[1:], "does not match its SHA-256"),
        ("blocks", lambda body: body[:-1], "does not match its SHA-256"),
        ("manifests", lambda body: body[:-9], "unreadable manifest"),
        ("manifests", lambda body: body.replace(b'"step":2', b'"step":9', 1), "does not match its digest"),
        ("manifests", lambda _: b"[]", "unreadable manifest"),
    ],
)
def test_a_damaged_object_is_refused_and_the_older_checkpoint_is_used(
    hub: Hub, part: str, edit: Callable[[bytes], bytes], reason: str
) -> None:
    store, _ = hub.store("onprem")
    save(store, 1)
    name = save(store, 2)
    change(hub, next(key for key in hub.keys(part) if name in key), edit)
    other, messages = hub.store("aws", 1)
    restored = other.restore(60)
    assert restored is not None and restored.step == 1
    assert [message for message in messages if message.startswith("passed over, bucket") and reason in message]
    assert not list((hub.folder / "aws/run").glob(".partial-*"))


def test_a_missing_block_is_refused(hub: Hub) -> None:
    store, _ = hub.store("onprem")
    save(store, 1)
    hub.s3.delete_object(Bucket=BUCKET, Key=PREFIX + hub.keys("blocks")[0])
    other, messages = hub.store("aws", 1)
    assert other.restore(60) is None and "is not in s3://" in messages[0]


def test_a_damaged_file_on_the_local_disk_is_replaced_from_the_bucket(hub: Hub) -> None:
    store, _ = hub.store("onprem")
    save(store, 1)
    name = save(store, 2)
    (hub.folder / "onprem/run" / name / "files/meta.json").write_text("other")
    again, messages = hub.store("onprem", 1)
    restored = again.restore(60)
    assert restored is not None and (restored.step, restored.source) == (2, "bucket")
    assert "passed over, local disk" in messages[0]
    assert json.loads((restored.path / "meta.json").read_text()) == {"step": 2}


def manifest_with(path: str, folders: tuple[str, ...] = ()) -> bytes:
    generation = Generation(1, "7", 0, "0123456789abcdef")
    body = Manifest("run", 1, checkpoint_name(1, generation), generation, (), folders, {}).to_bytes()
    content = json.loads(body)
    del content["digest"]
    content["files"] = [{"path": path, "size": 0, "blocks": []}]
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return json.dumps({**content, "digest": hashlib.sha256(canonical).hexdigest()}).encode()


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "a/../../b", "", "a//b", "."])
def test_a_path_outside_of_the_folder_is_refused(path: str) -> None:
    with pytest.raises(Damaged, match="leaves the checkpoint's folder"):
        read_manifest(manifest_with(path), "run", "000000000001-000001-0123456789abcdef")


def test_a_manifest_of_another_run_or_with_a_path_twice_is_refused() -> None:
    name = "000000000001-000001-0123456789abcdef"
    assert read_manifest(manifest_with("a"), "run", name).files[0].path == "a"
    with pytest.raises(Damaged, match="describes"):
        read_manifest(manifest_with("a"), "other", name)
    with pytest.raises(Damaged, match="twice"):
        read_manifest(manifest_with("a", ("a",)), "run", name)


def test_links_are_no_part_of_a_checkpoint(hub: Hub) -> None:
    store, _ = hub.store("onprem")
    with pytest.raises(ValueError, match="link or a special file"), store.writing(1) as folder:
        (folder / "link").symlink_to(Path("/etc/passwd"))
    save(store, 2)
    with pytest.raises(ValueError, match="last checkpoint has step 2"):
        save(store, 2)
