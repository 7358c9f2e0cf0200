"""Readings of error counters, of which only an increase is a fault: PCIe replays, NVLink errors, and failures of network ports."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from node_health import query

INFINIBAND = Path("/sys/class/infiniband")
#: Seconds between two readings. An error now and then is usual on these links; landbridge health judges the rate.
SPACING = 600
#: Readings that are kept: four hours.
KEPT = 24
_END = "</nvidia_smi_log>"
_GPU = re.compile(r"^GPU \d+: .*\(UUID: (GPU-[^)]+)\)")
_ERRORS = re.compile(r"^\s*Link \d+: (?:Replay|Recovery|CRC) Errors: (\d+)\s*$")


def reading(now: float) -> dict[str, Any]:
    """Return the counters by part, a GPU's UUID or DEVICE/PORT, and kind. A counter that cannot be read is missing."""
    parts: dict[str, dict[str, int]] = {}
    for kind, values in (("pcie_replay", replays()), ("nvlink_errors", link_errors()), ("port_errors", port_errors())):
        for part, value in values.items():
            parts.setdefault(part, {})[kind] = value
    return {"at": round(now, 3), "parts": parts}


def replays() -> dict[str, int]:
    """Return the repeated transfers over PCIe of each GPU since the driver was loaded."""
    # Needed every ten minutes.
    from xml.etree import ElementTree

    output = query.smi("-q", "-x")
    # Warnings may be printed before and after the document.
    start, end = output.text.find("<nvidia_smi_log>"), output.text.rfind(_END)
    if output.code != 0 or start < 0 or end < start:
        return {}
    try:
        root = ElementTree.fromstring(output.text[start : end + len(_END)])
    except ElementTree.ParseError:
        return {}
    pairs = [
        (gpu.findtext("uuid", "").strip(), gpu.findtext("pci/replay_counter", "").strip()) for gpu in root.iter("gpu")
    ]
    return {uuid: int(value) for uuid, value in pairs if uuid and value.isdigit()}


def link_errors() -> dict[str, int]:
    """Return the sum of the replays, recoveries and CRC errors of each GPU's NVLinks. A GPU without NVLinks has none."""
    output, sums = query.smi("nvlink", "-e"), dict[str, int]()
    if output.code != 0:
        return sums
    uuid = ""
    for line in output.text.splitlines():
        if match := _GPU.match(line):
            uuid = match[1]
        elif uuid and (match := _ERRORS.match(line)):
            sums[uuid] = sums.get(uuid, 0) + int(match[1])
    return sums


def port_errors() -> dict[str, int]:
    """Return how often each port's link failed and did not recover. Source: Linux, Documentation/ABI/stable/sysfs-class-infiniband."""
    values = {}
    for path in sorted(INFINIBAND.glob("*/ports/*/counters/link_downed")):
        try:
            values[f"{path.parts[-5]}/{path.parts[-3]}"] = int(path.read_text())
        except (OSError, ValueError):
            continue
    return values


def append(path: Path, now: float) -> None:
    """Add a reading if the last one is old enough."""
    lines = text(path).splitlines(keepends=True)
    if lines and 0 <= now - _time(lines[-1]) < SPACING:
        return
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_text("".join([*lines[1 - KEPT :], json.dumps(reading(now), separators=(",", ":")) + "\n"]))
    temporary.replace(path)


def readings(path: Path) -> list[Mapping[str, Any]]:
    """Return the readings in their order."""
    return [json.loads(line) for line in text(path).splitlines()]


def text(path: Path) -> str:
    """Return the file's text; empty without a reading."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _time(line: str) -> float:
    try:
        return float(json.loads(line)["at"])
    except (ValueError, KeyError, TypeError):
        return 0.0
