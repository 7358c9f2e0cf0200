"""Checks of the host: mounts, disks, services, EFA devices and InfiniBand ports."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from node_health.problem import Problem
from node_health.run import run

MOUNTS = Path("/proc/self/mounts")
INFINIBAND = Path("/sys/class/infiniband")


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


def ports(expected: Mapping[str, int]) -> Iterator[Problem]:
    """Yield missing InfiniBand ports. `expected`: number by rate in Gb/s; a faster port counts for a slower one."""
    output = run(["ibstat"])
    if output.code != 0:
        yield Problem("port", output.first_line or "ibstat does not end", "inspect")
        return
    up, down = Counter[int](), []
    for name, state, physical, rate in _ports(output.text):
        if state == "Active" and physical == "LinkUp":
            up[rate] += 1
        else:
            down.append(f"{name} is {state}/{physical}")
    free = sorted(up.elements(), reverse=True)
    for rate, count in sorted(((int(rate), count) for rate, count in expected.items()), reverse=True):
        fit = [port_rate for port_rate in free if port_rate >= rate][:count]
        for port_rate in fit:
            free.remove(port_rate)
        if len(fit) < count:
            yield Problem("port", "; ".join([f"{len(fit)} of {count} at {rate} Gb/s", *down]), "inspect")


def _ports(text: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield (adapter/port, state, physical state, rate in Gb/s) from ibstat's output."""
    adapter, port, fields = "", "", {}
    for line in [*text.splitlines(), "Port end:"]:
        port_heading = re.match(r"\s*Port (\w+):\s*$", line)
        adapter_heading = re.match(r"CA '([^']+)'", line)
        if port_heading or adapter_heading:
            if port and "Rate" in fields and fields.get("Link layer", "InfiniBand") == "InfiniBand":
                rate = int(float(fields["Rate"].split(" ")[0]))
                yield f"{adapter}/{port}", fields.get("State", ""), fields.get("Physical state", ""), rate
            fields = {}
        if adapter_heading:
            adapter, port = adapter_heading.group(1), ""
        elif port_heading:
            port = port_heading.group(1)
        else:
            key, _, value = line.strip().partition(": ")
            fields[key] = value.strip()
