"""Disks and mounts of a cloud node at boot: with a loop device if this machine has one, with recorded programs otherwise."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from landbridge.plan.aws.pool import POOL_FILE, pool_args
from tests.unit.core.samples import environment

ROLES = Path(__file__).parents[3] / "ansible/roles"
PROGRAM = ROLES / "cloud_storage/files/landbridge-node-storage"
IDENTITY = ROLES / "cloud_identity/files/landbridge-node-identity"
OURS, VOLUME = "Amazon EC2 NVMe Instance Storage", "Amazon Elastic Block Store"


def loaded(path: Path) -> ModuleType:
    name = path.stem.replace("-", "_")
    spec = importlib.util.spec_from_loader(name, SourceFileLoader(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


#: Programs that write down what they are asked. `held` and `labelled` say what disks hold; `slow` names a unit's failures.
RECORDED = """#!/bin/sh
echo "$(basename "$0") $*" >> {folder}/asked
case "$(basename "$0") $*" in
wipefs*) cat {folder}/held 2>/dev/null || true ;;
blkid*) cat {folder}/labelled 2>/dev/null || exit 2 ;;
systemd-escape*) echo scratch.mount ;;
"systemctl start"*) test ! -s {folder}/slow || {{ sed -i 1d {folder}/slow; exit 1; }} ;;
esac
"""


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program on a machine with two disks of its own and a volume of EBS; other programs only write down."""
    (tmp_path / "bin").mkdir()
    for name in ("wipefs", "blkid", "mdadm", "mkfs.xfs", "mount", "systemctl", "systemd-escape"):
        (tmp_path / "bin" / name).write_text(RECORDED.format(folder=tmp_path))
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    for disk, model in (("nvme0n1", VOLUME), ("nvme1n1", OURS), ("nvme2n1", OURS + "   ")):
        (tmp_path / "block" / disk / "device").mkdir(parents=True)
        (tmp_path / "block" / disk / "device/model").write_text(model + "\n")
    (tmp_path / "mounts").write_text("/dev/nvme0n1p1 / ext4 rw 0 0\n")
    found = loaded(PROGRAM)
    for name, path in (
        ("POOL", "pool.json"),
        ("JOBS", "job.json"),
        ("BLOCK", "block"),
        ("UNITS", "units"),
        ("MOUNTS", "mounts"),
    ):
        monkeypatch.setattr(found, name, tmp_path / path)
    monkeypatch.setattr(found, "PAUSE", 0.01)
    return found


def asked(folder: Path) -> list[str]:
    path = folder / "asked"
    return path.read_text().splitlines() if path.exists() else []


def told(folder: Path, **pool: Any) -> None:
    (folder / "pool.json").write_text(json.dumps(pool))


def test_its_own_disks_become_one_and_jobs_are_told(node: ModuleType, tmp_path: Path) -> None:
    told(tmp_path, scratch=str(tmp_path / "local"))
    (tmp_path / "job.json").write_text('{"root": "/var/lib/landbridge/jobs", "mount": "", "gpu_reset": false}')
    assert node.main() == 0
    said = asked(tmp_path)
    make = "mdadm --create /dev/md/lb-scratch --run --level=0 --homehost=any --name=lb-scratch --raid-devices=2"
    at = said.index(f"{make} /dev/nvme1n1 /dev/nvme2n1")
    assert said[at + 1] == "mkfs.xfs -K -L lb-scratch /dev/md/lb-scratch"
    assert said[at + 2] == f"mount -t xfs -o noatime,nosuid,nodev /dev/md/lb-scratch {tmp_path}/local"
    assert not any("nvme0n1" in line for line in said), "a volume is nobody's scratch"
    jobs = json.loads((tmp_path / "job.json").read_text())
    assert jobs == {"root": f"{tmp_path}/local/jobs", "mount": f"{tmp_path}/local", "gpu_reset": False}


def test_what_an_earlier_boot_made_is_mounted_and_not_made_anew(node: ModuleType, tmp_path: Path) -> None:
    told(tmp_path, scratch=str(tmp_path / "local"))
    (tmp_path / "labelled").write_text("/dev/md127\n")
    (tmp_path / "local/jobs/17").mkdir(parents=True)
    (tmp_path / "local/kept").touch()
    assert node.main() == 0
    assert [one.name for one in (tmp_path / "local").iterdir()] == ["kept"], "jobs of an earlier boot are over"
    assert asked(tmp_path) == [
        "blkid --label lb-scratch",
        f"mount -t xfs -o noatime,nosuid,nodev /dev/md127 {tmp_path}/local",
    ]
    # Begun again while jobs run, it touches nothing.
    (tmp_path / "mounts").write_text(f"/dev/md127 {tmp_path}/local xfs rw 0 0\n")
    (tmp_path / "local/jobs/18").mkdir(parents=True)
    assert node.main() == 0
    assert len(asked(tmp_path)) == 2 and (tmp_path / "local/jobs/18").exists()


