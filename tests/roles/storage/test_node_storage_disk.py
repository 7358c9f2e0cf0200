"""landbridge-node-storage formats and mounts a real disk."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.roles.storage.test_node_storage import ROLES, write_pool


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[str]:
    if os.geteuid() or not all(map(shutil.which, ("losetup", "mkfs.xfs", "wipefs", "unshare", "blkid"))):
        pytest.skip("needs root, loop devices and mkfs.xfs")
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(320 * 1024**2)
    loop = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
    if loop.returncode:
        pytest.skip(f"no loop device: {loop.stderr.strip()}")
    yield loop.stdout.strip()
    subprocess.run(["losetup", "--detach", loop.stdout.strip()], check=True)


def test_a_real_disk_is_formatted_and_mounted(tmp_path: Path, disk: str) -> None:
    """In a separate mount namespace, so that its mounts end with the process."""
    write_pool(tmp_path, scratch=str(tmp_path / "local"))
    script = f"""
import sys; sys.path.insert(0, {str(ROLES.parents[1])!r})
from pathlib import Path
from tests.roles.storage.test_node_storage import loaded, PROGRAM
node, folder = loaded(PROGRAM), Path({str(tmp_path)!r})
node.POOL, node.JOBS, node.instance_store = folder / "pool.json", folder / "job.json", lambda: [{disk!r}]
node.labelled = lambda: None if not (folder / "formatted").exists() else {disk!r}
assert node.main() == 0
assert node.mounted(str(folder / "local")) == {disk!r}
"""
    words = ["unshare", "--mount", sys.executable, "-c", script]
    subprocess.run(words, check=True)
    (tmp_path / "formatted").touch()
    subprocess.run(words, check=True)
    output = subprocess.run(["blkid", "--probe", disk], capture_output=True, text=True, check=True).stdout
    assert 'LABEL="lb-scratch"' in output and 'TYPE="xfs"' in output
