"""A node's own disks as one scratch: on a real loop device if this host has one; arrays by recorded calls."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PATH = Path(__file__).parents[3] / "ansible/roles/scratch/library/scratch_volume.py"
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs the module as Ansible does, in a separate mount namespace."""

    def call(*, check: bool = False, path: str = "", mounted: str = "", **options: Any) -> dict[str, Any]:
        defaults = {
            "mount": str(tmp_path / "scratch"),
            "record": str(tmp_path / "etc/scratch.json"),
            "filesystem": "ext4",
        }
        data = json.dumps({"ANSIBLE_MODULE_ARGS": {**defaults, **options, "_ansible_check_mode": check}})
        before = f"mkdir -p {defaults['mount']} && mount {mounted} {defaults['mount']} && " if mounted else ""
        words = ["unshare", "--mount", "sh", "-c", f'{before}exec "$@"', "sh", sys.executable, str(PATH)]
        search = f"{path}:{os.environ['PATH']}:/usr/sbin:/sbin"
        completed = subprocess.run(
            words,
            input=data,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": search},
            check=False,
        )
        return dict(json.loads(completed.stdout))

    return call


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[str]:
    """Yield an empty disk; skip the test if this host cannot have one."""
    if os.geteuid() or not all(map(shutil.which, ("losetup", "mkfs.ext4", "wipefs", "unshare"))):
        pytest.skip("needs root, loop devices and mkfs.ext4")
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(64 * 1024**2)
    completed = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
    if completed.returncode:
        pytest.skip(f"no loop device: {completed.stderr.strip()}")
    device = completed.stdout.strip()
    yield device
    subprocess.run(["losetup", "--detach", device], check=True)


def holds(disk: str) -> list[tuple[str, str]]:
    output = subprocess.run(["wipefs", "--no-act", "--json", disk], capture_output=True, text=True, check=True).stdout
    return [
        (signature["type"], signature["uuid"]) for signature in json.loads(output or '{"signatures": []}')["signatures"]
    ]


def test_an_empty_disk_is_formatted_once(run: Run, disk: str) -> None:
    assert run(devices=[disk], check=True)["changed"] is True
    assert holds(disk) == []
    created = run(devices=[disk])
    ((kind, uuid),) = holds(disk)
    assert (created["changed"], created["disks"], created["source"], kind) == (True, [disk], f"UUID={uuid}", "ext4")
    assert run(devices=[disk], mounted=disk)["changed"] is False
    # After a boot without the mount it is mounted, with the same file system.
    assert run(devices=[disk])["changed"] is True
    assert holds(disk) == [("ext4", uuid)]


def test_a_disk_with_content_is_formatted_only_with_overwrite(run: Run, disk: str) -> None:
    subprocess.run(["mkfs.ext4", "-q", "-L", "scratch", disk], check=True, capture_output=True)
    before = holds(disk)
    refused = run(devices=[disk])
    assert (
        refused["failed"] is True
        and f"{disk} holds ext4: it is formatted only when overwrite says so" in refused["msg"]
    )
    assert holds(disk) == before
    assert run(devices=[disk], overwrite=True)["changed"] is True
    assert holds(disk) != before


def test_another_mount_at_the_path_is_refused(run: Run, disk: str) -> None:
    subprocess.run(["mkfs.ext4", "-q", disk], check=True, capture_output=True)
    assert "something else is mounted" in run(devices=[disk], mounted=disk, overwrite=True)["msg"]


#: Programs that record their calls; the disks are files.
PROGRAM = """#!/bin/sh
echo "$(basename "$0") $*" >> {folder}/calls
case "$(basename "$0") $*" in
lsblk*) cat {folder}/lsblk ;;
blkid*) echo 1111-2222 ;;
esac
"""


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    if os.geteuid() or not shutil.which("unshare"):
        pytest.skip("needs root for a mount namespace")
    (tmp_path / "bin").mkdir()
    for name in ("lsblk", "wipefs", "mdadm", "mkfs.xfs", "blkid", "mount", "umount"):
        (tmp_path / "bin" / name).write_text(PROGRAM.format(folder=tmp_path))
        (tmp_path / "bin" / name).chmod(0o755)
    disks: list[dict[str, Any]] = []
    for name, changes in (
        ("nvme0n1", {}),
        ("nvme1n1", {}),
        ("nvme2n1", {"children": [{}]}),
        ("nvme3n1", {"mountpoints": ["/"]}),
    ):
        (tmp_path / name).touch()
        disks.append({"name": str(tmp_path / name), "type": "disk", "mountpoints": [None], **changes})
    disks.append({"name": "/dev/sda", "type": "disk", "mountpoints": [None]})
    (tmp_path / "lsblk").write_text(json.dumps({"blockdevices": disks}))
    return tmp_path


def test_unused_nvme_disks_become_one_array(run: Run, recorded: Path) -> None:
    created = run(path=str(recorded / "bin"), filesystem="xfs")
    disks = [str(recorded / "nvme0n1"), str(recorded / "nvme1n1")]
    assert (created["changed"], created["disks"], created["source"]) == (True, disks, "UUID=1111-2222")
    calls = (recorded / "calls").read_text().splitlines()
    create = f"mdadm --create /dev/md/scratch --run --level=0 --name=scratch --raid-devices=2 {' '.join(disks)}"
    assert calls[calls.index(create) + 1] == "mkfs.xfs -f -L scratch /dev/md/scratch"
    assert not any("nvme2n1" in line or "nvme3n1" in line or "sda" in line for line in calls)


def test_a_lost_disk_is_reported_and_the_array_rebuilt_only_on_request(run: Run, recorded: Path) -> None:
    path = str(recorded / "bin")
    run(path=path, filesystem="xfs")
    (recorded / "nvme1n1").unlink()
    (recorded / "calls").unlink()
    result = run(path=path, filesystem="xfs")
    assert result["failed"] is True and f"1 of 2 disks lost ({recorded}/nvme1n1)" in result["msg"]
    assert not (recorded / "calls").exists()
    assert run(path=path, filesystem="xfs", devices=[str(recorded / "nvme0n1")], rebuild=True)["disks"] == [
        str(recorded / "nvme0n1")
    ]


def test_without_an_unused_disk_the_module_fails(run: Run, recorded: Path) -> None:
    (recorded / "lsblk").write_text('{"blockdevices": []}')
    assert "no NVMe disk of this node is unused" in run(path=str(recorded / "bin"))["msg"]
    assert "there is no disk /dev/none" in run(path=str(recorded / "bin"), devices=["/dev/none"])["msg"]