def test_a_disk_that_holds_something_is_never_formatted(
    node: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path, scratch=str(tmp_path / "local"))
    (tmp_path / "held").write_text('{"signatures": [{"type": "ext4"}]}')
    assert node.main() == 1
    assert "/dev/nvme1n1 holds ext4: nothing is formatted that holds anything" in capsys.readouterr().err
    assert not any(line.startswith(("mdadm", "mkfs", "mount")) for line in asked(tmp_path))
    assert not (tmp_path / "job.json").exists()


def test_without_a_disk_or_a_file_of_its_pool(
    node: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert node.main() == 0 and asked(tmp_path) == []
    for disk in ("nvme1n1", "nvme2n1"):
        shutil.rmtree(tmp_path / "block" / disk)
    told(tmp_path, scratch="/local")
    assert node.main() == 1
    assert "this instance has no disk of its own" in capsys.readouterr().err


LUSTRE = {"source": "fs-1.fsx@tcp:/abc", "type": "lustre", "options": "noatime,flock,_netdev", "mount": "/scratch"}


def test_a_file_system_that_is_not_there_yet_is_asked_again(node: ModuleType, tmp_path: Path) -> None:
    told(tmp_path, mounts=[LUSTRE])
    (tmp_path / "slow").write_text("1\n2\n")
    assert node.main() == 0
    assert asked(tmp_path).count("systemctl start scratch.mount") == 3
    unit = (tmp_path / "units/scratch.mount").read_text()
    assert "What=fs-1.fsx@tcp:/abc\nWhere=/scratch\nType=lustre\nOptions=noatime,flock,_netdev\n" in unit


def test_one_that_never_comes_and_one_that_is_in_the_way_keep_the_node_out(
    node: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told(tmp_path, mounts=[LUSTRE])
    (tmp_path / "slow").write_text("1\n" * 999)
    monkeypatch.setattr(node, "PATIENCE", 0.05)
    assert node.main() == 1
    assert "fs-1.fsx@tcp:/abc cannot be mounted on /scratch: see journalctl -u scratch.mount" in capsys.readouterr().err
    (tmp_path / "mounts").write_text("/dev/sdb /scratch ext4 rw 0 0\n")
    assert node.main() == 1
    assert "/dev/sdb is mounted on /scratch, where fs-1.fsx@tcp:/abc is to be" in capsys.readouterr().err
    (tmp_path / "mounts").write_text("fs-1.fsx@tcp:/abc /scratch lustre rw 0 0\n")
    assert node.main() == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[str]:
    if os.geteuid() or not all(map(shutil.which, ("losetup", "mkfs.xfs", "wipefs", "unshare", "blkid"))):
        pytest.skip("needs root, loop devices and mkfs.xfs")
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(320 * 1024**2)
    done = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no loop device: {done.stderr.strip()}")
    yield done.stdout.strip()
    subprocess.run(["losetup", "--detach", done.stdout.strip()], check=True)


def test_a_real_disk_is_made_and_mounted(tmp_path: Path, disk: str) -> None:
    """In a mount namespace of its own, where what it mounts ends with it."""
    told(tmp_path, scratch=str(tmp_path / "local"))
    script = f"""
import sys; sys.path.insert(0, {str(ROLES.parents[1])!r})
from pathlib import Path
from tests.roles.storage.test_node_storage import loaded, PROGRAM
node, folder = loaded(PROGRAM), Path({str(tmp_path)!r})
node.POOL, node.JOBS, node.instance_store = folder / "pool.json", folder / "job.json", lambda: [{disk!r}]
node.labelled = lambda: None if not (folder / "made").exists() else {disk!r}
assert node.main() == 0
assert node.mounted(str(folder / "local")) == {disk!r}
"""
    words = ["unshare", "--mount", sys.executable, "-c", script]
    subprocess.run(words, check=True, timeout=300)
    (tmp_path / "made").touch()
    subprocess.run(words, check=True, timeout=300)
    said = subprocess.run(["blkid", "--probe", disk], capture_output=True, text=True, check=True).stdout
    assert 'LABEL="lb-scratch"' in said and 'TYPE="xfs"' in said


def test_what_the_plan_tells_a_pool_is_what_the_node_reads() -> None:
    site = environment({("aws", "pools", 0, "local_scratch"): "/local"})
    planned = pool_args(site, site.aws.pools[0])
    content = loaded(IDENTITY).pool_file(planned.user_data([LUSTRE]))
    assert (json.loads(content)["scratch"], json.loads(content)["mounts"]) == ("/local", [LUSTRE])
    assert str(loaded(PROGRAM).POOL) == loaded(IDENTITY).POOL == POOL_FILE
    # An image that somebody starts by hand has no pool, and still boots.
    for other in (
        None,
        "",
        "#!/bin/sh\n",
        "#cloud-config\nruncmd: [ls]\n",
        "#cloud-config\n[]",
        '#cloud-config\n{"write_files": [{}]}',
    ):
        assert loaded(IDENTITY).pool_file(other) is None
