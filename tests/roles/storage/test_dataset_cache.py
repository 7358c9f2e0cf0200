"""Cache of staged datasets on a node: the program `landbridge-data` with real files, processes and sockets.

The kernel's files about control groups are those of a folder; all else is real. Without root all users are the test's own.
"""

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.datasets.names import DATASET_FILE, MANIFEST_FILE
from sandbox.demo.cluster import wait_for
from tests.roles.storage.dataset_cache_node import PROGRAM, Node, cache, dataset, deep_folder, equal, site_files

Tree = tuple[str, int, float, bool]
TREES = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 50), st.booleans()), max_size=12).map(
    lambda rows: [(f"tree-{number}", size, float(last), used) for number, (size, last, used) in enumerate(rows)]
)


@given(TREES, st.integers(0, 20_000), st.integers(0, 60_000))
def test_eviction_removes_the_least_recently_used_and_never_one_in_use(
    trees: list[Tree], needed: int, limit: int
) -> None:
    removed = cache.eviction(trees, needed, limit)
    kept_at_least = sum(size for _, size, _, used in trees if used)
    if removed is None:
        assert kept_at_least + needed > limit
        return
    by_name = {tree[0]: tree for tree in trees}
    rest = [tree for tree in trees if tree[0] not in removed]
    assert not any(by_name[name][3] for name in removed)
    assert sum(size for _, size, _, _ in rest) + needed <= limit or (not trees and needed <= limit)
    # No more than needed: without the last removal it would not fit.
    if removed:
        assert sum(size for _, size, _, _ in rest) + by_name[removed[-1]][1] + needed > limit
    ages = [(by_name[name][2], name) for name in removed]
    assert ages == sorted(ages)
    assert all((tree[2], tree[0]) > ages[-1] for tree in rest if not tree[3] and ages)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path)
    yield node
    node.stop()


def test_a_dataset_is_copied_once_and_read_from_the_node(node: Node) -> None:
    source = node.staged("corpus", [100, 5_000_000, 0, 70])
    node.start()
    processes = [node.begin("corpus:v1", job) for job in (1, 2, 1)]
    outputs = [process.communicate() for process in processes]
    folder = Path(outputs[0][0].strip())
    assert {Path(output.strip()) for output, _ in outputs} == {
        folder
    } and folder.parent == node.folder / "cache/internal"
    assert equal(folder, source) and [messages for _, messages in outputs] == ["", "", ""]
    assert (
        os.access(folder / "part-0/file 00000", os.X_OK)
        and (folder / "part-1/file 00001").stat().st_mode & 0o777 == 0o444
    )
    assert (node.folder / "cache/internal").stat().st_mode & 0o777 == 0o750
    # Now the site is only asked for the digest.
    for path in source.glob("part-*/*"):
        path.write_bytes(b"")
    assert node.path("corpus:v1", 3) == (folder, "") and len(node.cached()) == 1
    listed = subprocess.run([*PROGRAM, "list"], env=node.environ, capture_output=True, text=True, check=True)
    assert listed.stdout.startswith("internal corpus:v1 5,000,170 bytes")


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("bit", "does not match its SHA-256"),
        ("short", "does not match its SHA-256"),
        ("link", "Too many levels of symbolic links"),
        ("pipe", "is not a file"),
        ("manifest", "does not match the digest"),
        ("outside", "leaves the folder"),
        ("old", "No such file"),
        ("deep", "RecursionError"),
        ("deep manifest", "RecursionError"),
        ("no job", "not a process of a Slurm job"),
        ("class", "is not cached on this node"),
        ("room", "do not fit"),
    ],
)
def test_the_site_is_read_if_the_cache_refuses(node: Node, reason: str, message: str) -> None:
    source = node.staged("corpus", [1000, 2000])
    file, manifest = source / "part-1/file 00001", source / MANIFEST_FILE
    if reason in ("bit", "short"):
        file.chmod(0o644)
        body = file.read_bytes()
        file.write_bytes(body[:-1] + (b"" if reason == "short" else bytes([body[-1] ^ 1])))
    elif reason in ("link", "pipe"):
        file.unlink()
        os.mkfifo(file) if reason == "pipe" else file.symlink_to("/etc/hostname")
    elif reason == "manifest":
        manifest.write_bytes(manifest.read_bytes().replace(b'"size":1000', b'"size":1001', 1))
    elif reason == "outside":
        content = json.loads(manifest.read_bytes())["content"]
        content["files"][0]["path"] = "../../../outside"
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        manifest.write_text(json.dumps({"content": content}))
        (source / DATASET_FILE).write_text(json.dumps({"digest": hashlib.sha256(canonical).hexdigest()}))
    elif reason == "old":
        manifest.unlink()
    elif reason.startswith("deep"):
        (manifest if reason == "deep manifest" else source / DATASET_FILE).write_text("[" * 60_000)
    elif reason == "room":
        node.limit = 2999
    elif reason == "class":
        node.staged("corpus", [10], "other")
    node.start()
    data_class = "other" if reason == "class" else "internal"
    path, messages = node.path("corpus:v1", None if reason == "no job" else 1, data_class)
    assert path == node.folder / "site" / data_class / "corpus/v1" and message in messages
    assert node.cached() == [] and not (node.folder / "outside").exists()


