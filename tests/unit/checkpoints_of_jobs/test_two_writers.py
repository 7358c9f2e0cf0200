"""Two processes of one run: the newer start is the only writer, and the pointer never goes back."""

import json
import threading
from typing import Any

import pytest
from landbridge_checkpoints import Superseded

from tests.unit.checkpoints_of_jobs.conftest import BUCKET, Hub, save

POINTER = "vision/run/latest.json"


def text_of(messages: list[str]) -> str:
    return "\n".join(messages)


def test_the_old_job_at_the_lost_site_stops_when_the_new_one_starts(hub: Hub) -> None:
    old, old_messages = hub.store("onprem", 0)
    assert old.restore(60) is None
    save(old, 3)
    # The old job sends its next checkpoint when the new one starts at the other site.
    hub.cloud.control(reset=True, faults={"s3:PUT": [{"hold": 3600}]})
    with old.writing(6) as folder:
        (folder / "state").write_text("of the old job")
    hub.held("PUT")
    new, _ = hub.store("aws", 1)
    restored = new.restore(60)
    assert restored is not None and restored.step == 3
    save(new, 4)
    hub.cloud.control(reset=True, faults={})
    assert old.finish(60) is False and old.superseded
    assert "generation 2 (job 7, restart 1) has the run" in text_of(old_messages)
    # The old job goes on training, and sends nothing more.
    with old.writing(9) as folder:
        (folder / "state").write_text("of the old job")
    assert old.finish(60) is False
    assert hub.steps() == [3, 4] and hub.latest()["checkpoint"]["step"] == 4


def test_a_manifest_in_flight_at_the_claim_does_not_move_the_pointer(hub: Hub) -> None:
    old, _ = hub.store("onprem", 0)
    old.restore(60)
    save(old, 3)
    # One block, then the manifest: its request takes effect only after the new job has started.
    hub.cloud.control(reset=True, faults={"s3:PUT": [{"times": 1}, {"hold": 3600}]})
    with old.writing(6) as folder:
        (folder / "state").write_text("of the old job")
    hub.held("PUT")
    new, _ = hub.store("aws", 1)
    assert new.restore(60) is not None
    hub.cloud.control(reset=True, faults={})
    assert old.finish(60) is False and old.superseded
    assert hub.steps() == [3, 6] and hub.latest()["checkpoint"]["step"] == 3
    # It is complete, so that a later start may use it; the names of the two jobs differ.
    save(new, 6, "of the new job")
    third, _ = hub.store("elsewhere", 2)
    restored = third.restore(60)
    assert restored is not None and restored.name.startswith("000000000006-000002-")
    assert hub.latest()["checkpoint"]["name"] == restored.name


def test_the_pointer_does_not_go_back_in_step(hub: Hub) -> None:
    first, _ = hub.store("onprem", 0)
    first.restore(60)
    save(first, 9)
    # A start that could not restore the newest checkpoint.
    second, messages = hub.store("aws", 1)
    second._bucket.latest.claim(starts=True)  # type: ignore[union-attr]
    save(second, 5)
    assert hub.latest()["checkpoint"]["step"] == 9 and "has a greater step" in text_of(messages)
    save(second, 12)
    assert hub.latest()["checkpoint"]["step"] == 12


def test_an_older_start_of_the_job_is_refused(hub: Hub) -> None:
    new, _ = hub.store("aws", 2)
    new.restore(60)
    old, _ = hub.store("onprem", 1)
    with pytest.raises(Superseded, match="restart 2"):
        old.restore(60)
    assert new.restore(60) is None


@pytest.mark.parametrize("fault", [{"cut": True, "after": True}, {"code": "SlowDown", "status": 503, "after": True}])
def test_a_write_whose_answer_is_lost_is_no_conflict(hub: Hub, fault: dict[str, Any]) -> None:
    """The SDK repeats it, and S3 refuses the second one, since the first one has changed the ETag."""
    store, _ = hub.store("onprem", 0)
    hub.cloud.control(reset=True, faults={"s3:PUT": [fault]})
    assert store.restore(60) is None
    hub.cloud.control(reset=True, faults={"s3:PUT": [{"times": 2}, fault, fault]})
    save(store, 3)
    assert hub.steps() == [3] and hub.latest()["checkpoint"]["step"] == 3 and not store.superseded


def test_of_two_starts_at_one_time_one_is_refused_and_repeats(hub: Hub) -> None:
    first, _ = hub.store("onprem", 0, job="7")
    other, _ = hub.store("aws", 0, job="8")
    # Both have read that there is no pointer: the conditional write of the first one is held before it takes effect.
    hub.cloud.control(reset=True, faults={"s3:PUT": [{"hold": 3600}]})
    start = threading.Thread(target=first.restore, args=(60,))
    start.start()
    hub.held("PUT")
    assert other.restore(60) is None
    hub.cloud.control(reset=True, faults={})
    start.join()
    assert hub.latest()["generation"]["number"] == 2 and hub.latest()["generation"]["job"] == "7"
    with other.writing(1) as folder:
        (folder / "state").write_text("-")
    assert other.finish(60) is False and other.superseded


def test_a_damaged_pointer_is_written_anew_and_no_checkpoint_is_lost(hub: Hub) -> None:
    store, _ = hub.store("onprem", 0)
    store.restore(60)
    save(store, 3)
    hub.s3.put_object(Bucket=BUCKET, Key=POINTER, Body=b"{")
    new, messages = hub.store("aws", 1)
    restored = new.restore(60)
    assert restored is not None and restored.step == 3 and "unreadable" in text_of(messages)
    save(new, 4)
    hub.s3.delete_object(Bucket=BUCKET, Key=POINTER)
    save(new, 5)
    assert json.dumps(hub.latest()["checkpoint"]["step"]) == "5"


def test_a_pointer_in_flight_at_the_claim_does_not_replace_the_claim(hub: Hub) -> None:
    old, _ = hub.store("onprem", 0)
    old.restore(60)
    save(old, 3)
    # One block, the manifest, then the pointer, whose request takes effect only after the new job has started.
    hub.cloud.control(reset=True, faults={"s3:PUT": [{"times": 2}, {"hold": 3600}]})
    with old.writing(6) as folder:
        (folder / "state").write_text("of the old job")
    hub.held("PUT")
    new, _ = hub.store("aws", 1)
    restored = new.restore(60)
    assert restored is not None and restored.step == 6
    hub.cloud.control(reset=True, faults={})
    assert old.finish(60) is False and old.superseded
    assert new.finish(60)
    assert hub.latest()["generation"]["number"] == 2 and hub.latest()["checkpoint"]["step"] == 6
    save(new, 7)
    assert hub.latest()["checkpoint"]["step"] == 7
