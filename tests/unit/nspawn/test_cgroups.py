"""Control groups v1 and v2, on file trees with the kernel's layout."""

from pathlib import Path

import pytest

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.machine import cgroups


def v1(root: Path) -> Path:
    for controller in ("memory", "pids", "cpuset", "devices", "systemd", "unified"):
        (root / controller).mkdir()
        (root / controller / "cgroup.procs").write_text("")
    (root / "cpuset/cpuset.cpus").write_text("0-1")
    (root / "cpuset/cpuset.mems").write_text("0")
    return root


def v2(root: Path) -> Path:
    (root / "cgroup.controllers").write_text("cpuset cpu io memory hugetlb pids rdma misc")
    (root / "cgroup.procs").write_text("")
    (root / "cgroup.subtree_control").write_text("")
    return root


def test_version_1_gets_a_group_in_every_tree(tmp_path: Path) -> None:
    root = v1(tmp_path)
    assert cgroups.version(root) == 1
    cgroups.make("lab", "n1", root)
    files = cgroups.procs_files("lab", "n1", "machine", root)
    assert len(files) == 6
    assert str(root / "memory/lab/n1/cgroup.procs") in files


def test_version_2_hands_controllers_down_and_keeps_processes_in_leaves(tmp_path: Path, kernel: None) -> None:
    root = v2(tmp_path)
    assert cgroups.version(root) == 2
    cgroups.make("lab", "n1", root)
    assert cgroups.procs_files("lab", "n1", "watch", root) == [str(root / "lab/n1/watch/cgroup.procs")]
    assert cgroups.procs_files("lab", "n1", "machine", root) == [str(root / "lab/n1/machine/cgroup.procs")]
    for group in (root, root / "lab", root / "lab/n1"):
        assert (group / "cgroup.subtree_control").read_text() == "+pids"
    (root / "lab/n1/memory.stat").write_text("anon 8388608\nfile 4096\n")
    assert cgroups.memory("lab", "n1", root) == 8388608


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show a new group's controllers, as the kernel does and a plain folder does not."""
    plain = Path.mkdir

    def mkdir(self: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        plain(self, mode, parents, exist_ok)
        if not (self / "cgroup.controllers").exists():
            (self / "cgroup.controllers").write_text("cpuset cpu io memory pids")

    monkeypatch.setattr(Path, "mkdir", mkdir)


def test_a_machine_without_control_groups_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no control groups"):
        cgroups.make("lab", "n1", tmp_path)


def test_members_are_found_below_the_lab_only(tmp_path: Path) -> None:
    root = v1(tmp_path)
    (root / "memory/lab/n1").mkdir(parents=True)
    (root / "memory/lab/n1/cgroup.procs").write_text("12\n13\n")
    (root / "memory/other").mkdir()
    (root / "memory/other/cgroup.procs").write_text("99\n")
    assert cgroups.members("lab", root) == {12, 13}
