"""Checkpoints whose files are written while training goes on, and those of several ranks in one folder."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from landbridge_checkpoints import CheckpointStore, ShardedCheckpoints


def writes(text: str, may_end: threading.Event | None = None) -> Callable[[Path], Callable[[], object]]:
    """Return the beginning of a save, as of DCP or Orbax: a thread writes the file, and the result waits for it."""

    def begin(folder: Path) -> Callable[[], object]:
        def write() -> None:
            if may_end is not None:
                may_end.wait()
            (folder / "state").write_text(text)

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        return thread.join

    return begin


def fails(folder: Path) -> Callable[[], object]:
    def wait() -> None:
        (folder / "half").write_text("half")
        raise OSError("No space left on device")

    return wait


def store_of(tmp_path: Path, messages: list[str], local: str = "local") -> CheckpointStore:
    url = (tmp_path / "shared").as_uri()
    return CheckpointStore("run", url=url, local=tmp_path / local, environ={}, say=messages.append)


def test_training_goes_on_and_the_checkpoint_exists_when_its_files_do(tmp_path: Path) -> None:
    store, may_end = store_of(tmp_path, []), threading.Event()
    store.restore()
    store.write_behind(1, writes("first", may_end))
    assert not list((tmp_path / "local/run").glob("0*")) and not store.finish(0.0)
    may_end.set()
    # The next one waits for it, and `writing` does.
    store.write_behind(2, writes("second"))
    with store.writing(3) as folder:
        (folder / "state").write_text("third")
    assert sorted(int(path.name[:12]) for path in (tmp_path / "local/run").glob("0*")) == [1, 2, 3]
    assert store.finish(60)
    restored = store_of(tmp_path, [], "other").restore()
    assert restored is not None and (restored.path / "state").read_text() == "third"
    with pytest.raises(ValueError, match="last checkpoint has step 3"):
        store.write_behind(3, writes("again"))


def test_a_save_that_fails_in_the_background_leaves_no_checkpoint_and_is_reported(tmp_path: Path) -> None:
    messages: list[str] = []
    store = store_of(tmp_path, messages)
    store.restore()
    store.write_behind(1, writes("first"))
    store.write_behind(2, fails)
    assert not store.finish(60)
    assert any("is not saved: OSError: No space left" in message for message in messages)
    assert not list((tmp_path / "local/run").glob(".partial-*"))
    store.write_behind(3, writes("third"))
    assert store.finish(60)
    with pytest.raises(ZeroDivisionError):
        store.write_behind(4, lambda folder: 1 / 0)  # type: ignore[arg-type,return-value]
    assert [int(path.name[:12]) for path in sorted((tmp_path / "local/run").glob("0*"))] == [1, 3]


def ranks_of(
    tmp_path: Path, start: int, count: int, messages: list[str], *, one_folder: bool
) -> list[ShardedCheckpoints]:
    """Return the opened stores of all ranks of a start."""
    ranks = [
        ShardedCheckpoints(
            "run",
            rank=rank,
            ranks=count,
            one_folder=one_folder,
            url=(tmp_path / "shared").as_uri(),
            local=tmp_path / f"start-{start}",
            environ={"SLURM_JOB_ID": "7", "SLURM_RESTART_COUNT": str(start)},
            say=messages.append,
        )
        for rank in range(count)
    ]
    token = ranks[0].open()
    for store in ranks[1:]:
        store.open(token)
    return ranks


def writes_of(rank: int) -> Callable[[Path], Callable[[], object]]:
    def begin(folder: Path) -> Callable[[], object]:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"of-{rank}").write_text(str(rank))
        return lambda: None

    return begin


@pytest.mark.parametrize("one_folder", [False, True])
def test_another_number_of_ranks_restores_the_files_of_all(tmp_path: Path, one_folder: bool) -> None:
    messages: list[str] = []
    ranks = ranks_of(tmp_path, 0, 3, messages, one_folder=one_folder)
    assert [store.restore() for store in ranks] == [None] * 3
    order = ranks if one_folder else ranks[::-1]
    for store in order:
        store.write_behind(1, writes_of(ranks.index(store)))
    if one_folder:
        # The framework's own barrier: the first rank waits until all have written.
        assert ranks[0]._behind.wait(60)
    assert all(store.finish(60) for store in ranks), messages
    for store in ranks_of(tmp_path, 1, 2, messages, one_folder=one_folder):
        restored = store.restore()
        assert restored is not None and {path.name for path in restored.path.iterdir()} >= {"of-0"}
        if not one_folder:
            assert sorted(path.name for path in restored.path.iterdir()) == ["of-0", "of-1", "of-2"]


def test_ranks_send_the_checkpoint_that_the_first_one_sends(tmp_path: Path) -> None:
    """Each would otherwise send the newest of its own, and no checkpoint would have the parts of all."""
    messages: list[str] = []
    ranks = ranks_of(tmp_path, 0, 2, messages, one_folder=False)
    for step in (1, 2, 3):
        ranks[1].write_behind(step, writes_of(1))
    ranks[0].write_behind(2, writes_of(0))
    assert ranks[0].finish(60), messages
    names = [path.stem for path in (tmp_path / "shared/run/manifests").iterdir()]
    assert [int(name[:12]) for name in names] == [2]
    assert not any("given up" in message or "attempt" in message for message in messages)


def test_a_damaged_checkpoint_is_passed_over_by_the_next_start(tmp_path: Path) -> None:
    from landbridge_checkpoints import Damaged

    messages: list[str] = []
    ranks = ranks_of(tmp_path, 0, 2, messages, one_folder=False)
    for step in (1, 2):
        for store in ranks:
            store.write_behind(step, writes_of(ranks.index(store)))
        assert all(store.finish(60) for store in ranks)
    block = sorted((tmp_path / "shared/run/blocks").glob("000000000002-*/*"))[0]
    block.write_bytes(bytes([block.read_bytes()[0] ^ 1]))
    [first, second] = ranks_of(tmp_path, 1, 2, messages, one_folder=False)
    for store in (first, second):
        with pytest.raises(Damaged, match="does not match its SHA-256"):
            store.restore()
    assert not list((tmp_path / "start-1/whole/run").glob("0*"))
    for store in ranks_of(tmp_path, 2, 2, messages, one_folder=False):
        restored = store.restore()
        assert restored is not None and restored.step == 1
    assert any("did not match its SHA-256 at an earlier start" in message for message in messages)
