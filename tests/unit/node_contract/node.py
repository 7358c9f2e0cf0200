"""Node with everything that the contract requires: files below a folder, and the output of its programs."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from landbridge.catalog.aws.node_contract import node_contract
from landbridge.plan.aws.node_contract import image_expectations, pool_expectations
from tests.unit.core.samples import environment

ROLE = Path(__file__).parents[3] / "ansible/roles/node_verify/files"
sys.path.insert(0, str(ROLE))

from node_verify import __main__ as program  # noqa: E402
from node_verify.checks import lacks  # noqa: E402
from node_verify.machine import Machine  # noqa: E402

KERNEL, DRIVER = "6.17.0-1019-aws", "595.71.05"
PROGRAMS = (
    *("nvidia-smi", "nv-fabricmanager", "nv-hostengine", "nvidia-ctk", "nvidia-container-cli", "podman", "enroot"),
    *("mount.lustre", "mount.efs", "stunnel", "nvme", "mdadm", "cloud-init"),
)
FILES = {
    f"boot/vmlinuz-{KERNEL}": "",
    "boot/vmlinuz-6.9.0-1004-aws": "",
    "etc/modprobe.d/nvidia.conf": "blacklist nouveau\n",
    "etc/chrony/sources.d/aws.sources": "server 169.254.169.123 prefer iburst\n",
    "etc/landbridge/node.json": "{}",
    "etc/landbridge/agent.json": "{}",
    **dict.fromkeys(node_contract().health.files, "#!/bin/sh\n"),
    "opt/amazon/efa/lib/libfabric.so.1": "",
    "opt/amazon/ofi-nccl/lib/x86_64-linux-gnu/libnccl-net-ofi.so": "",
    "usr/lib/x86_64-linux-gnu/slurm-wlm/spank_pyxis.so": "",
    "proc/sys/vm/nr_hugepages": "5128\n",
    **{f"dev/nvidia{name}": "" for name in ("ctl", "-uvm", *range(8))},
    **{f"sys/class/infiniband/rdmap{index}s0": "" for index in range(32)},
    **{f"usr/bin/{name}": "" for name in PROGRAMS},
}
CHANGES: dict[tuple[str | int, ...], Any] = {
    ("aws", "pools", 0, "local_scratch"): "/local",
    ("containers", "engines"): ["podman", "enroot"],
    ("storage", "cloud_scratch"): {"kind": "fsx_lustre", "capacity_gib": 4800, "zone": "use1-az4"},
    ("storage", "cloud_shares"): {"files": {"kind": "efs", "mount": "/files"}},
}


def module(name: str, field_name: str) -> str:
    """Return the command that reads a field of a kernel module."""
    return f"modinfo -k {KERNEL} -F {field_name} {name}"


def outputs() -> dict[str, str]:
    """Return the output of every command by its words."""
    expected = image_expectations(environment())
    units = [*expected["units"], *expected["health"]["units"]]
    enabled = {f"systemctl is-enabled {unit}": "enabled\n" for unit in units}
    return {
        **enabled,
        "systemctl is-enabled nvidia-fabricmanager": "enabled\n",
        "systemctl is-active nvidia-fabricmanager": "active\n",
        "systemctl show slurmd --property=LimitMEMLOCK --value": "infinity\n",
        "uname -r": KERNEL,
        module("nvidia", "version"): DRIVER,
        module("nvidia", "license"): "Dual MIT/GPL\n",
        module("nouveau", "filename"): "/lib/modules/nouveau.ko.zst",
        module("efa", "version"): "3.0.0",
        module("lustre", "filename"): "/lib/modules/lustre.ko",
        "nv-fabricmanager --version": f"Fabric Manager version is : {DRIVER}\n",
        "slurmd -V": "slurm-wlm 26.05.1\n",
        "python3 -c import boto3": "",
        "nvidia-smi -L": "".join(f"GPU {index}: NVIDIA H100 80GB HBM3 (UUID: GPU-{index})\n" for index in range(8)),
    }


@dataclass
class Node:
    """A node of pool p5 with one lack: files removed or changed, and other outputs (None: the program fails)."""

    root: Path
    files: Mapping[str, str | None] = field(default_factory=dict)
    run: Mapping[str, str | None] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)

    def lacks(self, mode: str) -> list[dict[str, str]]:
        """Write the files, and return what the program reports."""
        planned = environment(CHANGES)
        settings = {"pool": "p5", "verify": {**pool_expectations(planned, planned.aws.pools[0]), **self.expected}}
        files = {**FILES, "etc/landbridge/pool.json": json.dumps(settings), **self.files}
        for name, text in files.items():
            if text is not None:
                path = self.root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        answers = {**outputs(), f"df --output=size,avail -B1 {self.root}": f"Size Avail\n{200 << 30} {100 << 30}\n"}
        answers.update({key.replace("ROOT", str(self.root)): value for key, value in self.run.items()})  # type: ignore[misc]
        metadata = {"instance-type": "p5.48xlarge", "block-device-mapping/root": "/dev/xvda", **self.metadata}
        machine = Machine(self.root, run=lambda words: answers.get(" ".join(words)), metadata=metadata)
        data = {"image": {**image_expectations(planned), **self.expected}}
        result: list[dict[str, str]] = lacks(machine, program.expectations(data, mode, machine), mode)
        return result
