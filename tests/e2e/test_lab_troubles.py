"""Lab failures on real machines: full disk, no privileges, missing program. Clear messages, and a clean `down`."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import disk, shell

ROOT = Path(__file__).resolve().parents[2]
LANDBRIDGE = (sys.executable, "-c", "from sandbox.commands import app; app()")


def landbridge(
    *words: str, env: dict[str, str], user: str | None = None, timeout: float = 200
) -> subprocess.CompletedProcess[str]:
    become = ("setpriv", f"--reuid={user}", "--clear-groups") if user else ()
    return subprocess.run(
        [*become, *LANDBRIDGE, *words],
        env={**os.environ, **env},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 400 MiB."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "none", tmp_path], check=True)
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.lab
def test_a_disk_too_small_for_the_image_is_reported_before_it_is_full(small_disk: Path) -> None:
    env = {"XDG_CACHE_HOME": str(small_disk), "XDG_STATE_HOME": str(small_disk), "LANDBRIDGE_LAB": "landbridge-small"}
    up = landbridge("up", env=env)
    down = landbridge("down", env=env)
    assert up.returncode == 2
    assert "MiB are free" in up.stderr and "fix:" in up.stderr
    assert "Traceback" not in up.stderr
    assert down.returncode == 0, down.stderr
    assert not Path("/run/netns/landbridge-small").exists()


@pytest.mark.lab
def test_down_works_after_the_disk_became_full_while_nodes_run(small_disk: Path) -> None:
    env = {"XDG_STATE_HOME": str(small_disk), "LANDBRIDGE_LAB": "landbridge-full"}
    up = landbridge("up", env=env)
    try:
        full = landbridge("exec", "ctl01", "--", "dd", "if=/dev/zero", "of=/root/big", "bs=1M", env=env)
        assert "No space left on device" in full.stderr
        reset = landbridge("reset", "db01", env=env)
        assert reset.returncode == 2 and "MiB are free" in reset.stderr, reset.stderr
    finally:
        down = landbridge("down", env=env)
    assert up.returncode == 0, up.stderr
    assert down.returncode == 0, down.stderr
    assert not Path("/run/netns/landbridge-full").exists()
    assert not Path("/sys/fs/cgroup/memory/landbridge-full").exists()
    assert str(small_disk) + "/" not in Path("/proc/mounts").read_text()


def test_an_error_of_a_full_disk_becomes_a_lab_error() -> None:
    with pytest.raises(LabError, match="the disk is full"), shell.explained(), open("/dev/full", "w") as handle:
        handle.write("x")
    with pytest.raises(LabError, match="the disk is full"):
        shell.run(["sh", "-c", "LC_ALL=C; export LC_ALL; cat /proc/version > /dev/full"])
    with pytest.raises(LabError, match=r"needs .* MiB in .*, and .* MiB are free"):
        disk.need(Path.home(), 2**40, "a test")


def test_a_missing_program_is_named() -> None:
    with pytest.raises(LabError, match="the program 'no-such-program' is missing"):
        shell.run(["no-such-program"])


def open_to_all(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in (path, *path.parents))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to run as another user")
@pytest.mark.skipif(not open_to_all(ROOT), reason="this checkout cannot be read by another user")
def test_without_root_the_error_is_one_message() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        env = {"HOME": home, "XDG_CACHE_HOME": f"{home}/cache", "XDG_STATE_HOME": f"{home}/state"}
        up = landbridge("up", env=env, user="65534")
    assert up.returncode == 2, up.stderr
    assert "the lab needs root" in up.stderr
    assert "Traceback" not in up.stderr
