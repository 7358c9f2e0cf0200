"""Seeded lacks of a node image: the program names each, and nothing else."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.catalog.aws.node_contract import node_contract
from landbridge.environment.aws.images import NodeCheck
from landbridge.plan.roles.nodes.node_verify import node_verify_variables
from tests.unit.core.samples import environment
from tests.unit.node_contract.node import DRIVER, FILES, KERNEL, ROLE, Node, module, program

IMEX_CHANNEL = {"etc/modprobe.d/landbridge-imex.conf": "options nvidia NVreg_CreateImexChannel0=1\n"}
GONE: dict[str, Any] = {"opt/amazon/ofi-nccl/lib/x86_64-linux-gnu/libnccl-net-ofi.so": None}
#: Title, mode, what the node has instead, the check, and a part of the message.
ROWS: list[tuple[str, str, dict[str, Any], str, str]] = [
    ("no driver", "image", {"run": {module("nvidia", "version"): None}}, "driver", f"kernel {KERNEL} has no module nvidia"),
    ("proprietary modules for Blackwell", "image", {"run": {module("nvidia", "license"): "NVIDIA"}, "expected": {"driver": ["open"]}}, "driver", "has the proprietary modules"),
    ("no nvidia-smi", "image", {"files": {"usr/bin/nvidia-smi": None}}, "driver", "nvidia-smi is missing"),
    ("modules of another kernel than the one that boots", "image", {"files": {"boot/vmlinuz-6.17.0-1020-aws": ""}, "run": {"modinfo -k 6.17.0-1020-aws -F filename efa": "/efa.ko", "modinfo -k 6.17.0-1020-aws -F filename lustre": "/lustre.ko"}}, "driver", "kernel 6.17.0-1020-aws has no module nvidia"),
    ("nouveau is not blacklisted", "image", {"files": {"etc/modprobe.d/nvidia.conf": "# blacklist nouveau\n"}}, "nouveau", "not blacklisted"),
    ("no Fabric Manager", "image", {"run": {"nv-fabricmanager --version": None}}, "fabric-manager", "Fabric Manager is missing"),
    ("Fabric Manager of another release", "image", {"run": {"nv-fabricmanager --version": "Fabric Manager version is : 580.159.04"}}, "fabric-manager", f"580.159.04, the driver {DRIVER}"),
    ("Fabric Manager is not enabled", "image", {"run": {"systemctl is-enabled nvidia-fabricmanager": None}}, "fabric-manager", "nvidia-fabricmanager does not start"),
    ("no nvlsm for NVLink 5", "image", {"expected": {"subnet_manager": True}}, "fabric-manager", "nvlsm is missing"),
    ("no EFA module", "image", {"run": {module("efa", "version"): None}}, "efa", "no module efa"),
    ("no IMEX on a node of an UltraServer", "image", {"expected": {"imex": True}, "files": IMEX_CHANNEL}, "imex", "nvidia-imex is missing"),
    ("IMEX of another release", "image", {"expected": {"imex": True}, "files": IMEX_CHANNEL, "run": {"nvidia-imex --version": "IMEX version is: 580.159.04"}}, "imex", f"580.159.04, the driver {DRIVER}"),
    ("no IMEX channel", "image", {"expected": {"imex": True}, "run": {"nvidia-imex --version": f"IMEX version is: {DRIVER}"}}, "imex", "no IMEX channel"),
    ("no libfabric", "image", {"files": {"opt/amazon/efa/lib/libfabric.so.1": None}}, "efa", "libfabric"),
    ("no NCCL OFI plugin", "image", {"files": GONE}, "ofi-nccl", "TCP instead of EFA"),
    ("a limit of locked memory", "image", {"run": {"systemctl show slurmd --property=LimitMEMLOCK --value": "8388608"}}, "memlock", "8388608 bytes"),
    ("no huge pages", "boot", {"files": {"proc/sys/vm/nr_hugepages": "0\n"}}, "huge-pages", "no huge pages"),
    ("no DCGM", "image", {"files": {"usr/bin/nv-hostengine": None}}, "dcgm", "DCGM is missing"),
    ("no container toolkit", "image", {"files": {"usr/bin/nvidia-ctk": None}}, "containers", "nvidia-ctk"),
    ("no library program of enroot", "image", {"files": {"usr/bin/nvidia-container-cli": None}}, "containers", "nvidia-container-cli"),
    ("no pyxis", "image", {"files": {"usr/lib/x86_64-linux-gnu/slurm-wlm/spank_pyxis.so": None}}, "containers", "pyxis"),
    ("no podman", "image", {"files": {"usr/bin/podman": None}}, "containers", "podman is missing"),
    ("no Lustre module", "image", {"run": {module("lustre", "filename"): None}}, "lustre", "no module lustre"),
    ("no mount.lustre", "image", {"files": {"usr/bin/mount.lustre": None}}, "lustre", "mount.lustre"),
    ("no mount.efs", "image", {"files": {"usr/bin/mount.efs": None}}, "efs", "mount.efs is missing"),
    ("no TLS of the EFS mount helper", "image", {"files": {"usr/bin/stunnel": None}}, "efs", "neither efs-proxy nor stunnel"),
    ("no slurmd", "image", {"run": {"slurmd -V": None}}, "slurm", "slurmd is missing"),
    ("another release of slurmd", "image", {"run": {"slurmd -V": "slurm 25.11.2"}}, "slurm", "slurm 25.11.2; the cluster has 26.05"),
    ("slurmd is not enabled", "image", {"run": {"systemctl is-enabled slurmd": None}}, "units", "slurmd does not start"),
    ("no identity service", "image", {"run": {"systemctl is-enabled landbridge-identity": None}}, "units", "landbridge-identity"),
    ("no metadata guard", "image", {"run": {"systemctl is-enabled landbridge-metadata": None}}, "units", "landbridge-metadata"),
    ("no agent", "image", {"run": {"systemctl is-enabled landbridge-cloud-agent": None}}, "units", "landbridge-cloud-agent"),
    ("no settings of the identity service", "image", {"files": {"etc/landbridge/node.json": None}}, "files", "node.json"),
    ("no health checks", "image", {"files": {"opt/landbridge/bin/landbridge-node-health": None}}, "health", "a faulty GPU keeps getting jobs"),
    ("no module of the health checks that knows pools", "image", {"files": {"opt/landbridge/lib/node_health/cloud.py": None}}, "health", "role node_health"),
    ("no timer of the health checks", "image", {"run": {"systemctl is-enabled landbridge-node-health.timer": None}}, "health", "landbridge-node-health.timer does not start"),
    ("no time source of AWS", "image", {"files": {"etc/chrony/sources.d/aws.sources": "pool ntp.ubuntu.com\n"}}, "time", "169.254.169.123"),
    ("no boto3", "image", {"run": {"python3 -c import boto3": None}}, "boto3", "cannot import boto3"),
    ("no tools for the disks", "image", {"files": {"usr/bin/nvme": None}}, "nvme", "nvme is missing"),
    ("a service of the Deep Learning AMI takes the disks", "image", {"run": {"systemctl is-enabled dlami-nvme": "enabled\n"}}, "nvme", "own service dlami-nvme takes the instance store"),
    ("a service of ParallelCluster takes the disks", "boot", {"run": {"systemctl is-enabled setup-ephemeral": "enabled\n"}}, "nvme", "own service setup-ephemeral takes the instance store"),
    ("no cloud-init", "image", {"files": {"usr/bin/cloud-init": None}}, "cloud-init", "cloud-init is missing"),
    ("a full disk", "image", {"run": {"df --output=size,avail -B1 ROOT": f"Size Avail\n{200 << 30} {2 << 30}\n"}}, "root-volume", "2.0 GiB free"),
    ("a root file system that did not grow", "boot", {"run": {"df --output=size,avail -B1 ROOT": f"Size Avail\n{30 << 30} {10 << 30}\n"}}, "root-volume", "has 30 GiB, its volume 200"),
    ("another root device than the template's", "boot", {"metadata": {"block-device-mapping/root": "/dev/sda1"}}, "root-volume", "write root_device: /dev/sda1"),
    ("a key in the image", "image", {"files": {"etc/munge/munge.key": "k"}}, "secrets", "/etc/munge/munge.key is in the image"),
    ("a private key in the image", "image", {"files": {"home/ubuntu/.ssh/id_ed25519": "k"}}, "secrets", "id_ed25519"),
    ("Ansible remains", "image", {"files": {"usr/bin/ansible-playbook": ""}}, "leftovers", "ansible-playbook remains"),
    ("no settings of the pool", "boot", {"files": {"etc/landbridge/pool.json": '{"verify": {}}'}}, "pool", "names no pool"),
    ("a GPU does not answer", "boot", {"run": {"nvidia-smi -L": "GPU 0: NVIDIA H100\n" * 7}}, "gpus", "7 of 8 GPUs answer"),
    ("no device file of a GPU", "boot", {"files": {"dev/nvidia-uvm": None}}, "gpus", "/dev has no nvidia-uvm"),
    ("Fabric Manager does not run", "boot", {"run": {"systemctl is-active nvidia-fabricmanager": None}}, "gpus", "error 802"),
    ("an EFA device is missing", "boot", {"files": {"sys/class/infiniband/rdmap31s0": None}}, "efa-devices", "31 of 32 EFA devices"),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "node", "check", "text"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_seeded_lack_is_named_and_no_other(
    tmp_path: Path, mode: str, node: dict[str, Any], check: str, text: str
) -> None:
    reported = Node(tmp_path, **node).lacks(mode)
    assert [lack["check"] for lack in reported] == [check], reported
    assert text in f"{reported[0]['message']}; {reported[0]['fix']}"
    assert reported[0]["fix"] and reported[0]["level"] == ("warning" if check == "huge-pages" else "error")


@pytest.mark.parametrize("mode", ["image", "boot"])
def test_a_node_with_everything_lacks_nothing(tmp_path: Path, mode: str) -> None:
    assert Node(tmp_path).lacks(mode) == []


def test_a_service_of_the_parent_image_that_the_role_has_disabled_is_no_lack(tmp_path: Path) -> None:
    enabled = {"systemctl is-enabled dlami-nvme": "enabled\n"}
    dropin = {"etc/systemd/system/dlami-nvme.service.d/landbridge.conf": "[Unit]\n"}
    assert Node(tmp_path, run=enabled, files=dropin).lacks("boot") == []
    assert Node(tmp_path / "b", run=enabled, expected={"local_disks": False}).lacks("boot") == []


def test_the_role_disables_the_services_that_the_contract_names() -> None:
    defaults = yaml_text.load((ROLE.parents[1] / "cloud_storage/defaults/main.yml").read_text())
    assert defaults["cloud_storage_disabled_services"] == list(node_contract().disabled_services)


def test_hardware_is_not_checked_on_a_builder(tmp_path: Path) -> None:
    without = {name: None for name in FILES if name.startswith(("dev/", "sys/", "proc/"))}
    assert Node(tmp_path, files=without, run={"nvidia-smi -L": None}).lacks("image") == []


def test_checks_that_the_environment_skips_report_nothing(tmp_path: Path) -> None:
    node = Node(tmp_path, run={"slurmd -V": None, "python3 -c import boto3": None}, expected={"skip": ["slurm"]})
    assert [lack["check"] for lack in node.lacks("image")] == ["boto3"]


def test_every_check_has_a_seeded_lack_and_a_word_in_the_environment() -> None:
    assert set(program.CHECKS) == {row[3] for row in ROWS} == set(NodeCheck.__args__)  # type: ignore[attr-defined]


def test_a_pool_without_gpus_needs_no_driver() -> None:
    cpu = environment({("aws", "pools", 0, "instance"): "m7i.large"})
    expected = node_verify_variables(cpu)["node_verify_expectations"]
    assert expected["driver"] == [] and not any(expected[key] for key in ("fabric_manager", "efa", "dcgm"))


def test_fabric_manager_is_needed_with_switches_only() -> None:
    needs = {}
    for kind in ("p3.16xlarge", "p4d.24xlarge", "p5.4xlarge", "p6-b200.48xlarge", "p6e-gb200.36xlarge", "g6e.48xlarge"):
        pool = environment().aws.pools[0].model_copy(update={"instance": kind})
        planned = program_expectations(pool)
        needs[kind] = (planned["fabric_manager"], planned["subnet_manager"])
    assert needs == {
        "p3.16xlarge": (False, False),
        "p4d.24xlarge": (True, False),
        "p5.4xlarge": (False, False),
        "p6-b200.48xlarge": (True, True),
        "p6e-gb200.36xlarge": (False, False),
        "g6e.48xlarge": (False, False),
    }


def test_imex_is_needed_on_ultraservers_only() -> None:
    pools = environment().aws.pools[0], environment().aws.pools[0].model_copy(update={"instance": "p6e-gb200.36xlarge"})
    assert [program_expectations(pool).get("imex", False) for pool in pools] == [False, True]
    rack = environment({("aws", "pools", 0, "instance"): "p6e-gb200.36xlarge"})
    assert node_verify_variables(rack)["node_verify_expectations"]["imex"] is True


def program_expectations(pool: Any) -> dict[str, Any]:
    from landbridge.plan.aws.node_contract import pool_expectations

    return pool_expectations(environment(), pool)


def test_the_program_runs_the_programs_below_its_root(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slurmd = tmp_path / "opt/slurm/sbin/slurmd"
    slurmd.parent.mkdir(parents=True)
    slurmd.write_text("#!/bin/sh\necho slurm 26.05.2\n")
    slurmd.chmod(slurmd.stat().st_mode | stat.S_IXUSR)
    expectations = tmp_path / "expectations.json"
    expectations.write_text(json.dumps({"image": {"release": "26.05", "skip": ["boto3", "cloud-init"]}}))
    words = ["image", "--root", str(tmp_path), "--expectations", str(expectations)]
    assert program.main(words) == 0
    slurmd.write_text("#!/bin/sh\nexit 1\n")
    assert program.main([*words, "--json"]) == 1
    (lack,) = json.loads(capsys.readouterr().out.partition("errors\n")[2])
    assert lack["check"] == "slurm"


def test_expectations_that_cannot_be_read_are_no_lack(tmp_path: Path) -> None:
    path = tmp_path / "expectations.json"
    for text in ("", "[]", "{}", '{"image": {}}'):
        path.write_text(text)
        assert program.main(["image", "--root", str(tmp_path), "--expectations", str(path)]) == 2


def test_the_role_copies_every_module() -> None:
    tasks = yaml_text.load((ROLE.parent / "tasks/main.yml").read_text())
    copied = tasks[0]["vars"]["node_verify_names"]
    assert sorted(copied) == sorted(path.stem for path in (ROLE / "node_verify").glob("*.py"))
