"""Things that a job leaves in its folder: mounts, deep folders, and what cannot be removed. None of them drains the node."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.roles.jobs.job_node import Node
from tests.roles.jobs.job_program import module, node

__all__ = ["module", "node"]


@pytest.fixture
def mounted(node: Node) -> Iterator[Path]:
    """Folder of the job with a mount of a user's file system in it, whose files are not the job's."""
    assert node.run("prolog_slurmd") == 0
    place = node.root / "7/tmp/a b/mount"
    place.mkdir(parents=True)
    shared = node.folder / "shared"
    (shared / "inner").mkdir(parents=True)
    (shared / "data").write_text("of others\n")
    subprocess.run(["mount", "--bind", shared, place], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", place / "inner"], check=True)
    yield place
    for left in node.module.mounts(str(node.folder))[::-1]:
        subprocess.run(["umount", "-l", left], check=False, capture_output=True)


@pytest.mark.lab
@pytest.mark.parametrize("context", ["epilog_slurmd", "prolog_slurmd"])
def test_mounts_in_the_folder_of_a_job_end_with_it_and_what_they_show_stays(
    node: Node, mounted: Path, context: str
) -> None:
    assert (node.run(context), node.failed) == (0, "")
    assert not mounted.exists()
    assert str(node.root) not in Path("/proc/self/mountinfo").read_text()
    assert (node.folder / "shared/data").read_text() == "of others\n"


@pytest.mark.lab
def test_a_mount_on_the_folder_itself_ends(node: Node) -> None:
    assert node.run("prolog_slurmd") == 0
    subprocess.run(["mount", "-t", "tmpfs", "none", node.root / "7"], check=True)
    try:
        assert (node.run("epilog_slurmd"), node.failed, os.listdir(node.root)) == (0, "", [])
    finally:
        subprocess.run(["umount", "-l", node.root / "7"], check=False, capture_output=True)


@pytest.mark.lab
def test_a_link_on_the_way_to_a_mount_ends_no_mount_of_the_host(node: Node, mounted: Path) -> None:
    # Another job of the user exchanges a directory after the program has read the list of mounts.
    os.rename(mounted.parent, mounted.parent.with_name("moved"))
    host = node.folder / "host"
    (host / "mount").mkdir(parents=True)
    mounted.parent.symlink_to(host)
    with pytest.raises(OSError):
        node.module.open_parent(str(mounted))


def test_a_deep_folder_is_removed(node: Node) -> None:
    assert node.run("prolog_slurmd") == 0
    here = os.open(node.root / "7/tmp", os.O_RDONLY)
    for _ in range(5000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    try:
        assert (node.run("epilog_slurmd"), node.failed, os.listdir(node.root)) == (0, "", [])
    finally:
        # pytest could not remove it.
        subprocess.run(["rm", "-rf", node.root], check=True)


def test_a_folder_that_cannot_be_removed_is_kept_for_root_and_drains_no_node(node: Node) -> None:
    assert node.run("prolog_slurmd") == 0
    (node.folder / "bin").mkdir(exist_ok=True)
    broken = node.folder / "bin/rm"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    assert (node.run("epilog_slurmd"), node.failed) == (0, "")
    (trash,) = node.root.iterdir()
    assert trash.name.startswith(".trash-7.") and (trash.stat().st_uid, trash.stat().st_mode & 0o777) == (0, 0o700)
    assert node.run("prolog_slurmd") == 0
    broken.unlink()
    assert node.run("epilog_slurmd") == 0
    assert list(node.root.iterdir()) == [trash]
