"""Facts of the node for the repair of its GPUs: identities, processes that hold a GPU, and the start of the kernel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from node_health import query

DRIVER = Path("/proc/driver/nvidia/gpus")
STAT = Path("/proc/stat")
_FIELDS = ("index", "pci.bus_id", "uuid", "serial", "vbios_version", "name")
_MINOR = re.compile(r"^Device Minor:\s*(\d+)", re.MULTILINE)


def facts() -> dict[str, Any]:
    """Return the facts; `processes` is None if nvidia-smi does not list them; then no reset is permitted."""
    return {"gpus": identities(), "processes": processes(), "booted_at": booted_at()}


def identities() -> list[dict[str, str]]:
    """Return the GPUs that nvidia-smi lists; none if it does not answer."""
    output = query.smi(f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits")
    lines = output.text.splitlines() if output.code == 0 else []
    rows = [[value.strip() for value in line.split(", ")] for line in lines]
    names = [field.replace(".", "_") for field in _FIELDS]
    return [{name: row[number] for number, name in enumerate(names)} for row in rows if len(row) == len(names)]


def processes() -> int | None:
    """Return the number of processes with a CUDA context, or None."""
    output = query.smi("--query-compute-apps=pid", "--format=csv,noheader,nounits")
    return sum(line.strip().isdigit() for line in output.text.splitlines()) if output.code == 0 else None


def booted_at() -> float | None:
    """Return the start of the kernel in seconds since 1970."""
    try:
        line = next(line for line in STAT.read_text().splitlines() if line.startswith("btime "))
    except (OSError, StopIteration):
        return None
    return float(line.split()[1])


def minors() -> dict[str, int]:
    """Return the numbers of the device files by PCI address: Slurm counts GPUs by device file, nvidia-smi by address."""
    numbers = {}
    for path in sorted(DRIVER.glob("*/information")):
        match = _MINOR.search(path.read_text())
        if match is not None:
            numbers[path.parent.name.lower()] = int(match.group(1))
    return numbers
