"""Disks and mounts of a cloud node at boot: with a loop device if this host has one, else with recording programs."""

import importlib.util
import json
import os
import shutil
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from landbridge.plan.aws.pool import POOL_FILE, pool_args
from tests.roles.storage.dataset_cache_node import deep_folder
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


#: Programs that record their calls. The files `held` and `labelled` contain the content of disks, `slow` failures.
RECORDED = """#!/bin/sh
echo "$(basename "$0") $*" >> {folder}/calls
case "$(basename "$0") $*" in
wipefs*) cat {folder}/held 2>/dev/null || true ;;
blkid*) cat {folder}/labelled 2>/dev/null || exit 2 ;;
systemd-escape*) echo scratch.mount ;;
"systemctl start"*) test ! -s {folder}/slow || {{ sed -i 1d {folder}/slow; exit 1; }} ;;
esac
"""


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the program on a host with two instance store disks and an EBS volume; other programs record calls."""
    (tmp_path / "bin").mkdir()
    for name in ("wipefs", "blkid", "mdadm", "mkfs.xfs", "mount", "systemctl", "systemd-escape"):
        (tmp_path / "bin" / name).write_text(RECORDED.format(folder=tmp_path))
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    for disk, model in (("nvme0n1", VOLUME), ("nvme1n1", OURS), ("nvme2n1", OURS + "   ")):
        (tmp_path / "block" / disk / "device").mkdir(parents=True)
        (tmp_path / "block" / disk / "device/model").write_text(model + "\n")
    (tmp_path / "mounts").write_text("/dev/nvme0n1p1 / ext4 rw 0 0\n")
    program = loaded(PROGRAM)
    for name, path in (
        ("POOL", "pool.json"),
        ("JOBS", "job.json"),
        ("BLOCK", "block"),
        ("UNITS", "units"),
        ("MOUNTS", "mounts"),
    ):
        monkeypatch.setattr(program, name, tmp_path / path)
    monkeypatch.setattr(program, "PAUSE", 0.01)
    return program


def recorded_calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def write_pool(folder: Path, **pool: Any) -> None:
    (folder / "pool.json").write_text(json.dumps(pool))


def test_instance_store_disks_become_one_and_jobs_get_its_path(node: ModuleType, tmp_path: Path) -> None:
    write_pool(tmp_path, scratch=str(tmp_path / "local"))
    (tmp_path / "job.json").write_text('{"root": "/var/lib/landbridge/jobs", "mount": "", "gpu_reset": false}')
    assert node.main() == 0
    calls = recorded_calls(tmp_path)
    make = "mdadm --create /dev/md/lb-scratch --run --level=0 --homehost=any --name=lb-scratch --raid-devices=2"
    at = calls.index(f"{make} /dev/nvme1n1 /dev/nvme2n1")
    assert calls[at + 1] == "mkfs.xfs -K -L lb-scratch /dev/md/lb-scratch"
    assert calls[at + 2] == f"mount -t xfs -o noatime,nosuid,nodev /dev/md/lb-scratch {tmp_path}/local"
    assert not any("nvme0n1" in line for line in calls), "an EBS volume is never the scratch"
    jobs = json.loads((tmp_path / "job.json").read_text())
    assert jobs == {"root": f"{tmp_path}/local/jobs", "mount": f"{tmp_path}/local", "gpu_reset": False}


def test_an_array_of_an_earlier_boot_is_mounted_and_not_created_again(node: ModuleType, tmp_path: Path) -> None:
    write_pool(tmp_path, scratch=str(tmp_path / "local"))
    (tmp_path / "labelled").write_text("/dev/md127\n")
    deep_folder(tmp_path / "local/jobs/17")
    (tmp_path / "local/kept").touch()
    assert node.main() == 0
    assert [entry.name for entry in (tmp_path / "local").iterdir()] == ["kept"], (
        "folders of jobs of an earlier boot are deleted"
    )
    assert recorded_calls(tmp_path) == [
        "blkid --label lb-scratch",
        f"mount -t xfs -o noatime,nosuid,nodev /dev/md127 {tmp_path}/local",
    ]
    # A restart of the program while jobs run changes nothing.
    (tmp_path / "mounts").write_text(f"/dev/md127 {tmp_path}/local xfs rw 0 0\n")
    (tmp_path / "local/jobs/18").mkdir(parents=True)
    assert node.main() == 0
    assert len(recorded_calls(tmp_path)) == 2 and (tmp_path / "local/jobs/18").exists()


def test_a_disk_with_content_is_never_formatted(
    node: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pool(tmp_path, scratch=str(tmp_path / "local"))
    (tmp_path / "held").write_text('{"signatures": [{"type": "ext4"}]}')
    assert node.main() == 1
    assert "/dev/nvme1n1 holds ext4: nothing is formatted that holds anything" in capsys.readouterr().err
    assert not any(line.startswith(("mdadm", "mkfs", "mount")) for line in recorded_calls(tmp_path))
    assert not (tmp_path / "job.json").exists()


def test_without_a_pool_file_nothing_happens_and_without_a_disk_it_fails(
    node: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert node.main() == 0 and recorded_calls(tmp_path) == []
    for disk in ("nvme1n1", "nvme2n1"):
        shutil.rmtree(tmp_path / "block" / disk)
    write_pool(tmp_path, scratch="/local")
    assert node.main() == 1
    assert "this instance has no disk of its own" in capsys.readouterr().err


LUSTRE = {"source": "fs-1.fsx@tcp:/abc", "type": "lustre", "options": "noatime,flock,_netdev", "mount": "/scratch"}


def test_a_mount_is_retried_until_the_file_system_exists(node: ModuleType, tmp_path: Path) -> None:
    write_pool(tmp_path, mounts=[LUSTRE])
    (tmp_path / "slow").write_text("1\n2\n")
    assert node.main() == 0
    assert recorded_calls(tmp_path).count("systemctl start scratch.mount") == 3
    unit = (tmp_path / "units/scratch.mount").read_text()
    assert "What=fs-1.fsx@tcp:/abc\nWhere=/scratch\nType=lustre\nOptions=noatime,flock,_netdev\n" in unit


EFS = {"source": "fs-1:/", "type": "efs", "options": "tls,iam,accesspoint=fsap-1,_netdev", "mount": "/files"}


@pytest.mark.parametrize(("proxy", "options"), [(True, EFS["options"]), (False, f"{EFS['options']},stunnel")])
def test_efs_over_tls_needs_the_mount_helper_and_uses_stunnel_without_awss_proxy(
    node: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    proxy: bool,
    options: str,
) -> None:
    helpers = tmp_path / "helpers"
    helpers.mkdir()
    monkeypatch.setattr(node, "PROGRAMS", str(helpers))
    write_pool(tmp_path, mounts=[EFS])
    assert node.main() == 1
    assert "fs-1:/ needs the EFS mount helper" in capsys.readouterr().err
    for name in ("mount.efs", *(["efs-proxy"] if proxy else [])):
        (helpers / name).write_text("#!/bin/sh\n")
        (helpers / name).chmod(0o755)
    assert node.main() == 0
    (unit,) = (tmp_path / "units").iterdir()
    assert f"What=fs-1:/\nWhere=/files\nType=efs\nOptions={options}\n" in unit.read_text()
    assert "Wants=network-online.target network.target\n" in unit.read_text()


def test_a_missing_file_system_or_another_mount_is_an_error(
    node: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pool(tmp_path, mounts=[LUSTRE])
    (tmp_path / "slow").write_text("1\n" * 999)
    monkeypatch.setattr(node, "PATIENCE", 0.05)
    assert node.main() == 1
    assert "fs-1.fsx@tcp:/abc cannot be mounted on /scratch: see journalctl -u scratch.mount" in capsys.readouterr().err
    (tmp_path / "mounts").write_text("/dev/sdb /scratch ext4 rw 0 0\n")
    assert node.main() == 1
    assert "/dev/sdb is mounted on /scratch, where fs-1.fsx@tcp:/abc is to be" in capsys.readouterr().err
    (tmp_path / "mounts").write_text("fs-1.fsx@tcp:/abc /scratch lustre rw 0 0\n")
    assert node.main() == 0


#: Devices in /sys/class/infiniband of an instance: four of EFA, and one of another driver.
EFA_DEVICES = ("rdmap113s0", "rdmap130s0", "rdmap147s0", "rdmap79s0")


@pytest.fixture
def efa(node: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the program on an instance with EFA; the programs of Lustre and of the network record their calls."""
    answers = {
        "modprobe": 'case "$1" in kefalnd) test ! -e {folder}/no-kefalnd ;; esac',
        "lnetctl": 'case "$1 $2" in "net show") cat {folder}/nets 2>/dev/null ;; "udsp add") test ! -e {folder}/udsp-fails ;; esac',
        "ip": """echo '[{{"dst": "default", "gateway": "10.60.0.1", "dev": "enp71s0"}}]'""",
    }
    for name, answer in answers.items():
        text = f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/calls\n{answer.format(folder=tmp_path)}\n'
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    for device, driver in (*((name, "efa") for name in EFA_DEVICES), ("mlx5_0", "mlx5_core")):
        (tmp_path / "drivers" / driver).mkdir(parents=True, exist_ok=True)
        (tmp_path / "infiniband" / device / "device").mkdir(parents=True)
        (tmp_path / "infiniband" / device / "device/driver").symlink_to(tmp_path / "drivers" / driver)
    monkeypatch.setattr(node, "INFINIBAND", tmp_path / "infiniband")
    return node


