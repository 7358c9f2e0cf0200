"""Checkpoints of several ranks: complete when every rank has written its part; a rank that is killed leaves none."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from landbridge_checkpoints import ShardedCheckpoints
from landbridge_checkpoints.store import Restored

from tests.unit.checkpoints_of_jobs.conftest import BUCKET, ROOT, Hub
from tests.unit.checkpoints_of_jobs.rank import train_step, write_part

RANKS = 3


def start(hub: Hub, rank: int, **words: Any) -> "subprocess.Popen[str]":
    known = {"run": "run", "rank": rank, "ranks": RANKS, "steps": 6, "timeout": 60}
    known |= {"local": str(hub.folder / f"node-{rank}"), "token": str(hub.folder / "token")}
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'examples/checkpoints'}", **hub.environ()}
    command = [sys.executable, "-m", "tests.unit.checkpoints_of_jobs.rank", json.dumps({**known, **words})]
    return subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True)


def stores(hub: Hub, restarts: int, messages: list[str] | None = None) -> list[ShardedCheckpoints]:
    """Return the opened stores of all ranks at a start of the job, in this process; two of them share a node."""
    lines = [] if messages is None else messages
    ranks = [
        ShardedCheckpoints(
            "run",
            rank=rank,
            ranks=RANKS,
            local=hub.folder / f"other-{restarts}-{rank // 2}",
            environ=hub.environ(restarts),
            say=lines.append,
        )
        for rank in range(RANKS)
    ]
    token = ranks[0].open(wait=60)
    for store in ranks[1:]:
        store.open(token)
    return ranks


def save(ranks: list[ShardedCheckpoints], step: int, absent: int | None = None) -> None:
    """Save a checkpoint with all ranks but one."""
    for rank, store in enumerate(ranks):
        if rank != absent:
            with store.writing(step) as folder:
                write_part(folder, rank, float(step))


def names(restored: Restored | None) -> list[str]:
    assert restored is not None
    return sorted(path.name for path in restored.path.iterdir())


FILES = [".metadata", "__0_0.distcp", "__1_0.distcp", "__2_0.distcp"]


def test_a_rank_that_is_killed_leaves_no_checkpoint(hub: Hub) -> None:
    killed = start(hub, 2, killed_at=6)
    others = [start(hub, 0, timeout=4), start(hub, 1)]
    assert killed.wait(120) == -signal.SIGKILL
    lines = [process.communicate()[0].splitlines()[-1] for process in others]
    # The first rank waits for the part that is missing; the second one has sent its own.
    assert lines == ["not complete 6", "finished 6"]
    assert hub.steps() == [3] and hub.latest()["checkpoint"]["step"] == 3
    assert len([key for key in hub.keys("parts/") if "/000000000006-" in key]) == 2
    # A start at another site, with other disks: all ranks restore step 3, and go on with the same state.
    ranks = stores(hub, 1)
    for rank, store in enumerate(ranks):
        restored, value = store.restore(60), 0.0
        assert names(restored) == FILES and restored is not None and restored.step == 3
        for step in range(1, 4):
            value = train_step(value, rank, step)
        assert json.loads((restored.path / f"__{rank}_0.distcp").read_text()) == value
    save(ranks, 6)
    assert all(store.finish(60) for store in ranks)
    assert hub.steps() == [3, 6] and hub.latest()["checkpoint"]["step"] == 6


@pytest.mark.long
def test_an_older_start_sends_nothing_more(hub: Hub) -> None:
    messages: list[str] = []
    old = stores(hub, 0, messages)
    assert [store.restore(60) for store in old] == [None] * RANKS
    save(old, 1)
    assert all(store.finish(60) for store in old)
    new = stores(hub, 1)
    save(old, 2)
    for store in old:
        store.finish(60)
    assert all(store.superseded for store in old) and hub.steps() == [1]
    assert [names(store.restore(60)) for store in new] == [FILES] * RANKS
    # A checkpoint that lacks a block is passed over, for all ranks.
    save(new, 2)
    assert all(store.finish(60) for store in new) and hub.steps() == [1, 2]
    key = next(key for key in hub.keys("blocks/") if key.startswith("blocks/000000000002-000002-"))
    hub.s3.delete_object(Bucket=BUCKET, Key=f"vision/run/{key}")
    last = stores(hub, 2, messages)
    assert [restored.step for store in last if (restored := store.restore(60))] == [1] * RANKS
    assert any("lacks 1 blocks" in message for message in messages)


@pytest.mark.long
def test_a_path_that_two_ranks_write_is_refused(hub: Hub) -> None:
    messages: list[str] = []
    ranks = stores(hub, 0, messages)
    for store in ranks:
        with store.writing(1) as folder:
            (folder / ".metadata").write_text("one for all")
    assert not ranks[0].finish(60)
    assert hub.steps() == [] and any("a path is listed twice" in message for message in messages)


def test_ranks_open_in_order(hub: Hub) -> None:
    words: dict[str, Any] = {"ranks": 2, "local": hub.folder, "environ": hub.environ()}
    with pytest.raises(ValueError, match="without a token"):
        ShardedCheckpoints("run", rank=1, **words).open()
    with pytest.raises(ValueError, match="call the method open first"):
        ShardedCheckpoints("run", rank=0, **words).restore()
    with pytest.raises(ValueError, match="rank 2 of 2"):
        ShardedCheckpoints("run", rank=2, **words)
    with pytest.raises(ValueError, match="need a bucket"):
        ShardedCheckpoints("run", rank=0, url="", **words)


@pytest.mark.parametrize("change", [{"run": "../other"}, {"run": "a/b"}, {"keep": 0}, {"workers": 0}])
def test_a_run_that_leaves_its_folder_and_numbers_below_one_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    options = {"run": "r", "rank": 0, "ranks": 2, "url": "s3://bucket/x", "local": tmp_path, "environ": {}, **change}
    with pytest.raises(ValueError, match=r"letters, digits|at least 1"):
        ShardedCheckpoints(**options)
