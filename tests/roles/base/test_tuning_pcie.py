"""Settings of the PCIe tree: the program that writes ACS control registers, and what DGX OS keeps."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.roles.hosts.tuning import pcie_tuning
from sandbox.fast_ansible import fast_ansible_variables
from tests.roles.ansible_run import ROOT
from tests.unit.core.samples import environment

PROGRAM = ROOT / "ansible/roles/tuning/files/landbridge-acs"
#: Extended capabilities of a configuration space: id, offset.
AER, ACS = 0x01, 0x0D


def device(folder: Path, name: str, kind: str, capabilities: list[int], control: int = 0x001D) -> Path:
    """Create a PCI device with a configuration space of 4 KiB whose extended capabilities are a chain; return its folder."""
    space = bytearray(4096)
    for index, capability in enumerate(capabilities):
        offset, following = 0x100 + 0x50 * index, 0x100 + 0x50 * (index + 1) if capability != capabilities[-1] else 0
        struct.pack_into("<I", space, offset, capability | 1 << 16 | following << 20)
        if capability == ACS:
            struct.pack_into("<HH", space, offset + 4, 0x00FF, control)
    path = folder / name
    path.mkdir(parents=True)
    (path / "class").write_text(f"{kind}\n")
    (path / "config").write_bytes(space)
    return path


def run(folder: Path, value: str = "0000") -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, value, folder], capture_output=True, text=True, check=False)


def test_acs_is_off_on_every_bridge_that_has_it_and_on_no_other_device(tmp_path: Path) -> None:
    switch = device(tmp_path, "0000:17:00.0", "0x060400", [AER, ACS])
    gpu = device(tmp_path, "0000:1b:00.0", "0x030200", [ACS])
    root = device(tmp_path, "0000:00:01.0", "0x060400", [AER])
    before = {path: (path / "config").read_bytes() for path in (switch, gpu, root)}
    ran = run(tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "0000:17:00.0: ACS control 0000\n"), ran.stderr
    after = {path: (path / "config").read_bytes() for path in before}
    changed = [index for index, byte in enumerate(after[switch]) if byte != before[switch][index]]
    assert changed == [0x150 + 6] and after[gpu] == before[gpu] and after[root] == before[root]
    # The second run changes nothing.
    assert (run(tmp_path).returncode, run(tmp_path).stdout) == (0, "")


def test_a_chain_of_capabilities_without_end_is_no_endless_loop(tmp_path: Path) -> None:
    path = device(tmp_path, "0000:17:00.0", "0x060400", [AER])
    space = bytearray((path / "config").read_bytes())
    struct.pack_into("<I", space, 0x100, AER | 1 << 16 | 0x100 << 20)
    (path / "config").write_bytes(space)
    assert (run(tmp_path).returncode, run(tmp_path).stdout) == (0, "")


@pytest.mark.parametrize(
    ("installed", "expected_kinds"),
    [
        ("", {"boot_argument", "acs_off", "driver_parameter"}),
        ("nv-iommu-pt installed\nnvidia-acs-disable installed\nnvidia-relaxed-ordering-gpu installed", set()),
        ("nv-iommu installed\nnvidia-acs-disable installed\nnvidia-relaxed-ordering-gpu installed", set()),
        ("nv-iommu-pt installed\nnvidia-acs-disable config-files", {"acs_off", "driver_parameter"}),
    ],
)
def test_dgx_os_keeps_the_settings_of_its_packages(tmp_path: Path, installed: str, expected_kinds: set[str]) -> None:
    (tmp_path / "bin").mkdir()
    query = tmp_path / "bin/dpkg-query"
    query.write_text(f"#!/bin/sh\nprintf '{installed}\n'\nexit 1\n")
    query.chmod(0o755)
    tasks: list[dict[str, Any]] = [
        {"name": "Compare", "ansible.builtin.include_role": {"name": "tuning", "tasks_from": "kept"}},
        {"name": "Print", "ansible.builtin.debug": {"msg": "kept {{ tuning_pcie_kept | map(attribute='kind') | join(',') }} end"}},
    ]  # fmt: skip
    variables = pcie_tuning(environment(), "dgx-a100")
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": variables, "tasks": tasks}
    (tmp_path / "play.json").write_text(json.dumps([play]))
    ran = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), tmp_path / "play.json"],
        env={
            **os.environ,
            **fast_ansible_variables(),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_ROLES_PATH": str(ROOT / "ansible/roles"),
            "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    text = " ".join(ran.stdout.split()).partition("kept ")[2].partition("end")[0].strip()
    assert set(filter(None, text.split(","))) == expected_kinds