def test_lnet_has_efa_before_lustre_is_mounted(efa: ModuleType, tmp_path: Path) -> None:
    """The commands of AWS's guide, "Configuring EFA clients": the mount names tcp, and LNet prefers EFA to the same servers."""
    write_pool(tmp_path, mounts=[LUSTRE], lustre_efa=2)
    assert efa.main() == 0
    calls = recorded_calls(tmp_path)
    assert calls[: calls.index("modprobe lustre") + 1] == [
        "lnetctl net show --net efa",
        "ip -json -4 route show default",
        "modprobe lnet",
        "modprobe kefalnd ipif_name=enp71s0",
        "modprobe ksocklnd",
        "lnetctl lnet configure",
        "lnetctl net show --net tcp",
        "lnetctl net add --net tcp --if enp71s0",
        "lnetctl net add --net efa --if rdmap113s0 --peer-credits 32",
        "lnetctl net add --net efa --if rdmap147s0 --peer-credits 32",
        "lnetctl set discovery 1",
        "lnetctl udsp add --src efa --priority 0",
        "modprobe lustre",
    ]
    assert calls.index("modprobe lustre") < calls.index("systemctl start scratch.mount")


def test_configured_lnet_stays_and_an_existing_tcp_network_is_replaced(efa: ModuleType, tmp_path: Path) -> None:
    write_pool(tmp_path, mounts=[LUSTRE], lustre_efa=8)
    (tmp_path / "nets").write_text("net:\n  - net type: tcp\n    local NI(s):\n      - nid: 10.60.1.7@tcp\n")
    assert efa.main() == 0
    calls = recorded_calls(tmp_path)
    assert calls.index("lnetctl net del --net tcp") < calls.index("lnetctl net add --net tcp --if enp71s0")
    assert sum("--net efa --if" in line for line in calls) == len(EFA_DEVICES), "no more than the instance has"
    (tmp_path / "nets").write_text("net:\n  - net type: efa\n    local NI(s):\n      - nid: 1.7.1.0@efa\n")
    (tmp_path / "calls").unlink()
    assert efa.main() == 0
    assert [line for line in recorded_calls(tmp_path) if line.startswith(("modprobe", "lnetctl"))] == [
        "lnetctl net show --net efa"
    ]