def test_a_user_s_deep_folder_ends_neither_the_service_nor_its_removal(node: Node, tmp_path: Path) -> None:
    node.start()
    deep_folder(tmp_path / "ended/20001")
    (tmp_path / "cache/.jobs").mkdir()
    (tmp_path / "ended").rename(tmp_path / "cache/.jobs/ended")
    wait_for("the removal", lambda: not (tmp_path / "cache/.jobs/ended").exists())
    assert node.service is not None and node.service.poll() is None


def test_without_the_service_the_site_is_read(node: Node) -> None:
    source = node.staged("corpus", [10])
    node.write()
    path, messages = node.path("corpus:v1", 1)
    assert path == source and "is read from the site" in messages
    process = node.begin("absent:v1", 1)
    assert process.communicate()[0] == "" and process.returncode == 1


def test_the_least_recently_used_dataset_is_removed_and_none_of_a_running_job(node: Node) -> None:
    for name in ("first", "second", "third", "fourth"):
        node.staged(name, [1_000_000])
    node.limit = 2_500_000
    node.start()
    first, _ = node.path("first:v1", 1)
    second, _ = node.path("second:v1", 2)
    # Both jobs run: nothing can be removed.
    path, messages = node.path("third:v1", 3)
    assert path == node.folder / "site/internal/third/v1" and "running jobs" in messages
    # Nor after a restart of the service.
    node.stop()
    node.start()
    assert node.path("third:v1", 3)[0] == path and first.exists() and second.exists()
    node.end(1)
    third, _ = node.path("third:v1", 3)
    assert not first.exists() and second.exists() and third.parent == second.parent
    node.end(2)
    node.end(3)
    os.utime(second / ".landbridge-cached.json", (2e9, 2e9))
    fourth, _ = node.path("fourth:v1", 4)
    assert second.exists() and not third.exists() and fourth.exists()


def test_data_of_a_class_that_is_not_kept_are_removed_after_the_last_job(node: Node) -> None:
    node.classes["restricted"] = {"group": "", "keep": False}
    node.staged("scans", [1000], "restricted")
    node.staged("corpus", [1000])
    node.start()
    corpus, _ = node.path("corpus:v1", 1)
    scans, _ = node.path("scans:v1", 1, "restricted")
    assert node.path("scans:v1", 2, "restricted")[0] == scans
    node.end(1)
    # A pass of the service has seen the end of the first job when this dataset of a third one is refused.
    node.job(9)
    wait_for("a pass", lambda: node.path("scans:v1", 2, "restricted")[0], scans.__eq__)
    assert scans.exists()
    node.end(2)
    wait_for("the removal", lambda: (scans.exists(), node.cached("restricted")), (False, []).__eq__)
    assert corpus.exists()


@pytest.mark.parametrize("seed", range(4))
def test_a_service_that_is_killed_during_a_copy_leaves_nothing_partial(node: Node, seed: int) -> None:
    source = node.staged("corpus", [300_000] * 60)
    rng = random.Random(seed)
    service = node.start()
    process = node.begin("corpus:v1", 1)
    filling = next(iter((node.folder / "cache/internal").iterdir()), None)
    count = rng.randrange(1, 50)

    def copied() -> int:
        nonlocal filling
        filling = next((node.folder / "cache/internal").glob(".filling-*"), None)
        return 0 if filling is None else sum(1 for path in filling.rglob("file ?????") if path.is_file())

    wait_for("some files", lambda: (copied(), node.cached()), lambda state: state[0] >= count or bool(state[1]))
    service.send_signal(signal.SIGKILL)
    service.wait()
    output, _ = process.communicate()
    # The job reads from the site, or was answered before.
    assert Path(output.strip()) in (source, *(node.folder / "cache/internal" / name for name in node.cached()))
    present = {path: path.stat().st_ino for path in (filling.rglob("file ?????") if filling is not None else ())}
    node.start()
    folder, messages = node.path("corpus:v1", 2)
    assert messages == "" and equal(folder, source)
    assert not list((node.folder / "cache/internal").glob(".filling-*"))
    assert not list(folder.rglob("*.incoming"))
    # Complete files are not copied again.
    for path, inode in present.items():
        assert filling is not None and (folder / path.relative_to(filling)).stat().st_ino == inode


def test_after_a_start_of_the_machine_an_unfinished_copy_is_begun_anew(node: Node) -> None:
    source = node.staged("corpus", [1000, 2000])
    digest = json.loads((source / DATASET_FILE).read_text())["digest"]
    node.start()
    node.stop()
    lost = node.folder / f"cache/internal/.filling-{digest}/part-0/file 00000"
    lost.parent.mkdir(parents=True)
    lost.write_bytes(b"\0" * 1000)
    (node.folder / "boot").write_text("second")
    node.start()
    assert not lost.exists()
    folder, _ = node.path("corpus:v1", 1)
    assert equal(folder, source)


@pytest.mark.lab
def test_a_user_gets_no_data_that_the_site_refuses(node: Node) -> None:
    """As root: the files are opened with the rights of the caller, and the class's folder is that of its group."""
    source = node.staged("corpus", [1000])
    source.parent.chmod(0o700)
    settings = {"root": str(node.folder / "cache"), "source": str(node.folder / "site"), "classes": node.classes}
    with (
        pytest.raises(dataset.NotCached, match="Permission denied"),
        contextlib.closing(site_files.UserFiles(str(source), 65534)) as files,
    ):
        files.open(DATASET_FILE)
    with contextlib.closing(site_files.UserFiles(str(source), 0)) as files, files.open(DATASET_FILE) as stream:
        assert b"digest" in stream.readall()
    assert settings["classes"] == node.classes and threading.active_count() >= 1
