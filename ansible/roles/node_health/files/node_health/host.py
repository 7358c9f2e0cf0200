"""Checks of the host: mounts, disks, services, EFA devices, network ports and bonds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from node_health.problem import Problem
from node_health.run import run

MOUNTS = Path("/proc/self/mounts")
INFINIBAND = Path("/sys/class/infiniband")
NET = Path("/sys/class/net")
DEV = Path("/dev")


@dataclass(frozen=True)
class Port:
    """Port of an RDMA device. `kind`: infiniband or ethernet; `rate` in Gb/s."""

    adapter: str
    number: str
    kind: str
    state: str
    physical: str
    rate: int

    @property
    def name(self) -> str:
        """Return device and number, such as mlx5_0/1."""
        return f"{self.adapter}/{self.number}"

    @property
    def is_up(self) -> bool:
        """Return whether the port carries traffic."""
        return self.state == "Active" and self.physical == "LinkUp"


def mounts(expected: Sequence[str], table: Path = MOUNTS) -> Iterator[Problem]:
    """Yield expected mounts that are absent or do not answer: mounts of a dead server stay in the table."""
    mounted = {line.split(" ")[1].replace("\\040", " ") for line in table.read_text().splitlines()}
    for path in expected:
        if path not in mounted:
            yield Problem("mount", f"{path} is not mounted", "inspect")
        elif run(["stat", "--file-system", "--format=%T", path], 10).code != 0:
            yield Problem("mount", f"{path} does not answer", "inspect")


def disks(expected: Mapping[str, float]) -> Iterator[Problem]:
    """Yield file systems that are read-only or have less free space than `expected`: percent by path."""
    for path, percent in expected.items():
        try:
            statistics = os.statvfs(path)
        except OSError as error:
            yield Problem("disk", f"{path}: {error.strerror}", "inspect")
            continue
        if statistics.f_flag & os.ST_RDONLY:
            yield Problem("disk", f"{path} is read-only", "inspect")
        free = 100 * statistics.f_bavail / statistics.f_blocks if statistics.f_blocks else 100.0
        if free < percent:
            yield Problem("disk", f"{path} has less than {percent:g} percent free", "inspect")


def device_files() -> Iterator[Problem]:
    """Yield device files that every CUDA program opens and that are missing. nvidia-smi does not open nvidia-uvm."""
    for name in ("nvidiactl", "nvidia-uvm"):
        if not (DEV / name).exists():
            yield Problem("driver", f"/dev/{name} is not there: CUDA programs fail", "inspect")


def services(expected: Sequence[str]) -> Iterator[Problem]:
    """Yield expected services that are not active."""
    for name in expected:
        output = run(["systemctl", "is-active", name], 10)
        if output.code != 0:
            yield Problem("service", f"{name} is {output.first_line or 'not there'}", "inspect")


def efa(expected: int, folder: Path = INFINIBAND) -> Iterator[Problem]:
    """Yield missing EFA devices, and those whose port is not active. Other RDMA devices have other drivers."""
    devices = [device for device in sorted(folder.glob("*")) if (device / "device/driver").resolve().name == "efa"]
    if len(devices) < expected:
        yield Problem("efa", f"{len(devices)} of {expected} devices are there", "reboot")
    for device in devices:
        for state in sorted(device.glob("ports/*/state")):
            words = state.read_text(errors="replace").strip()
            if not words.endswith("ACTIVE"):
                yield Problem("efa", f"{device.name} is {words.partition(': ')[2] or words}", "reboot")


def ports(expected: Mapping[str, Any], folder: Path = INFINIBAND) -> Iterator[Problem]:
    """Yield missing ports. `expected`: `ports` and `ethernet_ports`, the numbers of ports by rate in Gb/s, and `devices`
    with kind and rate by RDMA device.

    A faster port counts for a slower one. Ports that are expected by device, members of a bond and the management
    functions of NVSwitches count for no other: they would hide a failed port.
    """
    output = run(["ibstat"])
    if output.code != 0:
        yield Problem("port", output.first_line or "ibstat does not end", "inspect")
        return
    present = [port for port in _ports(output.text) if not _has_another_use(folder / port.adapter)]
    devices = expected.get("devices", {})
    for device in sorted(devices):
        yield from _device(device, devices[device], [port for port in present if port.adapter == device])
    others = [port for port in present if port.adapter not in devices]
    for kind, key in (("infiniband", "ports"), ("ethernet", "ethernet_ports")):
        if expected.get(key):
            yield from _counted(expected[key], [port for port in others if port.kind == kind])


def bonds(expected: Mapping[str, Mapping[str, int]], folder: Path = NET) -> tuple[list[Problem], list[str]]:
    """Return problems and warnings of bond interfaces. `expected`: number and rate of the links in Gb/s by interface.

    A bond works with one of its links: a missing one is a warning. Source: Linux, Documentation/networking/bonding.rst.
    """
    problems, warnings = [], []
    for bond, want in sorted(expected.items()):
        members = _words(folder / bond / "bonding/slaves").split()
        up = [member for member in members if _words(folder / member / "operstate") == "up"]
        slow = [member for member in up if 0 < int(_words(folder / member / "speed") or 0) < want["gbps"] * 1000]
        text = f"{bond} has {len(up) - len(slow)} of {want['count']} links at {want['gbps']} Gb/s"
        if not up:
            problems.append(Problem("port", text, "inspect"))
        elif len(up) - len(slow) < want["count"]:
            warnings.append(text)
    return problems, warnings


def _device(device: str, want: Mapping[str, Any], present: Sequence[Port]) -> Iterator[Problem]:
    if not present:
        yield Problem("port", f"{device} is not there", "inspect")
    for port in present:
        if port.kind != want["kind"]:
            yield Problem("port", f"{port.name} is {port.kind}, not {want['kind']}", "inspect")
        elif not port.is_up:
            yield Problem("port", f"{port.name} is {port.state}/{port.physical}", "inspect")
        elif port.rate < int(want["gbps"]):
            yield Problem("port", f"{port.name} runs {port.rate} of {want['gbps']} Gb/s", "inspect")


def _counted(expected: Mapping[str, int], present: Sequence[Port]) -> Iterator[Problem]:
    down = [f"{port.name} is {port.state}/{port.physical}" for port in present if not port.is_up]
    free = sorted((port.rate for port in present if port.is_up), reverse=True)
    for rate, count in sorted(((int(rate), count) for rate, count in expected.items()), reverse=True):
        fit = [port_rate for port_rate in free if port_rate >= rate][:count]
        for port_rate in fit:
            free.remove(port_rate)
        if len(fit) < count:
            yield Problem("port", "; ".join([f"{len(fit)} of {count} at {rate} Gb/s", *down]), "inspect")


def _has_another_use(device: Path) -> bool:
    """Return whether an RDMA device is the management function of an NVSwitch, or its interface is in a bond.

    Source: nvidia-fabricmanager-start.sh: the vital product data of these ConnectX functions has the field SMDL=SW_MNG.
    """
    try:
        if b"SW_MNG" in (device / "device/vpd").read_bytes():
            return True
    except OSError:
        pass
    return any((interface / "master/bonding").exists() for interface in device.glob("device/net/*"))


def _words(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _ports(text: str) -> Iterator[Port]:
    """Yield the ports in ibstat's output."""
    adapter, port, fields = "", "", {}
    for line in [*text.splitlines(), "Port end:"]:
        port_heading = re.match(r"\s*Port (\w+):\s*$", line)
        adapter_heading = re.match(r"CA '([^']+)'", line)
        if port_heading or adapter_heading:
            if port and "Rate" in fields:
                rate = int(float(fields["Rate"].split(" ")[0]))
                kind = fields.get("Link layer", "InfiniBand").lower()
                yield Port(adapter, port, kind, fields.get("State", ""), fields.get("Physical state", ""), rate)
            fields = {}
        if adapter_heading:
            adapter, port = adapter_heading.group(1), ""
        elif port_heading:
            port = port_heading.group(1)
        else:
            key, _, value = line.strip().partition(": ")
            fields[key] = value.strip()
