"""Uploads that fail, pruning, the end of a job, bandwidth, and folders of any format."""

import os
import signal
import threading
from pathlib import Path

import pytest
from landbridge_checkpoints import CheckpointStore, StopSignals, Unreachable, folders
from landbridge_checkpoints.bucket import BucketPrefix
from landbridge_checkpoints.rate import UploadRate
from landbridge_checkpoints.threads import BackgroundSender, run_all

from sandbox.demo.cluster import wait_for
from tests.unit.checkpoints_of_jobs.conftest import BUCKET, URL, Hub, save


def local_steps(hub: Hub, site: str) -> list[int]:
    return sorted(int(path.name.split("-")[0]) for path in (hub.folder / site / "run").iterdir())


def test_failed_uploads_do_not_stop_training_and_are_repeated(hub: Hub) -> None:
    store, messages = hub.store("onprem")
    store.restore(60)
    hub.cloud.control(faults={"s3:PUT": [{"code": "InternalError", "status": 500, "times": 7}]})
    save(store, 1)
    assert hub.steps() == [1] and store.failures >= 1
    assert any("InternalError" in message and "trying again" in message for message in messages)
    assert any("is sent after" in message for message in messages)


def test_finish_gives_up_at_its_bound_and_the_checkpoint_stays_on_the_local_disk(hub: Hub) -> None:
    store, messages = hub.store("onprem")
    store.restore(60)
    hub.cloud.control(reset=True, faults={"s3:PUT": [{"hold": 3600}]})
    with store.writing(1) as folder:
        (folder / "state").write_text("state")
    hub.held("PUT")
    assert store.finish(0.1) is False and "is not sent after" in messages[-1]
    again, _ = hub.store("onprem", 1, url="")
    restored = again.restore()
    assert restored is not None and restored.step == 1
    hub.cloud.control(reset=True, faults={})
    assert store.finish(60)


def test_of_waiting_checkpoints_only_the_newest_is_sent(hub: Hub) -> None:
    store, messages = hub.store("onprem", keep=1)
    store.restore(60)
    hub.cloud.control(reset=True, faults={"s3:PUT": [{"hold": 3600}]})
    for step in (1, 2, 3):
        with store.writing(step) as folder:
            (folder / "state").write_text("state")
        hub.held("PUT")
    # The one that is being sent is not removed from the local disk.
    assert local_steps(hub, "onprem") == [1, 3]
    hub.cloud.control(reset=True, faults={})
    assert store.finish(60)
    assert hub.steps() == [3] and any("is not sent, because" in message for message in messages)
    assert local_steps(hub, "onprem") == [3]


