"""Samples of the GPUs' use: one line for each round of checks, in a file that keeps the last hours."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from node_health import facts, query
from node_health.query import Values

#: Lines that are kept; at twice as many the file is shortened, so that it is rarely rewritten.
KEPT = 500


def sample(now: float, values: Values | None = None) -> dict[str, Any] | None:
    """Return one sample of all GPUs; None if nvidia-smi does not answer. An unknown value is None."""
    output, rows = (values or Values()).get(query.USE)
    if output.code != 0:
        return None
    numbers = facts.minors()
    gpus = [
        {
            "gpu": numbers.get(row["pci.bus_id"].lower()[-12:], int(row["index"])),
            "uuid": row["uuid"],
            "utilisation": query.number(row["utilization.gpu"]),
            "memory_mib": query.number(row["memory.used"]),
            "watts": query.number(row["power.draw"]),
        }
        for row in rows
    ]
    return {"at": round(now, 3), "gpus": gpus}


def append(path: Path, latest: Mapping[str, Any] | None) -> None:
    """Add a sample to the file."""
    if latest is None:
        return
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    with path.open("a") as handle:
        handle.write(json.dumps(latest, separators=(",", ":")) + "\n")
        size = handle.tell()
    # A line has 60 bytes and 120 for each GPU at most.
    if size > 2 * KEPT * (60 + 120 * max(1, len(latest["gpus"]))):
        lines = path.read_text().splitlines(keepends=True)[-KEPT:]
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_text("".join(lines))
        temporary.replace(path)


def text(path: Path) -> str:
    """Return the file's text; empty without a sample."""
    try:
        return path.read_text()
    except OSError:
        return ""
