"""Wheelhouse: which packages are downloaded, by which process, and the end of an early download."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sandbox.nspawn.host import wheelhouse

ROOT = Path(__file__).resolve().parents[3]


def test_each_requirement_of_each_lock_is_downloaded_once_with_its_hashes() -> None:
    locks = wheelhouse.locks(ROOT)
    blocks = wheelhouse.requirement_blocks(locks)
    pinned = {
        line.split()[0] for lock in locks for line in lock.read_text().splitlines() if re.match(r"[\w.-]+==", line)
    }
    assert {block.split()[0] for block in blocks} == pinned
    hashes = {word for lock in locks for word in re.findall(r"--hash=(\S+)", lock.read_text())}
    assert {word for block in blocks for word in re.findall(r"--hash=(\S+)", block)} == hashes
    assert all("--hash=" in block for block in blocks)
    assert len(blocks) == len(set(blocks))


def test_comments_and_other_orders_of_hashes_make_no_second_requirement(tmp_path: Path) -> None:
    first, second = tmp_path / "a.lock", tmp_path / "b.lock"
    first.write_text(
        "# head\na==1 \\\n    --hash=sha256:2 \\\n    --hash=sha256:1\n    # via b\nb==2 ; python_version < '4' \\\n    --hash=sha256:3\n"
    )
    second.write_text("a==1 \\\n    --hash=sha256:1 \\\n    --hash=sha256:2\n    # via c\n")
    assert wheelhouse.requirement_blocks([first, second]) == [
        "a==1 \\\n    --hash=sha256:1 \\\n    --hash=sha256:2",
        "b==2 ; python_version < '4' \\\n    --hash=sha256:3",
    ]


@given(st.sets(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 9))))
def test_no_process_gets_two_versions_of_a_project(versions: set[tuple[str, int]]) -> None:
    blocks = sorted(f"{name}=={version}" for name, version in versions)
    parts = wheelhouse.batches(blocks)
    assert sorted(block for part in parts for block in part) == blocks
    for part in parts:
        projects = [block.partition("==")[0] for block in part]
        assert projects and len(projects) == len(set(projects))


def test_an_early_download_ends_with_its_parent(tmp_path: Path) -> None:
    # An index that accepts connections and never answers: pip waits for it.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        variables = {
            **os.environ,
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "PIP_INDEX_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/simple",
            "PIP_CONFIG_FILE": os.devnull,
            "UV_DEFAULT_INDEX": f"http://127.0.0.1:{silent.getsockname()[1]}/simple",
        }
        program = "import time\nfrom sandbox.nspawn.host.early_download import early_download\nwith early_download():\n    time.sleep(600)\n"
        parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=variables, start_new_session=True)
        try:
            silent.accept()
            assert _members(tmp_path)
        finally:
            os.kill(parent.pid, signal.SIGKILL)
            parent.wait()
        while _members(tmp_path):
            time.sleep(0.05)


def _members(folder: Path) -> list[int]:
    """Return the processes whose environment names the folder."""
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"XDG_CACHE_HOME={folder}/".encode() in (entry / "environ").read_bytes():
                    pids.append(int(entry.name))
            except OSError:
                continue
    return pids