@pytest.mark.parametrize("lacking", ["module", "device", "program"])
def test_a_node_without_efa_for_lustre_mounts_over_tcp_and_reports_it(
    efa: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], lacking: str
) -> None:
    if lacking == "module":
        (tmp_path / "no-kefalnd").touch()
    elif lacking == "device":
        shutil.rmtree(tmp_path / "infiniband")
    else:
        (tmp_path / "bin/lnetctl").unlink()
    write_pool(tmp_path, mounts=[LUSTRE], lustre_efa=8)
    assert efa.main() == 0
    assert "Lustre is mounted over TCP" in capsys.readouterr().err
    calls = recorded_calls(tmp_path)
    assert not any(line.startswith("lnetctl net add") for line in calls) and "systemctl start scratch.mount" in calls


def test_a_half_configured_lnet_is_an_error(
    efa: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "udsp-fails").touch()
    write_pool(tmp_path, mounts=[LUSTRE], lustre_efa=8)
    assert efa.main() == 1
    assert "lnetctl udsp add" in capsys.readouterr().err
    assert "systemctl start scratch.mount" not in recorded_calls(tmp_path)


def test_the_node_reads_the_pool_file_of_the_plan() -> None:
    site = environment({("aws", "pools", 0, "local_scratch"): "/local"})
    planned = pool_args(site, site.aws.pools[0])
    content = loaded(IDENTITY).pool_file(planned.user_data([LUSTRE]))
    assert (json.loads(content)["scratch"], json.loads(content)["mounts"]) == ("/local", [LUSTRE])
    assert str(loaded(PROGRAM).POOL) == loaded(IDENTITY).POOL == POOL_FILE
    # An instance launched by hand has no pool, and still boots.
    for other in (
        None,
        "",
        "#!/bin/sh\n",
        "#cloud-config\nruncmd: [ls]\n",
        "#cloud-config\n[]",
        '#cloud-config\n{"write_files": [{}]}',
    ):
        assert loaded(IDENTITY).pool_file(other) is None
