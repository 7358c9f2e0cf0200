"""Uploads that are killed at each request: nothing partial counts, and the next start continues from a complete one."""

from datetime import timedelta
from typing import Any

import pytest
from landbridge_checkpoints import uploads

from sandbox.demo.cluster import wait_for
from tests.unit.checkpoints_of_jobs.conftest import Hub, save

#: PUT requests of a start with its first checkpoint: claim, two blocks, manifest, pointer.
CLAIM, BLOCKS, MANIFEST, POINTER = 0, 1, 3, 4
CUT: dict[str, Any] = {"hold": 3600, "cut": True}


def kill_at(hub: Hub, calls: int, fault: dict[str, Any], **words: Any) -> None:
    """Train at the site, hold the PUT request after `calls` further ones, and kill the process."""
    passed = [{"times": calls}] if calls else []
    hub.cloud.control(reset=True, faults={"s3:PUT": [*passed, fault]})
    training = hub.train("onprem", **words)
    # Two blocks are sent at a time, so that both may wait.
    wait_for("the held call", lambda: hub.cloud.control()["held"].get("s3:PUT", 0), lambda count: count > 0)
    training.kill()
    hub.cloud.control(reset=True, faults={})
    wait_for("the answer", lambda: hub.cloud.control()["held"], {}.__eq__)


@pytest.mark.parametrize(
    ("calls", "fault", "complete"),
    [
        (CLAIM, CUT, []),
        (CLAIM, {**CUT, "after": True}, []),
        (BLOCKS, CUT, []),
        (BLOCKS + 1, CUT, []),
        (MANIFEST, CUT, []),
        (MANIFEST, {**CUT, "after": True}, [3]),
        (POINTER, CUT, [3]),
        (POINTER, {**CUT, "after": True}, [3]),
    ],
)
def test_a_killed_upload_is_complete_or_absent(
    hub: Hub, calls: int, fault: dict[str, Any], complete: list[int]
) -> None:
    kill_at(hub, calls, fault, pause_at=3)
    assert hub.steps() == complete
    store, _ = hub.store("aws", 1)
    restored = store.restore(60)
    assert (None if restored is None else restored.step) == (3 if complete else None)
    save(store, 6)
    assert hub.latest()["checkpoint"]["step"] == 6


def test_a_second_upload_killed_leaves_the_first_one(hub: Hub) -> None:
    kill_at(hub, POINTER + 1 + 2, CUT, pause_at=6, steps=6)
    assert hub.steps() == [3] and hub.latest()["checkpoint"]["step"] == 3
    store, messages = hub.store("aws", 1)
    restored = store.restore(60)
    assert restored is not None and restored.step == 3 and restored.source == "bucket", messages
    # The local disk of the first site has the checkpoint that was not sent.
    back, _ = hub.store("onprem", 2)
    restored = back.restore(60)
    assert restored is not None and restored.step == 6 and restored.source == "local disk"
    # Now it is sent, for a later start at the other site.
    assert back.finish(60) and hub.steps() == [3, 6] and hub.latest()["checkpoint"]["step"] == 6


def test_a_save_that_is_killed_leaves_no_checkpoint(hub: Hub) -> None:
    store, _ = hub.store("onprem")
    save(store, 1)
    with pytest.raises(FileNotFoundError), store.writing(2) as folder:
        (folder / "half").write_bytes((folder / "absent").read_bytes())
    # A process that is killed leaves its unfinished folder.
    unfinished = hub.folder / "onprem/run/.partial-000000000003-000001-0123456789abcdef-0123456789abcdef/files"
    unfinished.mkdir(parents=True)
    (unfinished / "half").write_text("half")
    again, _ = hub.store("onprem", 1, url="")
    restored = again.restore()
    assert restored is not None and restored.step == 1


@pytest.mark.parametrize("read", [2, 3])
def test_a_restore_that_is_killed_leaves_no_checkpoint_on_the_local_disk(hub: Hub, read: int) -> None:
    store, _ = hub.store("onprem")
    save(store, 1)
    # GET: pointer, listing, manifest, blocks.
    hub.cloud.control(reset=True, faults={"s3:GET": [{"times": 1 + read}, CUT]})
    training = hub.train("aws", 1)
    hub.held("GET")
    training.kill()
    hub.cloud.control(reset=True, faults={})
    again, _ = hub.store("aws", 2, url="")
    assert again.restore() is None
    third, _ = hub.store("aws", 2)
    restored = third.restore(60)
    assert restored is not None and (restored.path / "meta.json").read_text() == '{"step": 1}'


def test_blocks_of_a_killed_upload_are_removed_after_a_day(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    kill_at(hub, MANIFEST, CUT, pause_at=3)
    assert len(hub.keys("blocks/")) == 2
    store, _ = hub.store("aws", 1)
    store.restore(60)
    save(store, 4)
    assert len(hub.keys("blocks/")) == 4
    monkeypatch.setattr(uploads, "ABANDONED", timedelta())
    save(store, 5)
    assert len(hub.keys("blocks/")) == 4 and hub.steps() == [4, 5]