def test_without_an_answer_of_s3_a_run_does_not_begin_anew(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = hub.store("onprem")
    save(store, 1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    other, messages = hub.store("aws", 1)
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9"):
        other.restore(wait=0)
    assert "given up" in messages[-1]
    # The local disk has one: better an older checkpoint than none.
    same, _ = hub.store("onprem", 1)
    restored = same.restore(wait=0)
    assert restored is not None and restored.source == "local disk"


def test_a_job_that_started_without_s3_claims_the_run_later(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    old, _ = hub.store("onprem", 0)
    old.restore(60)
    save(old, 1)
    new, _ = hub.store("onprem", 1)
    hub.cloud.control(faults={"s3:GET": [{"code": "InternalError", "status": 500, "times": 3}]})
    restored = new.restore(wait=0)
    assert restored is not None and restored.source == "local disk"
    save(new, 2)
    assert hub.latest()["generation"]["number"] == 2 and hub.steps() == [1, 2]
    with old.writing(2) as folder:
        (folder / "state").write_text("state")
    assert old.finish(60) is False and old.superseded


def test_pruning_keeps_the_newest_and_the_one_of_the_pointer(hub: Hub) -> None:
    store, _ = hub.store("onprem", keep=2)
    store.restore(60)
    for step in (1, 2, 3):
        save(store, step)
    assert hub.steps() == [2, 3] and len(hub.keys("blocks/")) == 4 and local_steps(hub, "onprem") == [2, 3]
    # Checkpoints of an older start with greater steps, that the pointer does not name.
    keys = [key for key in hub.keys("manifests/") if "000000000003-" in key]
    for step in (7, 8, 9):
        copied = keys[0].replace("000000000003-", f"{step:012d}-")
        hub.s3.copy_object(
            Bucket=BUCKET, Key=f"vision/run/{copied}", CopySource={"Bucket": BUCKET, "Key": f"vision/run/{keys[0]}"}
        )
    save(store, 4)
    assert hub.latest()["checkpoint"]["step"] == 4 and hub.steps() == [4, 8, 9]
    again, messages = hub.store("aws", 1)
    restored = again.restore(60)
    assert restored is not None and restored.step == 4 and sum("passed over" in text for text in messages) == 2


def test_without_the_right_to_delete_old_checkpoints_stay_and_that_is_reported_once(hub_without_delete: Hub) -> None:
    store, messages = hub_without_delete.store("onprem", keep=1)
    store.restore(60)
    for step in (1, 2, 3):
        save(store, step)
    assert hub_without_delete.steps() == [1, 2, 3]
    assert len([message for message in messages if "are not deleted" in message and "AccessDenied" in message]) == 1


def test_a_folder_of_any_format_is_kept_as_it_is(hub: Hub) -> None:
    """Layouts of PyTorch DCP and of Orbax, as their documentation describes them: hidden files and empty folders."""
    files = {
        "dcp/.metadata": b"\x80pickle",
        "dcp/__0_0.distcp": os.urandom(3000),
        "orbax/default/_METADATA": b"{}",
        "orbax/default/ocdbt.process_0/d/0a": b"",
        "orbax/default/array_metadatas/process_0": b"[]",
        "manifest.json": b"of the format itself",
    }
    store, _ = hub.store("onprem")
    store.restore(60)
    with store.writing(1, {"loss": 0.5}) as folder:
        for name, body in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(body)
        (folder / "orbax/default/d").mkdir()
    assert store.finish(60)
    other, _ = hub.store("aws", 1)
    restored = other.restore(60)
    assert restored is not None and restored.facts == {"loss": 0.5}
    present = {str(path.relative_to(restored.path)): path for path in restored.path.rglob("*")}
    assert {name: path.read_bytes() for name, path in present.items() if path.is_file()} == files
    assert present["orbax/default/d"].is_dir()
    # The other nodes of the run get the same one.
    node, _ = hub.store("node-2", 1)
    assert (node.fetch(restored.name).path / "dcp/.metadata").read_bytes() == files["dcp/.metadata"]
    assert hub.latest()["generation"]["number"] == 2


def test_a_large_file_has_several_blocks(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    body = os.urandom(10_000)
    monkeypatch.setattr(folders, "BLOCK_BYTES", 4096)
    store, _ = hub.store("onprem")
    store.restore(60)
    with store.writing(1) as folder:
        (folder / "large").write_bytes(body)
    assert store.finish(60) and len(hub.keys("blocks/")) == 3
    other, _ = hub.store("aws", 1)
    restored = other.restore(60)
    assert restored is not None and (restored.path / "large").read_bytes() == body


def test_uploads_keep_a_bandwidth_limit(hub: Hub) -> None:
    waits: list[float] = []
    rate = UploadRate(1000.0, clock=lambda: sum(waits), sleep=waits.append)
    for _ in range(4):
        rate.take(500)
    assert sum(waits) == pytest.approx(2.0)
    # With a limit, bodies are sent through another stream: they arrive unchanged.
    store, _ = hub.store("onprem", limit_mbit=80)
    store.restore(60)
    save(store, 1)
    other, _ = hub.store("aws", 1)
    assert other.restore(60) is not None


def test_a_signal_is_noted_and_the_former_handler_returns() -> None:
    before = signal.getsignal(signal.SIGUSR1)
    with StopSignals() as stop:
        assert not stop.requested and not stop.wait(0)
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        assert stop.wait(60) and stop.requested and stop.received == signal.SIGUSR1
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.received == signal.SIGUSR1
    assert signal.getsignal(signal.SIGUSR1) is before


def test_the_job_gives_run_folder_and_bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slurm = {"SLURM_CLUSTER_NAME": "acme", "SLURM_JOB_ID": "12", "SCRATCH": str(tmp_path)}
    store = CheckpointStore(environ=slurm)
    with store.writing(1) as folder:
        (folder / "state").write_text("state")
    assert folder.is_relative_to(tmp_path / "checkpoints/acme-12") and store.finish(0)
    with pytest.raises(ValueError, match="use letters"):
        CheckpointStore("../run", environ=slurm)
    with pytest.raises(ValueError, match="s3://BUCKET/PREFIX"):
        CheckpointStore(environ={**slurm, "LANDBRIDGE_CHECKPOINT_URL": "https://example.org"})
    assert BucketPrefix(f"{URL}/", 1).url == URL


def test_threads_never_keep_a_process_alive_and_raise_in_the_caller() -> None:
    def fail() -> None:
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        run_all([fail, lambda: None], 2)
    release = threading.Event()
    sender = BackgroundSender(lambda name: bool(release.wait()) and None, lambda text: None)  # type: ignore[func-returns-value]
    sender.put("one")
    wait_for("the thread", sender.unsent, {"one"}.__eq__)
    assert all(thread.daemon for thread in threading.enumerate() if thread.name.startswith("checkpoint"))
    assert not sender.drain(0)
    release.set()
    assert sender.drain(60)
