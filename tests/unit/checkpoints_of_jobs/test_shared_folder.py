"""Objects in a folder of a shared file system: conditional writes of several processes, and nothing partial."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from landbridge_checkpoints import CheckpointStore, Unreachable
from landbridge_checkpoints.objects import objects
from landbridge_checkpoints.shared_folder import SharedFolder

from tests.unit.checkpoints_of_jobs.conftest import ROOT, Training

COUNT = """
import sys
from landbridge_checkpoints.shared_folder import SharedFolder
folder, wins = SharedFolder(sys.argv[1]), 0
while wins < 40:
    body, etag = folder.get("counter")
    wins += folder.put("counter", b"%d" % (int(body) + 1), if_etag=etag) is not None
"""
WRITE = """
import sys
from landbridge_checkpoints.shared_folder import SharedFolder
folder, number = SharedFolder(sys.argv[1]), 0
while True:
    number += 1
    folder.put(f"blocks/{number}", b"x" * 3_000_000, if_absent=True)
    print(number, flush=True)
"""


def python(*words: str, **options: Any) -> "subprocess.Popen[str]":
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'examples/checkpoints'}"}
    return subprocess.Popen([sys.executable, *words], cwd=ROOT, env=environ, text=True, **options)


def test_of_processes_that_replace_one_version_one_is_accepted(tmp_path: Path) -> None:
    folder = SharedFolder(tmp_path.as_uri())
    assert folder.put("counter", b"0", if_absent=True) == "1"
    counters = [python("-c", COUNT, tmp_path.as_uri()) for _ in range(3)]
    assert [counter.wait(300) for counter in counters] == [0, 0, 0]
    stored = folder.get("counter")
    assert stored == (b"120", "121")
    # The first file, the newest and the one before it; no file that was not renamed or linked.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["counter", "counter.v120", "counter.v121"]


def test_a_version_that_is_removed_while_it_is_compared_was_replaced(tmp_path: Path) -> None:
    folder = SharedFolder(tmp_path.as_uri())
    assert folder.put("counter", b"0", if_absent=True) == "1"
    # The name is taken, and its file is gone: the state between the two calls of a process that others overtake.
    (tmp_path / "counter.v2").symlink_to("removed")
    assert folder.put("counter", b"1", if_etag="1") is None


def test_conditions(tmp_path: Path) -> None:
    folder = SharedFolder(tmp_path.as_uri())
    assert folder.get("a/b") is None and list(folder.list("a/")) == []
    assert folder.put("a/b", b"1", if_absent=True) == "1" and folder.put("a/b", b"2", if_absent=True) is None
    assert folder.put("a/b", b"2", if_etag="1") == "2" and folder.put("a/b", b"3", if_etag="1") is None
    assert folder.put("a/b", b"3", if_absent=True) is None
    assert folder.put("a/b", b"3", if_etag="2") == "3" and folder.put("a/b", b"4", if_etag="3") == "4"
    # The file of a version long ago is gone: its name is free, and the write has no effect nevertheless.
    assert not (tmp_path / "a/b.v2").exists() and folder.put("a/b", b"old", if_etag="1") is None
    assert folder.get("a/b") == (b"4", "4")
    assert [entry.key for entry in folder.list("a/")] == ["a/b"]
    folder.put("c/d", b"x")
    folder.delete(["c/d", "c/absent"])
    assert folder.get("c/d") is None and not (tmp_path / "c").exists()


def test_a_writer_that_is_killed_leaves_no_partial_object(tmp_path: Path) -> None:
    for kill in range(3):
        writer = python("-c", WRITE, (tmp_path / str(kill)).as_uri(), stdout=subprocess.PIPE)
        assert writer.stdout is not None
        for _ in range(kill + 1):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        folder = SharedFolder((tmp_path / str(kill)).as_uri())
        listed = list(folder.list("blocks/"))
        assert len(listed) >= kill + 1
        assert all(folder.get(entry.key) == (b"x" * 3_000_000, "1") for entry in listed)


@pytest.mark.parametrize("url", ["file:relative", "file://host/folder", "http://x/y", "s3://UPPER", "file:///a?b"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        objects(url, 1)


def test_a_folder_that_cannot_be_written_is_unreachable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("-")
    folder = SharedFolder((tmp_path / "file").as_uri())
    for call in (lambda: folder.put("a/b", b""), lambda: folder.get("a/b"), lambda: folder.delete(["a/b"])):
        with pytest.raises(Unreachable):
            call()


def train(tmp_path: Path, node: str, restarts: int, job: str = "7", **words: Any) -> Training:
    """Start the training loop on a node; nothing but the shared folder is common to the nodes. boto3 is not importable."""
    words = {"run": f"run-{job}", "local": str(tmp_path / node), "steps": 12, "every": 3, **words}
    (tmp_path / "no/boto3").mkdir(parents=True, exist_ok=True)
    (tmp_path / "no/boto3/__init__.py").write_text("raise ImportError('boto3')")
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{tmp_path / 'no'}:{ROOT}:{ROOT / 'examples/checkpoints'}",
        "SLURM_JOB_ID": job,
        "SLURM_RESTART_COUNT": str(restarts),
        "LANDBRIDGE_CHECKPOINT_URL": (tmp_path / "shared").as_uri(),
    }
    log = tmp_path / f"{node}-{job}-{restarts}.log"
    command = [sys.executable, "-m", "tests.unit.checkpoints_of_jobs.trainer", json.dumps(words)]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=stream, stderr=subprocess.STDOUT)
    return Training(process, log)


def test_a_job_that_is_killed_goes_on_from_the_shared_folder_without_boto3(tmp_path: Path) -> None:
    first = train(tmp_path, "node-1", 0, pause_at=4)
    first.wait_for("paused")
    first.kill()
    second = train(tmp_path, "node-2", 1, pause_at=8)
    second.wait_for("paused")
    second.kill()
    third = train(tmp_path, "node-1", 2).finished()
    whole = train(tmp_path, "node-3", 0, "8").finished()
    assert "(step 3) from the bucket" in second.text() and "(step 6) from the bucket" in third.text()
    assert {**first.losses, **second.losses, **third.losses} == whole.losses and list(whole.losses) == [*range(1, 13)]
    newer = CheckpointStore("run-7", url=(tmp_path / "shared").as_uri(), local=tmp_path / "node-4", environ={})
    restored = newer.restore()
    assert restored is not None and restored.step == 12
